import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ProtocolError } from "../src/index.js";
import { readFrame } from "../src/reading.js";

interface Case {
  what: string;
  frame: string;
  is: string;
}

/** The same table that the Python client is held to. */
const cases = JSON.parse(readFileSync(new URL("../../behaviour/frames.json", import.meta.url), "utf8")) as Case[];

test.each(cases)("$what: $is", ({ frame, is }) => {
  if (is === "error") expect(() => readFrame(frame, 1000)).toThrow(ProtocolError);
  else expect(readFrame(frame, 1000)?.type ?? "ignored").toBe(is);
});

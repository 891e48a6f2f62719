import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Backoff, Feed } from "../src/index.js";

interface Step {
  begin?: string;
  event?: number;
  is?: string;
  gap?: [number, number, string];
  restarted?: boolean;
}
interface Case {
  what: string;
  after: [string, number];
  steps: Step[];
  cursor: [string, number];
}

/** The same table that the Python client is held to. */
const cases = JSON.parse(readFileSync(new URL("../../behaviour/feed.json", import.meta.url), "utf8")) as Case[];

test.each(cases)("$what", ({ after, steps, cursor }) => {
  const feed = new Feed({ epoch: after[0], seq: after[1] });
  for (const { begin, event, is, gap, restarted } of steps) {
    if (begin !== undefined) feed.begin(begin);
    if (event !== undefined) expect(feed.take(event)).toBe(is);
    if (gap !== undefined) {
      expect(feed.gap({ type: "gap", session: "s", from: gap[0], to: gap[1], epoch: gap[2] })?.restarted).toBe(restarted);
    }
  }
  expect(feed.cursor).toEqual({ epoch: cursor[0], seq: cursor[1] });
});

test("waits double up to a bound and begin anew after a success", () => {
  const backoff = new Backoff({ first: 100, most: 350, random: () => 0 });
  expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([50, 100, 175, 175]);
  backoff.reset();
  expect(backoff.next()).toBe(50);
});

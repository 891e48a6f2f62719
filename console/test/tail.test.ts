/** The end of every recording by itself, from every place it could begin at: no row that the whole has not. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent, EventFrame } from "turnwire-client";
import { describe, expect, test } from "vitest";
import { Conversation } from "../src/model/conversation.js";
import type { Row } from "../src/model/rows.js";
import { Tail } from "../src/model/tail.js";

const GOLDENS = fileURLToPath(new URL("../../tests/normalize/goldens", import.meta.url));
const files = readdirSync(GOLDENS, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"));

function read(path: string): EventFrame[] {
  const lines = readFileSync(`${GOLDENS}/${path}`, "utf8").split("\n").filter(Boolean);
  return lines.map((line, i) => ({
    type: "event",
    session: "s",
    seq: i + 1,
    ts: new Date(i).toISOString(),
    event: JSON.parse(line) as AgentEvent,
  }));
}

function folded(events: readonly EventFrame[]): Conversation {
  const conversation = new Conversation();
  for (const event of events) conversation.fold(event);
  return conversation;
}

const all = (rows: readonly Row[]): Row[] => rows.flatMap((row) => (row.kind === "tool" ? [row, ...all(row.children)] : [row]));

/** What a row says, for rows that stand by themselves. */
function said(row: Row): unknown {
  switch (row.kind) {
    case "text":
    case "reasoning":
      return { text: row.text, live: row.live };
    case "user":
      return row.text;
    case "tool":
      return { id: row.id, status: row.status, payload: row.payload, children: row.children.map((one) => one.key) };
    case "end":
      return { result: row.turn.result, error: row.turn.error, end: row.turn.end };
    case "turn":
      return row.turn.id;
    case "minorEvents":
      return row.entries;
    case "request":
      return { resolved: row.resolved, cancelled: row.cancelled };
    case "plan":
      return row.plan;
    case "notice":
      return row.text;
    case "fact":
    case "unrecognised":
      return row.event;
    case "gap":
      return [row.from, row.to];
    default:
      row satisfies never;
      return undefined;
  }
}

/** Where ends begin: a few places in each recording, other ones in the next. */
const PLACES = 6;
const starts = (length: number, offset: number) => {
  const step = Math.max(1, Math.floor(length / PLACES));
  return Array.from({ length: PLACES }, (_, i) => 1 + (offset % step) + i * step).filter((after) => after < length);
};

describe.each(files.map((path, i) => [path, i] as const))("%s", (path, index) => {
  const events = read(path);
  const whole = folded(events);
  const known = new Map(all(whole.rows).map((row) => [row.key, row]));

  test("is whole again from wherever its end began", () => {
    for (const after of starts(events.length, index)) {
      const busy = folded(events.slice(0, after)).running !== undefined;
      const tail = new Tail();
      const split = Math.ceil((after + events.length) / 2);
      for (const event of events.slice(after, split)) tail.take(event);
      tail.show({ busy, pending: 0 }, 1);
      for (const event of events.slice(split)) tail.take(event);
      tail.takeEarlier(events.slice(0, after), null);
      const made = tail.finish();
      // To compare is much quicker than to tell the difference.
      if (!isDeepStrictEqual(made, whole)) expect(made).toEqual(whole);
    }
  });

  test("shows of its end no row that the whole has not", () => {
    for (const after of starts(events.length, index + 3)) {
      const busy = folded(events.slice(0, after)).running !== undefined;
      const tail = new Tail();
      for (const event of events.slice(after)) tail.take(event);
      if (!tail.show({ busy, pending: 0 }, 1)) continue;
      const rows = all(tail.shown?.rows ?? []);
      const odd = rows.filter((row) => known.get(row.key)?.kind !== row.kind);
      expect(odd.map((row) => `${row.kind} ${row.seq} of an end after ${after}`)).toEqual([]);
      for (const row of rows) {
        const one = known.get(row.key) as Row;
        expect(said(row)).toEqual(said(one));
        if (row.kind === "end" && one.kind === "end" && row.turn.whole) expect({ ...row, rev: one.rev }).toEqual(one);
      }
      expect(tail.shown?.running === undefined).toBe(whole.running === undefined);
    }
  });
});

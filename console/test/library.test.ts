/** Old conversations and what was used, as the hub answers it: read, grouped, summed up and found again. */
import type { AgentEvent, EventFrame } from "turnwire-client";
import { expect, test } from "vitest";
import {
  byFolder,
  changedList,
  conversations,
  hits,
  isComplete,
  type Kept,
  next,
  pushedOut,
  type Spent,
  usage,
} from "../src/library/answers.js";
import { bars, costOf, since, ticks, tokens, total } from "../src/library/sums.js";
import { Conversation } from "../src/model/conversation.js";
import { seek, uncover } from "../src/model/seek.js";

const spent = (name: string, more: Partial<Spent> = {}): Spent => ({
  name,
  answers: 1,
  input: 10,
  output: 2,
  cached: 100,
  cost: 0.5,
  whole: true,
  estimated: false,
  ...more,
});

function folded(...events: AgentEvent[]): Conversation {
  const conversation = new Conversation();
  events.forEach((event, index) => {
    conversation.fold({ type: "event", session: "s", seq: index + 1, ts: new Date(index).toISOString(), event } as EventFrame);
  });
  return conversation;
}

const bash = (id: string, command: string, parent?: string): AgentEvent =>
  ({
    type: "tool_call",
    tool_call_id: id,
    tool_name: "Bash",
    tool_title: "run",
    tool_status: "running",
    normalized: { kind: "shell_exec", renderer: "tool_execute", shell_exec: { command } },
    ...(parent !== undefined && { parent_tool_call_id: parent }),
  }) as AgentEvent;

test("another first page leaves older ones where they are", () => {
  const day = (id: string, ended: string): Kept => ({ ...(conversations({ conversations: [{ id, ended }] })[0] as Kept) });
  const [a, b, c, d, e] = [day("a", "1"), day("b", "2"), day("c", "3"), day("d", "4"), day("e", "5")];
  const ids = (kept: readonly Kept[]) => kept.map(({ id }) => id).join("");
  // e is new, and c no longer fits on the page
  expect(ids(pushedOut([d, c], [e, d], [b, a]))).toBe("cba");
  // an older one was gone on with
  expect(ids(pushedOut([d, c], [{ ...a, ended: "6" }, d], [b, a]))).toBe("cb");
  // d was removed, b came up
  expect(ids(pushedOut([d, c], [c, b], [b, a]))).toBe("a");
  expect(changedList({ version: "v" })).toEqual({ type: "library.list", known: "v" });
  expect(changedList({})).toBeUndefined();
});

test("conversations stand by folder, the folder that was used last first", () => {
  const answer = {
    conversations: [
      { id: "c", folder: "/srv/red", title: "third", turns: 2, cost_usd: 0.1, cost_is_whole: false, running: true, session: null },
      { id: "b", folder: "/srv/blue", ended: "2026-01-01T00:00:00Z" },
      { id: "a", folder: "/srv/red", session: "s-1" },
      { title: "without an id" },
      "nonsense",
    ],
    next: "1.0:a",
    complete: false,
  };
  const kept = conversations(answer);
  expect(byFolder(kept).map(([folder, inside]) => [folder, ...inside.map(({ id }) => id)])).toEqual([
    ["/srv/red", "c", "a"],
    ["/srv/blue", "b"],
  ]);
  expect(kept[0]).toMatchObject({ title: "third", cost: 0.1, whole: false, running: true, session: undefined });
  expect(kept[1]).toMatchObject({ title: "b", cost: undefined, running: false, turns: 0 });
  expect([next(answer), isComplete(answer), next({ next: null }), isComplete({})]).toEqual(["1.0:a", false, undefined, true]);
  expect([conversations(null), hits("?"), usage([], "day")]).toEqual([[], [], []]);
});

test("a hit names its place by seq, message and words; one in a title names none", () => {
  const snippet = [
    { text: "…the violet ", hit: false },
    { text: "window", hit: true },
    { text: " is…", hit: false },
  ];
  const found = hits({
    hits: [
      { source: "live", id: "s-1", seq: 7, kind: "text", title: "T", message: "m", snippet },
      { source: "library", id: "c", kind: "title", snippet },
    ],
  });
  expect(found[0]).toMatchObject({
    live: true,
    sought: { seq: 7, message: "m", kind: "text", text: "the violet window is", words: ["window"] },
  });
  expect(found[1]).toMatchObject({ live: false, title: "c", sought: {} });
});

test("a hit is found by its seq, its message, its words, and where it is hidden it is uncovered", () => {
  const { rows } = folded(
    { type: "user_message", text: "What of the window?", uuid: "u1" } as AgentEvent,
    { type: "message_chunk", text: "The violet window is shut.", message_id: "m1", block_index: 0 } as AgentEvent,
    bash("outer", "first"),
    bash("inner", 'echo "two words"', "outer"),
    { type: "message_chunk", text: "Over.", message_id: "m2", block_index: 0 } as AgentEvent,
  );
  const place = (sought: Parameters<typeof seek>[1]) => seek(rows, sought)?.index;
  expect(place({ seq: 2 })).toBe(1);
  expect(place({ message: "u1", text: "no such" })).toBe(0);
  // The UUID of a line in the agent's own file, which no event of a text has.
  expect(place({ message: "line", text: "violet window is" })).toBe(1);
  expect(place({ text: "of two blocks", words: ["Over"] })).toBe(3);
  // Of several rows with the words, the one that is what was found.
  expect([place({ text: "window" }), place({ text: "window", kind: "text" }), place({ text: "window", kind: "newer" })]).toEqual([0, 1, 0]);
  expect(place({ text: "first", kind: "command" })).toBe(2);
  expect(place({ seq: 99, text: "nowhere", words: ["nor", "these"] })).toBeUndefined();
  const inner = seek(rows, { text: 'echo "two words"' });
  expect(inner?.index).toBe(2);
  if (inner) uncover(inner.row);
  expect(rows[2]?.view.open).toBe(true);
});

test("a call that is shown with others is found where they are, and their group is opened", () => {
  const read = (id: string, path: string): AgentEvent =>
    ({
      type: "tool_call",
      tool_call_id: id,
      tool_name: "Read",
      tool_title: path,
      tool_status: "running",
      normalized: { kind: "read_file", renderer: "tool_read", read_file: { file_path: path } },
    }) as AgentEvent;
  const { rows } = folded(read("a", "/a"), read("b", "/b"));
  const found = seek(rows, { text: "/b" });
  expect([found?.row.seq, found?.index]).toEqual([2, 0]);
  if (found) uncover(found.row);
  expect(rows[0]?.view.grouped).toBe(true);
});

test("totals say what is known, and whether that is all", () => {
  expect(total([spent("a"), spent("b", { cost: 0.25 })])).toMatchObject({ cost: 0.75, whole: true, answers: 2, input: 20 });
  expect(total([spent("a"), spent("b", { cost: undefined, whole: false })])).toMatchObject({ cost: 0.5, whole: false });
  expect(total([spent("a", { cost: undefined, whole: false })]).cost).toBeUndefined();
  expect(bars([spent("a"), spent("b", { cost: undefined, whole: false })], "model", "cost").map(({ name }) => name)).toEqual(["a"]);
  expect(costOf(total([spent("a"), spent("b", { estimated: true, whole: false })]))).toBe("at least about $1.00");
  expect(tokens(spent("a"))).toBe(112);
});

test("days are plotted without gaps, many of them by month", () => {
  const few = bars([spent("2026-02-27"), spent("2026-03-02", { cost: 2 })], "day", "cost");
  expect(few.map(({ name, value }) => [name, value])).toEqual([
    ["2026-02-27", 0.5],
    ["2026-02-28", 0],
    ["2026-03-01", 0],
    ["2026-03-02", 2],
  ]);
  // The second of them is of a wrong clock: it draws no bar for each day in between.
  const far = bars([spent("2026-01-30"), spent("9999-12-31"), spent("2026-01-31"), spent("unknown")], "day", "tokens");
  expect(far.map(({ name, value }) => [name, value])).toEqual([
    ["2026-01", 224],
    ["9999-12", 112],
  ]);
  expect(bars([], "day", "cost")).toEqual([]);
  const weeks = bars([spent("2026-03-02", { cost: 1 }), spent("2026-02-23", { cost: 9 })], "week", "cost");
  expect(weeks.map(({ name }) => name)).toEqual(["2026-02-23", "2026-03-02"]);
});

test("of other groups the largest are plotted, the rest together", () => {
  const many = Array.from({ length: 20 }, (_, n) => spent(`m${n}`, { cost: n }));
  const shown = bars(many, "model", "cost");
  expect(shown.length).toBe(12);
  expect([shown[0]?.name, shown.at(-1)?.name, shown.at(-1)?.value]).toEqual(["m19", "9 others", 36]);
});

test("an axis has round values from nothing to above all", () => {
  for (const largest of [0.0007, 0.3, 1, 7, 99.5, 12_345, 4e9]) {
    const marks = ticks(largest);
    expect(marks[0]).toBe(0);
    expect(marks.at(-1)).toBeGreaterThanOrEqual(largest);
    expect(marks.length).toBeGreaterThan(2);
    expect(marks.length).toBeLessThan(7);
  }
  expect(ticks(7)).toEqual([0, 2, 4, 6, 8]);
  expect(ticks(0)).toEqual([0, 1]);
  expect([since(Date.parse("2026-03-01T12:00:00Z"), 1), since(Date.parse("2026-03-01T12:00:00Z"), 7)]).toEqual([
    "2026-03-01",
    "2026-02-23",
  ]);
});

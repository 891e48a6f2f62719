import type { AgentEvent, EventFrame, Mutation } from "turnwire-client";
import { beforeAll, describe, expect, test } from "vitest";
import { editorAddress } from "../src/inspector/editor.js";
import { Conversation } from "../src/model/conversation.js";
import { Kept } from "../src/state/kept.js";
import { Viewed } from "../src/state/viewed.js";
import { counted, hunksOf, sideBySide, wordMarks } from "../src/text/diff.js";
import { loadGrammars } from "../src/text/languages.js";
import { marked, tokenLines } from "../src/text/tokens.js";

const frame = (seq: number, event: AgentEvent): EventFrame => ({
  type: "event",
  session: "s",
  seq,
  ts: new Date(seq).toISOString(),
  event,
});

function edit(id: string, path: string, mutation: Mutation, output: object = {}): AgentEvent {
  return {
    type: "tool_update",
    tool_call_id: id,
    tool_status: "complete",
    normalized: { kind: "modify_file", renderer: "tool_edit", modify_file: { file_path: path, mutations: [mutation], output } },
  } as AgentEvent;
}

const PASSAGE: Mutation = { type: "edit", old_content: "a\nb\nc\n", new_content: "a\nB\nc\nd\n" };

describe("the files a session changed", () => {
  const conversation = new Conversation();
  const events: AgentEvent[] = [
    { type: "turn_started", origin: "user", operation_id: "turn-1" },
    edit("t1", "src/b.py", PASSAGE),
    edit("t1", "src/b.py", PASSAGE),
    edit("t2", "src/a.py", { type: "create", content: "x\ny\n" }),
    edit("t3", "src/never.py", PASSAGE, { applied: false }),
    { type: "complete", operation_id: "turn-1", data: { is_error: false } },
    { type: "turn_started", origin: "user", operation_id: "turn-2" },
    edit("t4", "src/b.py", PASSAGE, { added_lines: 7, removed_lines: 3 }),
  ];
  events.forEach((event, index) => {
    conversation.fold(frame(index + 1, event));
  });

  test("are told once a call, with counts, in the order of their paths", () => {
    expect(conversation.files.of().map(({ path, added, removed, changes }) => [path, added, removed, changes.length])).toEqual([
      ["src/a.py", 2, 0, 1],
      ["src/b.py", 9, 4, 2],
    ]);
  });

  test("are counted where a turn ends", () => {
    expect(conversation.rows.filter(({ kind }) => kind === "end")).toMatchObject([{ files: 2, added: 4, removed: 1 }]);
    expect(conversation.files.total).toMatchObject({ added: 11, removed: 4 });
  });

  test("are told a turn", () => {
    expect(conversation.files.of(conversation.turns[1]).map(({ path, added }) => [path, added])).toEqual([["src/b.py", 7]]);
  });
});

test("a file that is made is a diff of its lines", () => {
  const hunks = hunksOf({ type: "create", content: "x\ny\n" }) ?? [];
  expect(counted(hunks)).toEqual({ added: 2, removed: 0 });
  expect(hunks[0]?.lines.map(({ after, text }) => [after, text])).toEqual([
    [1, "x"],
    [2, "y"],
  ]);
  expect(hunksOf({ type: "delete" })).toBeUndefined();
});

test("what was removed stands beside what came in its place", () => {
  const lines = hunksOf({ type: "edit", diff: "@@ -1,4 +1,3 @@\n same\n-one\n-two\n+eins\n end\n" })?.[0]?.lines ?? [];
  expect(sideBySide(lines).map(([before, after]) => [before?.text, after?.text])).toEqual([
    ["same", "same"],
    ["one", "eins"],
    ["two", undefined],
    ["end", "end"],
  ]);
});

test("words that changed in a line are marked, and none where all did", () => {
  const lines =
    hunksOf({ type: "edit", diff: "@@ -1,2 +1,2 @@\n-let first = 1;\n-alpha beta\n+let second = 1;\n+gamma delta\n" })?.[0]?.lines ?? [];
  const marks = wordMarks(lines);
  expect(lines.map((line) => marks.get(line))).toEqual([[[4, 9]], undefined, [[4, 10]], undefined]);
});

describe("coloured lines", () => {
  beforeAll(loadGrammars);

  test("are the code's own, whatever is in it", () => {
    const code = 'if (a < b && "c") {\n  /* two\n  lines */ return "</span><script>&amp;";\n}\n';
    const lines = tokenLines(code, "ts") ?? [];
    expect(lines.map((line) => line.map(({ text }) => text).join("")).join("\n")).toBe(code);
    expect(lines[2]?.[0]).toEqual({ text: "  lines */", className: "hljs-comment" });
    expect(lines.flat().every(({ className }) => /^(?:hljs-[\w -]+)?$/.test(className))).toBe(true);
  });

  test("are none where the language is unknown or the code long", () => {
    expect(tokenLines("x", "of tomorrow")).toBeUndefined();
    expect(tokenLines("x".repeat(30_000), "ts")).toBeUndefined();
  });

  test("are cut where a mark begins and ends", () => {
    const tokens = [
      { text: "const", className: "a" },
      { text: " x", className: "" },
    ];
    expect(marked(tokens, [[3, 6]]).map(({ text, mark }) => [text, mark])).toEqual([
      ["con", false],
      ["st", true],
      [" ", true],
      ["x", false],
    ]);
  });
});

test("an editor is given the whole path, and nothing but a path", () => {
  expect(editorAddress("vscode", "/srv/a b/ü?#.py", "", 7)).toBe("vscode://file/srv/a%20b/%C3%BC%3F%23.py:7");
  expect(editorAddress("zed", "src/x.ts", "/srv/", undefined)).toBe("zed://file/srv/src/x.ts");
  expect(editorAddress("idea", "/a&line=9", "", 2)).toBe("idea://open?file=/a%26line%3D9&line=2");
  expect(editorAddress("vscode", "src/x.ts", "", 1)).toBeUndefined();
});

test("a file that was looked at is so after a reload, until it is changed again", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  } as unknown as Storage;
  const [one, other] = [new Viewed(new Kept(() => storage), "s-1"), new Viewed(new Kept(() => storage), "s-2")];
  one.mark("a.py", "1");
  other.mark("a.py", "2");
  one.mark("b.py", "1");
  one.unmark("b.py");
  const again = new Viewed(new Kept(() => storage), "s-1");
  expect([again.has("a.py", "1"), again.has("a.py", "2"), again.has("b.py", "1")]).toEqual([true, false, false]);
  expect(new Viewed(new Kept(() => storage), "s-2").has("a.py", "2")).toBe(true);
  const many = Array.from({ length: 2000 }, (_, n) => ["s-3", `${n}.py`, "1"]);
  kept.set("turnwire.viewed", JSON.stringify(many));
  other.mark("c.py", "1");
  expect(new Viewed(new Kept(() => storage), "s-2").has("c.py", "1")).toBe(true);
  expect(["0.py", "1.py"].map((file) => new Viewed(new Kept(() => storage), "s-3").has(file, "1"))).toEqual([false, true]);
  for (const spoilt of ["no JSON", "{}", '[1, null, ["s-1"], ["s-1", "a.py", 1]]']) {
    kept.set("turnwire.viewed", spoilt);
    expect(new Viewed(new Kept(() => storage), "s-1").has("a.py", "1")).toBe(false);
  }
  const full = new Viewed(
    new Kept(() => {
      throw new DOMException("full", "QuotaExceededError");
    }),
    "s-1",
  );
  full.mark("a.py", "1");
  expect(full.has("a.py", "1")).toBe(true);
});

/** Looking for words in a conversation, calls that share a row, and places of several lines. */
import type { AgentEvent, EventFrame } from "turnwire-client";
import { describe, expect, test } from "vitest";
import { Conversation } from "../src/model/conversation.js";
import { find } from "../src/model/find.js";
import type { ToolRow } from "../src/model/rows.js";
import { formatComments, placeName } from "../src/state/remarks.js";
import { withoutColours } from "../src/text/ansi.js";
import { groupHead } from "../src/tools/group_head.js";
import { seenHeight } from "../src/view/viewport.js";

let seq = 0;
const frame = (event: AgentEvent): EventFrame => ({ type: "event", session: "s", seq: ++seq, ts: "2026-01-01T00:00:00Z", event });
const command = (id: string, text: string, status: "complete" | "error" | "running" = "complete", parent?: string): AgentEvent => ({
  type: "tool_update",
  tool_call_id: id,
  tool_name: "Bash",
  tool_status: status,
  ...(parent && { parent_tool_call_id: parent }),
  normalized: {
    kind: "shell_exec",
    renderer: "tool_execute",
    shell_exec: { command: text, output: { stdout: `of ${text}\n`, exit_code: 0 } },
  },
});
const said = (text: string): AgentEvent => ({ type: "message_chunk", text, message_id: text });

function folded(...events: AgentEvent[]): Conversation {
  const conversation = new Conversation();
  for (const event of events) conversation.fold(frame(event));
  return conversation;
}

describe("words are found", () => {
  test("in all that a row says, whatever their case, in the order of the conversation", () => {
    const { rows } = folded(
      { type: "user_message", text: "Mend the Door", uuid: "u" },
      command("a", "ls door"),
      said("The DOOR is mended."),
      { type: "reasoning", reasoning_text: "A window?", message_id: "r" },
      { type: "notice", kind: "n", level: "warning", text: "door ajar" },
    );
    expect(find(rows, " door ").map(({ kind }) => kind)).toEqual(["user", "tool", "text", "notice"]);
    expect(find(rows, "window").map(({ kind }) => kind)).toEqual(["reasoning"]);
    expect(find(rows, "  ")).toEqual([]);
    expect(find(rows, "no such")).toEqual([]);
  });

  test("in as many places as people go through, however long the conversation", () => {
    const { rows } = folded(...Array.from({ length: 3000 }, (_, n) => said(`door ${n}`)));
    expect(find(rows, "door").length).toBe(1000);
  });
});

describe("commands one after another", () => {
  const leader = (conversation: Conversation) => conversation.rows.find((row) => row.kind === "tool") as ToolRow;

  test("share a row that is over once something else has come", () => {
    const conversation = folded(command("a", "one"), command("b", "two"));
    conversation.fold(frame(command("c", "three")));
    expect([leader(conversation).group.length, leader(conversation).over]).toEqual([2, false]);
    conversation.fold(frame(said("All done")));
    expect(leader(conversation).over).toBe(true);
    const head = groupHead([leader(conversation), ...leader(conversation).group]);
    expect([head.verb, head.names]).toEqual(["Ran 3 commands", "one, two, three"]);
  });

  test("are not shared with calls of another sort", () => {
    const read: AgentEvent = {
      type: "tool_update",
      tool_call_id: "r",
      tool_name: "Read",
      tool_status: "complete",
      normalized: { kind: "read_file", renderer: "tool_read", read_file: { file_path: "/a" } },
    };
    expect(leader(folded(command("a", "one"), read, command("b", "two"))).group).toEqual([]);
  });

  test("of a to-do list tell how far it is, and never that it is done", () => {
    const list = (...states: string[]) => ({
      type: "tool_update" as const,
      tool_call_id: states.join(),
      tool_name: "TodoWrite",
      tool_status: "complete" as const,
      normalized: {
        kind: "manage_todos" as const,
        renderer: "todo" as const,
        manage_todos: { operation: "write" as const, items: states.map((status, n) => ({ id: `${n}`, description: `item ${n}`, status })) },
      },
    });
    const rows = folded(list("pending", "pending"), list("completed", "in_progress", "deleted"));
    const head = groupHead([leader(rows), ...leader(rows).group]);
    expect([head.verb, head.facts]).toEqual(["To-do list changed 2×", "1 of 2 done"]);
  });
});

test("a comment on several lines names the first and the last, and quotes each", () => {
  const place = { source: "src/a.py", file: true, line: 3, through: 5, quote: "a\nb\nc" };
  expect(placeName(place)).toBe("src/a.py:3-5");
  expect(placeName({ ...place, source: "Your plan", file: false })).toBe("Your plan, lines 3 to 5");
  expect(placeName({ ...place, through: 3 })).toBe("src/a.py:3");
  expect(formatComments([{ ...place, text: "Why?" }])).toBe("src/a.py:3-5\n> a\n> b\n> c\nWhy?");
});

test("what is copied of a terminal has no colours", () => {
  expect(withoutColours("\u001b[31mred\u001b[0m and plain")).toBe("red and plain");
});

test("a keyboard takes its room from the page, an enlarged page does not", () => {
  expect(seenHeight({ height: 400, scale: 1 }, 800)).toBe(400);
  expect(seenHeight({ height: 760, scale: 1 }, 800)).toBeUndefined();
  expect(seenHeight({ height: 400, scale: 2 }, 800)).toBeUndefined();
});

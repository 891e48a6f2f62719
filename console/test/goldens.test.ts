/** Every recording's events, folded: nothing is lost on the way to the screen, and nothing is shown twice. What is drawn of them is
 * compared with other frontends by tests/frontends/test_same_conversation.py. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AgentEvent } from "turnwire-client";
import { expect, test } from "vitest";
import { Conversation } from "../src/model/conversation.js";
import type { Row, ToolRow } from "../src/model/rows.js";

const GOLDENS = fileURLToPath(new URL("../../tests/normalize", import.meta.url));
const files = readdirSync(GOLDENS, { recursive: true, encoding: "utf8" }).filter(
  // One recording is of two conversations on one connection.
  (path) => /(^|\/)goldens\/.*\.jsonl$/.test(path) && !path.endsWith("/two-sessions.jsonl"),
);

function read(path: string): AgentEvent[] {
  const lines = readFileSync(`${GOLDENS}/${path}`, "utf8").split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as AgentEvent);
}

function fold(events: readonly AgentEvent[]): Conversation {
  const conversation = new Conversation();
  for (const [i, event] of events.entries())
    conversation.fold({ type: "event", session: "s", seq: i + 1, ts: new Date(i).toISOString(), event });
  return conversation;
}

const all = (rows: readonly Row[]): Row[] => rows.flatMap((row) => (row.kind === "tool" ? [row, ...all(row.children)] : [row]));

/** The texts as the events tell them, put together in another way than the conversation does. */
function texts(events: readonly AgentEvent[]): string[] {
  const blocks: Array<{ id: string; text: string }> = [];
  events.forEach((event, i) => {
    if (event.type !== "message_chunk" && event.type !== "reasoning") return;
    const text = event.type === "reasoning" ? event.reasoning_text : event.text;
    const id = event.message_id === undefined ? `event ${i}` : `${event.message_id}/${event.block_index}/${event.type}`;
    const known = blocks.find((block) => block.id === id);
    if (!known) blocks.push({ id, text });
    else known.text = event.replace ? text : known.text + text;
  });
  return blocks.map(({ text }) => text).sort();
}

test("there are recordings to fold", () => {
  expect(files.length).toBeGreaterThan(600);
});

test.each(files)("%s", (path) => {
  const events = read(path);
  const conversation = fold(events);
  const rows = all(conversation.rows);
  const of = <Type extends AgentEvent["type"]>(type: Type) =>
    events.filter((event) => event.type === type) as Array<Extract<AgentEvent, { type: Type }>>;

  expect(rows.flatMap((row) => (row.kind === "text" || row.kind === "reasoning" ? [row.text] : [])).sort()).toEqual(texts(events));

  const tools = rows.filter((row): row is ToolRow => row.kind === "tool");
  // A result whose call was never told has a row of its own.
  const told = new Set([...of("tool_call"), ...of("tool_update")].map((event) => event.tool_call_id));
  expect(tools.map((row) => row.id).sort()).toEqual([...told].sort());
  const ended = new Set(of("tool_update").flatMap((event) => (event.tool_status === "running" ? [] : [event.tool_call_id])));
  expect(tools.filter((row) => row.status === "running" && ended.has(row.id))).toEqual([]);

  expect(conversation.turns).toHaveLength(of("turn_started").length);
  expect(conversation.turns.filter((turn) => turn.end !== undefined)).toHaveLength(of("complete").length);
  const over = conversation.turns.filter((turn) => turn.end !== undefined);
  expect(over.flatMap((turn) => turn.spans).filter((span) => span.end === undefined)).toEqual([]);

  const asked = [...of("permission_request"), ...of("question_request")].length;
  expect(rows.filter((row) => row.kind === "request")).toHaveLength(asked);
  const answered = new Set([...of("permission_resolved"), ...of("permission_cancelled")].map((event) => event.pending_id));
  expect([...conversation.pending.keys()].filter((id) => answered.has(id))).toEqual([]);

  expect(rows.filter((row) => row.kind === "unrecognised")).toHaveLength(of("unknown").length + of("malformed").length);
  // What waits, or was withdrawn while it waited, was not said to the agent.
  const unsaid = new Set([...of("withdrawn").map(({ prompt }) => prompt), ...conversation.state.queue.keys()]);
  const said = of("user_message").filter(({ uuid }) => uuid === undefined || !unsaid.has(uuid));
  expect(rows.filter((row) => row.kind === "user")).toHaveLength(said.length);
  expect(rows.filter((row) => row.kind === "fact" && row.event.type === "error")).toHaveLength(of("error").length);
  expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
});

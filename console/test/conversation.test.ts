import type { AgentEvent, EventFrame } from "turnwire-client";
import { describe, expect, test } from "vitest";
import { activity } from "../src/model/activity.js";
import { Conversation } from "../src/model/conversation.js";
import type { RequestRow, Row, ToolRow } from "../src/model/rows.js";
import { shortLabel, took } from "../src/model/turns.js";
import { standsAlone } from "../src/request/alone.js";
import { groupHead } from "../src/tools/group_head.js";
import { toolHead } from "../src/tools/heads.js";

const time = (seq: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seq)).toISOString();

function fold(...events: AgentEvent[]): Conversation {
  const conversation = new Conversation();
  for (const [i, event] of events.entries()) conversation.fold(frame(i + 1, event));
  return conversation;
}

const frame = (seq: number, event: AgentEvent): EventFrame => ({ type: "event", session: "s", seq, ts: time(seq), event });
const turn = (id = "turn-1"): AgentEvent => ({ type: "turn_started", origin: "user", operation_id: id });
const complete = (id = "turn-1"): AgentEvent => ({
  type: "complete",
  operation_id: id,
  data: { is_error: false, outcome: "completed", cost_usd: 0.25, total_cost_usd: 1.5 },
});
const piece = (text: string, more: Partial<Extract<AgentEvent, { type: "message_chunk" }>> = {}): AgentEvent => ({
  type: "message_chunk",
  text,
  message_id: "m1",
  block_index: 0,
  ...more,
});
const bash = (id: string, parent?: string): AgentEvent => ({
  type: "tool_call",
  tool_call_id: id,
  tool_name: "Bash",
  tool_title: `run ${id}`,
  tool_status: "running",
  normalized: { kind: "shell_exec", renderer: "tool_execute", shell_exec: { command: "ls" } },
  ...(parent !== undefined && { parent_tool_call_id: parent }),
});
const done = (id: string, status: "complete" | "error" = "complete"): AgentEvent => ({
  type: "tool_update",
  tool_call_id: id,
  tool_status: status,
});
const ask = (id: string): AgentEvent => ({
  type: "permission_request",
  pending_id: id,
  permission_title: "Run ls",
  permission_options: [{ option_id: "allow_once", name: "Allow", kind: "allow_once" }],
  action_type: "command",
});
const kinds = (rows: readonly Row[]) => rows.map((row) => row.kind);
const texts = (rows: readonly Row[]) => rows.flatMap((row) => (row.kind === "text" || row.kind === "reasoning" ? [row.text] : []));

describe("texts", () => {
  test("of one block are one row, in order", () => {
    const { rows } = fold(turn(), piece("Hel", { is_delta: true }), piece("lo", { is_delta: true }), piece("", {}));
    expect(texts(rows)).toEqual(["Hello"]);
  });

  test("of other blocks and messages are rows of their own", () => {
    const { rows } = fold(piece("a"), piece("b", { block_index: 1 }), piece("c", { message_id: "m2" }));
    expect(texts(rows)).toEqual(["a", "b", "c"]);
  });

  test("that were corrected are replaced", () => {
    expect(texts(fold(piece("draft"), piece("final", { replace: true })).rows)).toEqual(["final"]);
  });

  test("without a message id go on in the open row only while more was announced", () => {
    const bare = (text: string, is_delta: boolean): AgentEvent => ({ type: "message_chunk", text, is_delta });
    expect(texts(fold(bare("a", true), bare("b", false), bare("c", false)).rows)).toEqual(["ab", "c"]);
  });

  test("that were retracted are marked, not removed", () => {
    const { rows } = fold(piece("half"), { type: "retraction", message_ids: ["m1"] });
    expect(rows[0]?.withdrawn).toBe(true);
  });

  test("are no longer live once the turn is over", () => {
    const { rows } = fold(turn(), piece("half", { is_delta: true }), complete());
    expect(rows.find((row) => row.kind === "text")).toMatchObject({ live: false });
  });
});

describe("tools", () => {
  test("are one row from call to result", () => {
    const { rows } = fold(turn(), bash("t1"), done("t1"));
    expect(kinds(rows)).toEqual(["turn", "tool"]);
    expect(rows[1]).toMatchObject({ status: "complete" });
  });

  test("of a subagent stand under its call, with its texts", () => {
    const { rows } = fold(turn(), bash("agent"), bash("t2", "agent"), piece("inner", { parent_tool_call_id: "agent" }), done("t2"));
    expect(kinds(rows)).toEqual(["turn", "tool"]);
    expect(kinds((rows[1] as ToolRow).children)).toEqual(["tool", "text"]);
  });

  test("whose call was lost still show their result", () => {
    expect(fold(done("t9", "error")).rows[0]).toMatchObject({ kind: "tool", id: "t9", status: "error" });
  });

  test("keep the plan they show", () => {
    const { rows } = fold(bash("t1"), { type: "agent_plan", plan_content: "# Plan", tool_call_id: "t1" });
    expect(kinds(rows)).toEqual(["tool"]);
    expect((rows[0] as ToolRow).plan?.plan_content).toBe("# Plan");
  });
});

describe("requests", () => {
  test("wait until they are answered, and keep who answered", () => {
    const asked = fold(turn(), bash("t1"), ask("p1"));
    expect([...asked.pending.keys()]).toEqual(["p1"]);
    asked.fold(frame(4, { type: "permission_resolved", pending_id: "p1", behavior: "allow", by: "tab", waited_ms: 5 }));
    expect(asked.pending.size).toBe(0);
    expect(asked.rows.at(-1)).toMatchObject({ kind: "request", resolved: { by: "tab" } });
  });

  test("decided by a policy as they came are shown as decided, and never wait", () => {
    const told = fold(turn(), bash("t1"), {
      type: "permission_resolved",
      pending_id: "p1",
      tool_call_id: "t1",
      behavior: "allow",
      by: "policy:plan",
      unasked: true,
      permission_title: "rm x",
      action_type: "command",
    });
    expect(told.pending.size).toBe(0);
    const row = told.rows.find((one) => one.kind === "tool") as ToolRow;
    expect(row.request).toMatchObject({ request: { permission_title: "rm x" }, resolved: { by: "policy:plan" } });
  });

  test("close when they are cancelled", () => {
    const { pending, rows } = fold(ask("p1"), { type: "permission_cancelled", pending_id: "p1", reason: "interrupted" });
    expect(pending.size).toBe(0);
    expect(rows[0]).toMatchObject({ cancelled: { reason: "interrupted" } });
  });
});

test("a call edited by who allowed it shows what ran, and that it was edited", () => {
  const { rows } = fold(
    bash("t1"),
    { ...ask("p1"), tool_call_id: "t1" } as AgentEvent,
    { type: "permission_resolved", pending_id: "p1", behavior: "allow", updated_input: { command: "ls -l" } },
    {
      type: "tool_update",
      tool_call_id: "t1",
      tool_status: "running",
      normalized: { kind: "shell_exec", renderer: "tool_execute", shell_exec: { command: "ls -l" } },
    },
    done("t1"),
  );
  expect(rows[0]).toMatchObject({ edited: true, status: "complete", payload: { shell_exec: { command: "ls -l" } } });
  expect(fold(bash("t1"), ask("p1"), { type: "permission_resolved", pending_id: "p1", behavior: "allow" }).rows[0]).toMatchObject({
    edited: false,
  });
});

describe("turns", () => {
  test("say what they cost, and where their time went", () => {
    const { turns } = fold(
      turn(),
      piece("a"),
      bash("t1"),
      ask("p"),
      { type: "permission_resolved", pending_id: "p", behavior: "allow" },
      done("t1"),
      piece("b", { message_id: "m2" }),
      complete(),
    );
    expect(turns[0]?.result?.cost_usd).toBe(0.25);
    expect(turns[0]?.spans.map(({ kind, start, end }) => [kind, start, end])).toEqual([
      ["model", time(1), time(2)],
      ["model", time(2), time(3)],
      ["tool", time(3), time(6)],
      ["human", time(4), time(5)],
      ["model", time(6), time(7)],
    ]);
  });

  test("name the files that their time went to, not the folders", () => {
    const read: AgentEvent = {
      type: "tool_call",
      tool_call_id: "t1",
      tool_name: "Read",
      tool_title: "Read /srv/$&/src/app.py",
      tool_status: "running",
      normalized: { kind: "read_file", renderer: "tool_read", read_file: { file_path: "/srv/$&/src/app.py" } } as never,
    };
    const asked = { ...ask("p"), permission_title: "Read /srv/$&/src/app.py", tool_call_id: "t1" } as AgentEvent;
    const [turnOf] = fold(turn(), read, asked, bash("ls /srv/a")).turns;
    const spans = turnOf?.spans.filter(({ kind }) => kind !== "model") ?? [];
    expect(spans.map(shortLabel)).toEqual(["Read app.py", "Read app.py", "run ls /srv/a"]);
    expect(spans[0]?.label).toBe("Read /srv/$&/src/app.py");
  });

  test("add up to what the session cost, whatever a process's own total says", () => {
    expect(fold(turn(), complete(), turn("turn-2"), complete("turn-2")).state.cost).toBe(0.5);
  });

  test("end once, whatever the order", () => {
    const { running, turns } = fold(turn("a"), complete("a"), turn("b"));
    expect(turns).toHaveLength(2);
    expect(running?.id).toBe("b");
  });
});

test("calls that only look share the row of the first, until something comes between them", () => {
  const read = (id: string, path = `${id}.py`): AgentEvent => ({
    type: "tool_call",
    tool_call_id: id,
    tool_name: "Read",
    tool_title: "Read",
    tool_status: "running",
    normalized: { kind: "read_file", renderer: "tool_read", read_file: { file_path: path } } as never,
  });
  const conversation = fold(turn(), read("a"), read("b"), read("c", "a.py"), bash("x"), read("d"));
  const [, a, b, c, , d] = conversation.rows as ToolRow[];
  expect(a?.group).toEqual([b, c]);
  expect([a?.leader, b?.leader, d?.leader]).toEqual([undefined, a, undefined]);
  expect(a && groupHead([a, ...a.group])).toEqual({ icon: "file", verb: "Read 2 files", names: "a.py, b.py" });
  conversation.changes();
  conversation.fold(frame(9, done("c")));
  expect(conversation.changes().rows).toContain(a);
});

test("a verdict is told in the card of its call", () => {
  const asked = fold(bash("t1"), { ...ask("p1"), tool_call_id: "t1" } as AgentEvent, ask("p2"));
  const [tool, one, two] = asked.rows as [ToolRow, RequestRow, RequestRow];
  expect(tool.request).toBe(one);
  expect([one, two].map(standsAlone)).toEqual([false, false]);
  for (const id of ["p1", "p2"]) asked.fold(frame(9, { type: "permission_resolved", pending_id: id, behavior: "allow" }));
  expect([one, two].map(standsAlone)).toEqual([false, true]);
});

test("what the agent does now is the newest call that runs, or what it last said", () => {
  const said = piece("a", { is_delta: true });
  expect(activity(fold(turn()))).toEqual({ kind: "waiting" });
  expect(activity(fold(turn(), said))).toEqual({ kind: "writing" });
  expect(activity(fold(turn(), said, bash("t1"), bash("t2")))).toMatchObject({ kind: "tool", row: { id: "t2" }, more: 1 });
  expect(activity(fold(turn(), bash("t1"), bash("t2"), done("t2")))).toMatchObject({ kind: "tool", row: { id: "t1" }, more: 0 });
  expect(activity(fold(turn(), { type: "api_retry", attempt: 1 }))).toEqual({ kind: "retrying" });
  expect(activity(fold(bash("t1"), turn()))).toEqual({ kind: "waiting" });
});

describe("the rest", () => {
  test("quiet events that follow each other share a row", () => {
    const { rows } = fold({ type: "session_mode", current_mode_id: "plan" }, { type: "notice", kind: "x", level: "info", text: "y" });
    expect(kinds(rows)).toEqual(["minorEvents"]);
  });

  test("retries share a row until the model speaks", () => {
    const retry = (attempt: number): AgentEvent => ({ type: "api_retry", attempt });
    const { rows } = fold(turn(), retry(1), retry(2), piece("a"), retry(1));
    expect(kinds(rows)).toEqual(["turn", "fact", "text", "fact"]);
    expect(rows[1]).toMatchObject({ over: true, event: { attempt: 2 } });
  });

  test("each refusal of the sandbox is a row", () => {
    const refused = (target: string): AgentEvent => ({ type: "sandbox_denied", kind: "host", target, reason: "nobody answered" });
    const { rows } = fold(turn(), refused("a.test:443"), refused("b.test:443"));
    expect(kinds(rows)).toEqual(["turn", "fact", "fact"]);
    expect(rows[2]).toMatchObject({ event: { target: "b.test:443" } });
  });

  test("what was not understood is shown", () => {
    const { rows } = fold(
      { type: "unknown", message_type: "new/thing", raw: "{}" },
      { type: "malformed", reason: "no JSON", raw: "x", size: 1 },
    );
    expect(kinds(rows)).toEqual(["unrecognised", "unrecognised"]);
  });

  test("an event of a newer hub stands in the log and makes no row", () => {
    const newer = { type: "of_tomorrow", text: "?" } as unknown as AgentEvent;
    const { log, rows } = fold(newer, piece("a"));
    expect(log.map(({ event }) => event)).toEqual([newer, piece("a")]);
    expect(kinds(rows)).toEqual(["text"]);
  });

  test("a tool of a newer hub's kind has the head that its title makes", () => {
    const call = { ...bash("t1"), tool_title: "Look ahead", normalized: { kind: "of_tomorrow", of_tomorrow: {} } } as unknown as AgentEvent;
    const row = fold(call).rows[0] as ToolRow;
    expect(toolHead(row)).toMatchObject({ verb: "Bash", subject: "Look ahead" });
  });

  test("to-dos told by their ids alone have the names they were made with", () => {
    const update = (id: string, normalized: unknown): AgentEvent => ({ ...done(id), normalized }) as AgentEvent;
    const items = [{ id: "7", description: "", status: "in_progress" }];
    const { rows, state } = fold(
      update("t1", { kind: "create_task", create_task: { title: "Write code", description: "", task_id: "7" } }),
      update("t2", { kind: "manage_todos", manage_todos: { operation: "update", items } }),
      update("t3", { kind: "manage_todos", manage_todos: { operation: "get", items: [{ id: "9", description: "", status: "" }] } }),
    );
    expect((rows[1] as ToolRow).payload).toMatchObject({ manage_todos: { items: [{ description: "Write code" }] } });
    expect(toolHead(rows[1] as ToolRow)).toMatchObject({ subject: "Write code", facts: ["in progress"] });
    expect((rows[2] as ToolRow).payload).toMatchObject({ manage_todos: { items: [{ description: "Task 9" }] } });
    expect(state.todos.get("7")).toMatchObject({ description: "Write code", status: "in_progress" });
  });

  test("a prompt that waits takes its place when it is served, and none when it is withdrawn", () => {
    const said = (uuid: string): AgentEvent => ({ type: "user_message", text: uuid, uuid });
    const conversation = fold(turn(), { type: "queued", prompt: "u1" }, said("u1"), { type: "queued", prompt: "u2" }, said("u2"));
    expect(kinds(conversation.rows)).toEqual(["turn"]);
    conversation.fold(frame(6, piece("a")));
    conversation.fold(frame(7, { type: "injected", message_count: 1, prompts: ["u1"] }));
    conversation.fold(frame(8, { type: "withdrawn", prompt: "u2" }));
    expect(kinds(conversation.rows)).toEqual(["turn", "text", "user", "minorEvents"]);
  });

  test("an agent that crashed is told of once", () => {
    const { rows } = fold(
      { type: "error", error: "Killed.", code: "process_exited" },
      { type: "process_status", state: "exited", signal: "SIGKILL", stderr_tail: "out of memory" },
    );
    expect(kinds(rows)).toEqual(["fact"]);
    expect(rows[0]).toMatchObject({ event: { type: "error" }, exit: { stderr_tail: "out of memory" } });
  });

  test("what the agent's program says of an error is told by the error alone", () => {
    const said = (text: string, source?: "synthetic"): AgentEvent => ({
      type: "message_chunk",
      text,
      message_id: text,
      ...(source && { source }),
    });
    const { rows } = fold(
      turn(),
      said("No.", "synthetic"),
      said("Broken.", "synthetic"),
      { type: "complete", operation_id: "turn-1", data: { outcome: "error", is_error: true } } as AgentEvent,
      { type: "error", error: "Broken.", code: "server_error" },
      said("Later."),
      { type: "error", error: "Later.", code: "server_error" },
    );
    expect(rows.flatMap((row) => (row.kind === "text" ? [[row.text, row.told]] : []))).toEqual([
      ["No.", false],
      ["Broken.", true],
      ["Later.", false],
    ]);
  });

  test("what becomes of the to-do list shares a row, and calls that look at things another", () => {
    const call = (id: string, normalized: unknown) =>
      ({ type: "tool_call", tool_call_id: id, tool_name: id, tool_title: id, tool_status: "running", normalized }) as AgentEvent;
    const { rows } = fold(
      turn(),
      call("a", { kind: "create_task", create_task: { title: "Write code" } }),
      call("b", { kind: "create_task", create_task: { title: "Run tests" } }),
      call("c", {
        kind: "manage_todos",
        manage_todos: { operation: "update", items: [{ id: "1", description: "Write code", status: "completed" }] },
      }),
      call("d", { kind: "read_file", read_file: { file_path: "/a" } }),
      call("e", { kind: "read_file", read_file: { file_path: "/b" } }),
    );
    const heads = rows.flatMap((row) => (row.kind === "tool" && !row.leader ? [groupHead([row, ...row.group])] : []));
    expect(heads).toEqual([
      { icon: "list", verb: "To-do list changed 3×", names: "Write code, Run tests" },
      { icon: "file", verb: "Read 2 files", names: "a, b" },
    ]);
  });

  test("a tool's time is without the time a human was waited for", () => {
    const { rows } = fold(
      turn(),
      bash("t1"),
      { ...ask("p"), tool_call_id: "t1" } as AgentEvent,
      { type: "notice", kind: "x", level: "info", text: "y" },
      { type: "permission_resolved", pending_id: "p", behavior: "allow" },
      done("t1"),
    );
    const { span } = rows[1] as ToolRow;
    expect(span && took(span, "")).toBe(2000);
  });

  test("prompts wait until a turn serves them", () => {
    const { state } = fold({ type: "queued", prompt: "u1", position: 1, text: "one" }, { type: "queued", prompt: "u2", position: 2 });
    state.name("u2", "second");
    expect([...state.queue.values()]).toEqual([
      { uuid: "u1", position: 1, text: "one" },
      { uuid: "u2", position: 2, text: "second" },
    ]);
    state.fold({ type: "turn_started", origin: "queued", prompts: ["u1"] });
    state.fold({ type: "withdrawn", prompt: "u2" });
    expect(state.queue.size).toBe(0);
  });

  test("changes tell exactly the rows that changed", () => {
    const conversation = fold(turn(), piece("a", { is_delta: true }), bash("t1"));
    conversation.changes();
    conversation.fold(frame(4, done("t1")));
    const { rows, grown } = conversation.changes();
    expect([...rows]).toEqual([conversation.rows[2]]);
    expect(grown).toBe(false);
  });
});

describe("going back", () => {
  const said = (text: string, operation_id = "turn-1"): AgentEvent => ({ type: "user_message", text, uuid: `u ${text}`, operation_id });
  const ended = (id: string, resume_token: string | undefined): AgentEvent => ({
    type: "complete",
    operation_id: id,
    data: { is_error: false, ...(resume_token !== undefined && { resume_token }) },
  });
  const cut = (at: string | undefined, void_turns: string[], within?: string): AgentEvent => ({
    type: "cut",
    reason: "rewind",
    text: "The conversation goes on from an earlier message.",
    void_turns,
    ...(at !== undefined && { at }),
    ...(within !== undefined && { within }),
  });
  const one = (n: number): AgentEvent[] => [
    turn(`turn-${n}`),
    said(`q${n}`, `turn-${n}`),
    piece(`a${n}`, { message_id: `m${n}` }),
    ended(`turn-${n}`, `r${n}`),
  ];
  const backs = (conversation: Conversation) => conversation.rows.flatMap((row) => (row.kind === "user" ? [[row.text, row.back]] : []));
  const voided = (conversation: Conversation) => conversation.rows.flatMap((row) => (row.voided ? [`${row.kind} ${row.seq}`] : []));

  test("a prompt names the message before it, if there is one and it began its turn", () => {
    const made = fold(
      ...one(1),
      turn("turn-2"),
      said("q2", "turn-2"),
      said("joins", "turn-2"),
      ended("turn-2", undefined),
      ...one(3),
      ...one(4),
    );
    expect(backs(made)).toEqual([
      ["q1", undefined],
      ["q2", "r1"],
      ["joins", undefined],
      // The turn before it names no message to go back to.
      ["q3", undefined],
      ["q4", "r3"],
    ]);
  });

  test("turns that count no more are marked, and the next prompt follows the message that was gone back to", () => {
    const made = fold(...one(1), ...one(2), ...one(3), cut("r1", ["turn-2", "turn-3"]), ...one(4));
    expect(voided(made)).toEqual(["turn 5", "user 6", "text 7", "end 8", "turn 9", "user 10", "text 11", "end 12"]);
    expect(backs(made).at(-1)).toEqual(["q4", "r1"]);
    expect(made.rows.find((row) => row.kind === "notice")).toMatchObject({ label: "cut" });
    expect(made.changes().rows.size).toBeGreaterThan(8);
  });

  test("a turn that counts up to a message only is marked from there on", () => {
    const made = fold(...one(1), ...one(2), cut("m1", ["turn-2"], "turn-1"));
    expect(voided(made)).toEqual(["end 4", "turn 5", "user 6", "text 7", "end 8"]);
  });

  test("after going back to the very beginning there is nothing to go back to", () => {
    const made = fold(...one(1), cut(undefined, ["turn-1"]), ...one(2));
    expect(backs(made)).toEqual([
      ["q1", undefined],
      ["q2", undefined],
    ]);
  });

  test("a cut that leaves nothing behind marks nothing", () => {
    expect(voided(fold(...one(1), cut("nowhere", [], "turn-9")))).toEqual([]);
  });
});

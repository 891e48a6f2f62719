// @vitest-environment happy-dom
/** What rows of a conversation say: each kind of call, what became of it and of what was asked, turns, and the line above the prompt. */
import type { AgentEvent, NormalizedPayload, SessionSummary } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ActivityBar } from "../src/view/now.js";
import { RowView } from "../src/view/row.js";
import { clear, Page, SESSION } from "./page.js";

let page: Page;
beforeEach(() => {
  page = new Page();
});
afterEach(clear);

const eventually = (holds: () => void) => vi.waitFor(holds, { interval: 5, timeout: 60_000 });
function happens(...events: object[]): void {
  page.happens(...(events as AgentEvent[]));
  page.show(page.live.conversation.rows.map((row) => <RowView key={row.key} row={row} />));
}
const call = (normalized: object, more: object = {}) => ({
  type: "tool_update", tool_call_id: "t", tool_name: "Tool", tool_status: "complete", normalized, ...more,
}); // biome-ignore format: an event
const text = () => document.body.textContent ?? "";
const label = () => document.querySelector("article.tool")?.getAttribute("aria-label");
const facts = () => [...document.querySelectorAll("article.tool .facts span")].map((node) => node.textContent);
const badge = () => document.querySelector(".badge")?.textContent;
const opened = async () => {
  const head = document.querySelector<HTMLElement>("article.tool .fold-head");
  if (head?.getAttribute("aria-expanded") === "false") head.click();
  await eventually(() => expect(head?.getAttribute("aria-expanded")).toBe("true"));
};

describe("a call", () => {
  const CALLS: Array<[what: string, payload: object, head: string, facts: string[], body: string]> = [
    [
      "that reads a part of a file",
      {
        kind: "read_file",
        read_file: {
          file_path: "/srv/red/a.ts",
          output: { content: "let a = 1", line_count: 1, start_line: 7, total_lines: 90, truncated: true },
        },
      },
      "Read /srv/red/a.ts",
      ["1 line", "more in the file"],
      "The file has 90 lines.",
    ],
    [
      "that makes a file",
      {
        kind: "modify_file",
        modify_file: {
          file_path: "/srv/red/b.txt",
          mutations: [{ type: "create", content: "one\ntwo\n" }],
          output: { applied: true, added_lines: 2, removed_lines: 0, user_modified: true },
        },
      },
      "Create /srv/red/b.txt",
      ["+2", "−0", "changed by a human"],
      "two",
    ],
    [
      "that could not change a file",
      {
        kind: "modify_file",
        modify_file: {
          file_path: "/srv/red/b.txt",
          mutations: [{ type: "edit", old_content: "x", new_content: "y" }],
          output: { applied: false, message: "no such text" },
        },
      },
      "Edit /srv/red/b.txt",
      [],
      "no such text",
    ],
    [
      "that runs a command elsewhere and fails",
      {
        kind: "shell_exec",
        shell_exec: {
          command: "make",
          description: "Build it",
          work_dir: "/tmp",
          output: { exit_code: 2, stderr: "No rule", timed_out: true },
        },
      },
      "Run make",
      ["exit 2", "timed out"],
      "Build it — in /tmp",
    ],
    ["that says nothing", { kind: "shell_exec", shell_exec: { command: "true", output: { exit_code: 0 } } }, "Run true", [], "no output"],
    [
      "that reads what a task wrote",
      {
        kind: "shell_exec",
        shell_exec: {
          command: "",
          task_id: "t7",
          operation: "read",
          output: { stdout: "half", status: "running", persisted_path: "/tmp/t7.log" },
        },
      },
      "Read output t7",
      [],
      "task running · whole output in /tmp/t7.log",
    ],
    [
      "that searches and finds lines",
      {
        kind: "code_search",
        code_search: {
          pattern: "door",
          path: "src",
          output: { match_count: 2, file_count: 1, truncated: true, matches: [{ file: "a.ts", line: 3, text: "door" }] },
        },
      },
      "Search door in src",
      ["2 matches", "1 file", "more found"],
      "a.ts:3:door",
    ],
    [
      "that finds nothing",
      { kind: "code_search", code_search: { query: "door", output: { file_count: 0, files: [] } } },
      "Search door",
      ["0 files"],
      "Nothing was found.",
    ],
    ["that counts", { kind: "code_search", code_search: { pattern: "x", output: { counts: { "a.ts": 4 } } } }, "Search x", [], "a.ts: 4"],
    [
      "that fetches a page",
      { kind: "http_request", http_request: { url: "https://a.test/", prompt: "Sum it up", status: 404, response: "Not there" } },
      "Fetch https://a.test/",
      ["HTTP 404"],
      "Sum it upNot there",
    ],
    [
      "that searches the web",
      { kind: "http_request", http_request: { query: "doors", results: [{ title: "Doors", url: "https://d.test/" }] } },
      "Search the web doors",
      [],
      "Doors — https://d.test/",
    ],
    [
      "of a subagent",
      {
        kind: "subagent_task",
        subagent_task: {
          description: "Look around",
          subagent_type: "scout",
          prompt: "Find doors",
          output: { tool_use_count: 2, total_tokens: 1200, duration_ms: 4000, text: "Three doors." },
        },
      },
      "Agent scout Look around",
      ["2 tools", "1,200 tokens", "4.0 s"],
      "Three doors.",
    ],
    [
      "that keeps a list",
      {
        kind: "manage_todos",
        manage_todos: {
          operation: "set",
          items: [
            { description: "A", status: "completed" },
            { description: "B", active_form: "Doing B", status: "in_progress", blocked_by: ["A"] },
            { description: "C", status: "pending" },
          ],
        },
      },
      "To do",
      ["1 of 3 done"],
      "Doing B after A",
    ],
    [
      "that asked a person",
      {
        kind: "ask_user",
        ask_user: {
          questions: [
            { question: "Which?", header: "Colour", options: [], multi_select: false },
            { question: "When?", options: [], multi_select: false },
          ],
          answers: { "Which?": "Red" },
        },
      },
      "Question Colour, When?",
      ["answered"],
      "Which?RedWhen?not answered",
    ],
    [
      "of a server",
      { kind: "mcp_tool", mcp_tool: { server: "maps", tool: "route", input: { to: "home" }, output: [{ kind: "text", text: "Left." }] } },
      "maps route",
      [],
      "home",
    ],
    [
      "of a plan",
      { kind: "show_plan", show_plan: { operation: "exit", plan: "1. Paint", approved: false, feedback: "Blue" } },
      "Plan",
      ["not approved"],
      "Answer: Blue",
    ],
    ["of a kind of its own", { kind: "generic", generic: { name: "Odd", input: { a: 1 }, output: "done" } }, "Odd", [], "done"],
  ];

  test.each(CALLS)("%s says so in one line, and the rest once it is opened", async (_, payload, head, said, body) => {
    happens(call({ renderer: "tool", ...payload } as unknown as NormalizedPayload));
    expect(label()).toBe(head);
    expect(facts()).toEqual(said);
    expect(badge()).toBeUndefined();
    await opened();
    expect(document.querySelector(".card-body")?.textContent).toContain(body);
  });

  test.each([
    [{ tool_status: "running" }, "running"],
    [{ tool_status: "error", error: "It broke" }, "failed"],
    [{ tool_status: "error", reason: "denied", error: "no" }, "denied"],
    [{ tool_status: "error", reason: "process_exited" }, "the agent exited"],
    [{ tool_status: "running", background: true }, "in the background"],
    [{ tool_status: "unknown" }, "unknown"],
  ])("%o is told by a word", (more, word) => {
    happens(
      { type: "turn_started", origin: "user", operation_id: "x" },
      call({ kind: "generic", renderer: "tool", generic: { name: "Odd" } }, { operation_id: "x", ...more }),
    );
    expect(badge()).toBe(word);
    if ("error" in more) expect(text()).toContain(more.error);
  });

  test("that waits for a person says so, then who allowed it, and how long that took", () => {
    const request = {
      type: "permission_request", pending_id: "p", tool_call_id: "t", permission_title: "rm x", permission_options: [], action_type: "command",
    }; // biome-ignore format: an event
    const shell = { kind: "shell_exec", renderer: "tool_execute", shell_exec: { command: "rm x" } };
    happens({ type: "tool_call", tool_call_id: "t", tool_name: "Bash", tool_title: "rm x", normalized: shell }, request);
    expect(badge()).toBe("waits for you");
    happens({
      type: "permission_resolved",
      pending_id: "p",
      tool_call_id: "t",
      behavior: "deny",
      by: "policy:plan",
      waited_ms: 2500,
      message: "not now",
    });
    expect(document.querySelector(".request-over")?.textContent).toMatch(/^Denied.*after 2.5 s“not now”$/);
  });

  test("hidden characters of a name and of what it concerns are spelt out", () => {
    happens(call({ kind: "mcp_tool", renderer: "tool", mcp_tool: { server: "a\u202Eb", tool: "c\u200Bd", input: {} } }));
    expect(document.querySelector("article .verb")?.textContent).toBe("a⟨U+202E⟩b");
    expect(document.querySelector("article .subject")?.textContent).toBe("c⟨U+200B⟩d");
  });
});

describe("a turn", () => {
  const turn = (data: object, origin = "user"): object[] => [
    { type: "turn_started", operation_id: "x", origin },
    { type: "complete", operation_id: "x", data: { is_error: false, ...data } },
  ];

  test.each([
    ["completed", "completed", "good"],
    ["interrupted", "interrupted", "warn"],
    ["error", "failed", "bad"],
    ["budget", "stopped at its budget", "warn"],
    ["process_exited", "the agent exited", "bad"],
    ["hung", "given up: the agent hung", "bad"],
    ["dreamt\u202E", "dreamt⟨U+202E⟩", "warn"],
  ])("that was %s says: %s", (outcome, words, tone) => {
    happens(...turn({ outcome, duration_ms: 61_000, cost_usd: 0.5 }));
    expect(document.querySelector(".turn-end b")?.textContent).toBe(words);
    expect(document.querySelector(".turn-end")?.classList.contains(tone)).toBe(true);
    expect(document.querySelector(".turn-end")?.textContent).toContain("$0.50");
  });

  test.each([
    ["user", "Prompt"],
    ["queued", "Queued prompt"],
    ["background", "After a background task"],
    ["autonomous", "Of its own accord"],
    ["elsewhere", "elsewhere"],
  ])("begun by %s is headed %s", (origin, words) => {
    happens(...turn({ outcome: "completed" }, origin));
    expect(document.querySelector(".turn-head h2")?.textContent).toBe(words);
  });
});

describe("what nobody says", () => {
  test.each([
    [{ type: "notice", kind: "x", level: "error", text: "The key has expired." }, "bad", "The key has expired."],
    [
      { type: "api_retry", attempt: 2, max_retries: 10, delay_ms: 4000, error: "overloaded", status: 529 },
      "warn",
      "Attempt 2 of 10 to reach the API failed (overloaded, HTTP 529), the next one starts after 4.0 s.",
    ],
    [
      { type: "sandbox_denied", kind: "host", target: "evil.test\u202E", reason: "nobody allowed it" },
      "warn",
      "The sandbox refused evil.test⟨U+202E⟩: nobody allowed it.",
    ],
    [{ type: "error", error: "The model is gone.", code: "not_found", status: 404 }, "bad", "The model is gone.not found · HTTP 404"],
    [{ type: "process_status", state: "stalled", silent_ms: 90_000 }, "warn", "The agent has been silent for 1 min 30 s."],
    [{ type: "process_status", state: "exited", exit_code: 0 }, "plain", "The agent’s process ended with code 0."],
    [
      { type: "process_status", state: "exited", signal: "SIGKILL", reason: "crash" },
      "bad",
      "The agent’s process ended by SIGKILL (crash).",
    ],
  ])("%o is told as %s: %s", (event, tone, words) => {
    happens(event);
    const bar = document.querySelector(".bar, .aside");
    expect(bar?.textContent).toBe(words);
    expect(bar?.classList.contains(tone)).toBe(true);
  });

  test("a summary in the place of a conversation says how much smaller it is", () => {
    happens({ type: "compact_boundary", pre_tokens: 90_000, post_tokens: 3000 });
    expect(document.querySelector(".boundary")?.textContent).toBe("The conversation above was replaced by a summary (90K to 3,000 tokens)");
  });

  test("a line that is not understood can be read as it came", async () => {
    happens({ type: "unknown", message_type: "odd", raw: '{"type":"odd"}' });
    expect(text()).toContain("A line of a type that turnwire does not know: “odd”");
    expect(text()).not.toContain('{"type":"odd"}');
    document.querySelector<HTMLElement>(".odd .fold-head")?.click();
    await eventually(() => expect(text()).toContain('{"type":"odd"}'));
  });
});

describe("the line above the prompt", () => {
  const bar = (more: Partial<SessionSummary> = {}) => {
    page.hub.summary = { ...SESSION, ...more };
    page.show(<ActivityBar />);
    return document.querySelector(".now")?.textContent ?? "";
  };
  beforeEach(async () => {
    await eventually(() => expect(page.live.caughtUp).toBe(true));
  });

  test("says what the agent does, for how long, and how it is stopped", () => {
    page.happens({ type: "turn_started", operation_id: "x", origin: "user" });
    expect(bar()).toMatch(/^Waiting for the model0:00Esc stops/);
    page.happens({
      type: "tool_call",
      tool_call_id: "t",
      tool_name: "Bash",
      tool_title: "make",
      operation_id: "x",
      normalized: { kind: "shell_exec", renderer: "tool_execute", shell_exec: { command: "make" } },
    } as unknown as AgentEvent);
    expect(bar()).toMatch(/^Run make/);
  });

  test("knows nothing while the connection is lost", () => {
    page.happens({ type: "turn_started", operation_id: "x", origin: "user" });
    page.hub.state = "connecting";
    expect(bar()).toBe("Not known while the connection is lost");
  });

  test("counts the to-do list, and names what is done of it now", () => {
    const list = (status: string) =>
      page.happens(
        call({
          kind: "manage_todos",
          renderer: "tool",
          manage_todos: {
            operation: "set",
            items: [
              { id: "1", description: "Cut", status: "completed" },
              { id: "2", description: "Paint", active_form: "Painting", status },
            ],
          },
        }) as unknown as AgentEvent,
      );
    list("in_progress");
    expect(bar()).toContain("1 of 2: Painting");
    list("completed");
    expect(bar()).not.toContain("of 2");
  });

  test("says that the agent has exited, and offers what it can", () => {
    expect(bar({ state: "exited" })).toBe("The agent has exited. Resume");
    expect(bar({ state: "exited", abilities: { resume: false } as SessionSummary["abilities"] & object })).toBe("The agent has exited. ");
    page.hub.mayControl = false;
    expect(bar({ state: "exited" })).toBe("");
    expect(bar({ followed: true })).toBe("Open in a terminal, and shown as it grows there.");
  });
});

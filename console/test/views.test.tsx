// @vitest-environment happy-dom
/** Views by the roles and names that people and screen readers meet, in a document without layout: no browser is needed. */
import type { AgentEvent } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Composer } from "../src/composer/composer.js";
import { Decide } from "../src/request/decide.js";
import { NewSession } from "../src/start/new_session.js";
import { RowView } from "../src/view/row.js";
import { Sidebar } from "../src/view/sidebar.js";
import { PlanView, TurnEnd } from "../src/view/speech.js";
import { ConnectionBar } from "../src/view/status.js";
import { button, buttons, clear, nameOf, Page, press, SESSION, write } from "./page.js";

let page: Page;
beforeEach(() => {
  page = new Page();
});
afterEach(clear);

test("a plan that is a list shows its entries, each with its state", () => {
  const items = [
    { description: "Write code", status: "completed" },
    { description: "Run tests", status: "in_progress" },
  ];
  page.happens({ type: "agent_plan", plan_content: "- [x] Write code\n- [-] Run tests", items });
  const row = page.live.conversation.rows.find((one) => one.kind === "plan");
  if (row?.kind !== "plan") throw new Error("no plan");
  page.show(<PlanView row={row} />);
  const entries = [...document.querySelectorAll("li")];
  expect(entries.map((entry) => entry.textContent)).toEqual(["Write code", "Run tests"]);
  expect(entries.map((entry) => entry.querySelector("[role=img]")?.getAttribute("aria-label"))).toEqual(["completed", "in progress"]);
});

describe("the list of sessions", () => {
  test("tells each by its title, state, agent and folder, those that wait first", () => {
    page.hub.sessions = [
      SESSION,
      { ...SESSION, session: "w", title: "Ask", pending: 2, state: "waiting" },
      { ...SESSION, session: "n", title: "red" },
    ];
    page.show(<Sidebar onMake={() => undefined} onFind={() => undefined} />);
    expect(document.querySelector("nav")?.getAttribute("aria-label")).toBe("Sessions");
    expect([...document.querySelectorAll("h2")].map(nameOf)).toEqual(["Waits for you", "red"]);
    expect([...document.querySelectorAll("a.session")].map((node) => node.textContent)).toEqual([
      "Ask2 requests · red · demo",
      "New session with demodemo",
      "Mend the doordemo",
    ]);
    expect(button("New session").className).toContain("primary");
  });
});

describe("the prompt field", () => {
  const field = () => document.querySelector<HTMLTextAreaElement>("textarea[aria-label=Prompt]") as HTMLTextAreaElement;

  test("sends with Enter, but not with the Enter that ends an input method's word", async () => {
    page.show(<Composer />);
    write(field(), "日本");
    await vi.waitFor(() => expect(button("Send").disabled).toBe(false));
    press(field(), "Enter", { keyCode: 229 });
    press(field(), "Enter", { isComposing: true });
    expect(page.sent).toEqual([]);
    press(field(), "Enter");
    await vi.waitFor(() => expect(page.sent.map(({ type }) => type)).toEqual(["prompt"]));
    expect(field().value).toBe("");
  });

  test("gives back a prompt whose reply was lost, and takes it out once the log says that it has arrived", async () => {
    const run = async (_: unknown, attempt: object) => void Object.assign(attempt, { id: "u", sent: "" });
    vi.spyOn(page.hub, "run").mockImplementation(run as typeof page.hub.run);
    page.show(<Composer />);
    write(field(), "Mend the door");
    await vi.waitFor(() => expect(button("Send").disabled).toBe(false));
    button("Send").click();
    await vi.waitFor(() => expect(page.live.unsure?.text).toBe("Mend the door"));
    await vi.waitFor(() => expect(field().value).toBe("Mend the door"));
    page.happens({ type: "user_message", text: "Mend the door", uuid: "u" });
    await vi.waitFor(() => expect(field().value).toBe(""));
    expect(page.live.unsure).toBeUndefined();
  });

  test("leaves alone what was written since a reply was lost", async () => {
    page.live.unsure = { attempt: { id: "u", sent: "" }, text: "Mend the door", files: [], comments: [] };
    page.show(<Composer />);
    write(field(), "Mend the door and the roof");
    page.happens({ type: "user_message", text: "Mend the door", uuid: "u" });
    await vi.waitFor(() => expect(page.live.unsure).toBeUndefined());
    expect(field().value).toBe("Mend the door and the roof");
  });

  test("is there also where what was kept is damaged", () => {
    sessionStorage.setItem("turnwire.history", "{");
    sessionStorage.setItem("turnwire.remarks.s", "[1");
    localStorage.setItem("turnwire.viewed", "no JSON");
    page = new Page();
    page.show(<Composer />);
    expect(field()).not.toBeNull();
  });

  test("asks what becomes of prompts that wait before it stops a turn", async () => {
    page.happens(
      { type: "turn_started", operation_id: "t", origin: "user" },
      { type: "queued", prompt: "u", position: 1 },
      { type: "user_message", text: "Then this", uuid: "u" },
    );
    HTMLDialogElement.prototype.showModal ??= () => undefined;
    page.show(<Composer />);
    button("Stop").click();
    await vi.waitFor(() => expect(document.querySelector("dialog")?.getAttribute("aria-label")).toBe("Stop the turn"));
    expect(page.sent).toEqual([]);
    page.answer = ({ type }) => (type === "prompt.withdraw" ? { withdrawn: true } : null);
    button("Stop, and take them back into the field").click();
    await vi.waitFor(() => expect(field().value).toBe("Then this"));
    expect(page.sent.map(({ type }) => type)).toEqual(["prompt.withdraw", "interrupt"]);
  });

  test("loses nothing of a prompt that is changed, and leaves alone one that was heard meanwhile", async () => {
    page.happens(
      { type: "turn_started", operation_id: "t", origin: "user" },
      { type: "queued", prompt: "u", position: 1 },
      { type: "user_message", text: "Then this", uuid: "u" },
    );
    page.show(<Composer />);
    write(field(), "half");
    page.answer = () => ({ withdrawn: false });
    button("Change this prompt").click();
    await vi.waitFor(() => expect(page.sent.length).toBe(1));
    expect(field().value).toBe("half");
    page.answer = () => ({ withdrawn: true });
    await vi.waitFor(() => expect(button("Change this prompt").disabled).toBe(false));
    button("Change this prompt").click();
    await vi.waitFor(() => expect(field().value).toBe("Then this\n\nhalf"));
  });
});

test("a control that nobody can see never decides, however often it is pressed", async () => {
  const decided = vi.fn();
  page.show(
    <Decide className="primary" meaning="allow" onDecide={decided}>
      Allow
    </Decide>,
  );
  for (let n = 0; n < 5; n += 1) button("Allow").click();
  expect(button("Allow").getAttribute("aria-disabled")).toBe("true");
  expect(decided).not.toHaveBeenCalled();
});

describe("rows of the conversation", () => {
  const output = (status: "complete" | "error"): AgentEvent => ({
    type: "tool_update",
    tool_call_id: status,
    tool_name: "Bash",
    tool_status: status,
    normalized: {
      kind: "shell_exec",
      renderer: "tool_execute",
      shell_exec: { command: "ls", output: { exit_code: status === "error" ? 2 : 0, stdout: "a\n" } },
    },
  });

  test("tell a command once, and what became of it only where it is not done", () => {
    page.happens(output("complete"));
    page.show(page.live.conversation.rows.map((row) => <RowView key={row.key} row={row} />));
    expect(document.querySelector("article")?.getAttribute("aria-label")).toBe("Run ls");
    expect(document.body.textContent).not.toContain("done");
    expect(document.body.textContent?.match(/ls/g)?.length).toBe(1);
    expect(buttons()).toContain("Copy standard output");
    page.happens(output("error"));
    page.show(page.live.conversation.rows.map((row) => <RowView key={row.key} row={row} />));
    expect(document.querySelector(".badge")?.textContent).toBe("failed");
  });

  test("offer to try again a turn that failed last, and no other", () => {
    const turn = (id: string, outcome: "completed" | "error"): AgentEvent[] => [
      { type: "turn_started", operation_id: id, origin: "user" },
      { type: "complete", operation_id: id, data: { outcome, is_error: outcome === "error", duration_ms: 5 } } as AgentEvent,
    ];
    page.happens(...turn("a", "error"), ...turn("b", "error"));
    page.show(page.live.conversation.rows.map((row) => row.kind === "end" && <TurnEnd key={row.key} row={row} />));
    expect(buttons()).toEqual(["Retry"]);
    page.happens(...turn("c", "completed"));
    page.show(page.live.conversation.rows.map((row) => row.kind === "end" && <TurnEnd key={row.key} row={row} />));
    expect(buttons()).toEqual([]);
  });
});

test("a page that is older than turnwire asks to be loaded again", () => {
  page.show(<ConnectionBar />);
  expect(buttons()).toEqual([]);
  page.hub.newer = "2";
  page.show(<ConnectionBar key="again" />);
  expect(document.querySelector("[role=status]")?.textContent).toContain("turnwire 2 runs now");
  expect(buttons()).toEqual(["Reload"]);
});

describe("the dialog for a new session", () => {
  beforeEach(() => {
    HTMLDialogElement.prototype.showModal ??= () => undefined;
  });

  test("sends what was chosen, once, however often Start is pressed", async () => {
    page.answer = ({ type }) => (type === "session.create" ? { session: "n" } : null);
    page.show(<NewSession onClose={() => undefined} />);
    write(document.querySelector("textarea") as HTMLTextAreaElement, "Mend it");
    await vi.waitFor(() => expect(sessionStorage.length).toBe(1));
    const form = document.querySelector("form") as HTMLFormElement;
    for (let n = 0; n < 3; n += 1) form.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await vi.waitFor(() => expect(page.hub.select).toHaveBeenCalledWith("n"));
    expect(page.sent).toEqual([{ type: "session.create", prompt: "Mend it" }]);
  });

  test("keeps what was written for the next time, and says modes in words", async () => {
    page.show(<NewSession onClose={() => undefined} />);
    write(document.querySelector("textarea") as HTMLTextAreaElement, "Mend it");
    page.show(null);
    page.show(<NewSession onClose={() => undefined} />);
    expect(document.querySelector("textarea")?.value).toBe("Mend it");
    expect([...document.querySelectorAll("option")].map((node) => node.textContent)).toEqual(
      expect.arrayContaining(["Ask", "Ask nothing", "Approve everything"]),
    );
    expect(document.body.textContent).not.toContain("bypassPermissions");
  });
});

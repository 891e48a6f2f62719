// @vitest-environment happy-dom
/** What waits for a person: what the dock says of it, which answers it offers, when they decide, and what is sent. */
import { render } from "preact";
import type { AgentEvent } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RequestDock } from "../src/request/dock.js";
import { layOut, makeLong, outOfSight, pass, tap } from "./layout.js";
import { button, buttons, clear, Page, press, write } from "./page.js";

type Asked = Extract<AgentEvent, { type: "permission_request" }>;

const ONCE: Asked["permission_options"] = [
  { option_id: "yes", name: "Allow", kind: "allow_once" },
  { option_id: "no", name: "Reject", kind: "reject_once" },
];

const command = (pending_id: string, text: string, more: Partial<Asked> = {}): Asked => ({
  type: "permission_request",
  pending_id,
  permission_title: text,
  permission_options: ONCE,
  action_type: "command",
  tool_name: "Bash",
  tool_input: { command: text },
  normalized: { kind: "shell_exec", renderer: "tool_execute", shell_exec: { command: text } },
  ...more,
});

let page: Page;

beforeEach(() => {
  vi.useFakeTimers();
  layOut();
  page = new Page();
});
afterEach(async () => {
  render(null, document.body);
  // Preact keeps what it has not done yet from one test to the next.
  await pass(1000);
  clear();
  vi.useRealTimers();
});

/** Shows the dock, and lets what it asks stand there until it can be decided on. */
async function asked(...events: AgentEvent[]): Promise<void> {
  page.happens(...events);
  page.show(<RequestDock />);
  await pass(1500);
}
const title = () => document.querySelector(".request h2")?.textContent;
const text = () => document.querySelector(".request")?.textContent ?? "";
const form = () => document.querySelector<HTMLElement>(".request-form") as HTMLElement;
const note = () => document.querySelector<HTMLInputElement>("input.message") as HTMLInputElement;
/** Buttons that decide, in their order, without the keys that stand for them. */
const decides = () => [...document.querySelectorAll<HTMLElement>("[data-option]")].map((node) => node.dataset.option);
const isBlocked = (name: string) => button(name).getAttribute("aria-disabled") === "true";

describe("a permission", () => {
  test("says what would run, and is answered by a click once it has stood for a while", async () => {
    page.happens(command("p", "rm -r build"));
    page.show(<RequestDock />);
    await pass(300);
    expect(title()).toBe("May the agent run this command?");
    expect(document.querySelector(".request .code")?.textContent).toContain("rm -r build");
    expect(document.querySelector("[role=status]")?.textContent).toBe("May the agent run this command?");
    await tap("Allow 1");
    expect(page.sent).toEqual([]);
    await pass(1200);
    await tap("Allow 1");
    await tap("Allow 1");
    expect(page.sent).toEqual([{ type: "permission.respond", session: "s", pending_id: "p", option_id: "yes" }]);
  });

  test("is not answered by a press, of the pointer or a key, that began too early", async () => {
    page.happens(command("p", "ls"));
    page.show(<RequestDock />);
    await pass(300);
    button("Allow 1").dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
    await pass(1500);
    button("Allow 1").dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
    await pass(0);
    expect(page.sent).toEqual([]);
    press(button("Allow 1"), "Enter", { repeat: true });
    button("Allow 1").click();
    await pass(0);
    expect(page.sent).toEqual([]);
    await tap("Allow 1");
    expect(page.sent).toMatchObject([{ option_id: "yes" }]);
  });

  test("keeps its note and its edit when a program writes both at once", async () => {
    await asked(command("p", "rm -r build"));
    button("Edit input e").click();
    await pass(0);
    write(document.querySelector(".edit textarea") as HTMLTextAreaElement, "rm -r dist");
    write(note(), "not the other one");
    await pass(1500);
    await tap("Allow 1");
    expect(page.sent).toMatchObject([{ updated_input: { command: "rm -r dist" } }, { type: "prompt", text: "not the other one" }]);
  });

  test("that is long, and of which the end is not in sight, is not allowed; a refusal needs no end", async () => {
    makeLong();
    outOfSight.add(".request-body *");
    await asked(command("p", "rm -r build"));
    expect(text()).toContain("You have not seen the end of this.");
    await tap("Allow 1");
    expect(page.sent).toEqual([]);
    await tap("Deny 2");
    expect(page.sent).toMatchObject([{ option_id: "no" }]);
  });

  test("that is short needs no proof that it was read, in however small a window", async () => {
    outOfSight.add(".request-body *");
    await asked(command("p", "rm -r build"));
    expect(buttons()).not.toContain("Allow unseen");
    await tap("Allow 1");
    expect(page.sent).toMatchObject([{ option_id: "yes" }]);
  });

  test("is allowed unseen by the button that says so, as it is edited by then", async () => {
    makeLong();
    outOfSight.add(".request-body *");
    await asked(command("p", "rm -r build"));
    button("Edit input e").click();
    await pass(0);
    write(document.querySelector(".edit textarea") as HTMLTextAreaElement, "rm -r dist");
    await pass(1500);
    await tap("Allow 1");
    expect(page.sent).toEqual([]);
    await tap("Allow unseen");
    expect(buttons()).not.toContain("Allow unseen");
    expect(page.sent).toMatchObject([{ option_id: "yes", updated_input: { command: "rm -r dist" } }]);
  });

  test("is remembered unseen by a button that says that", async () => {
    makeLong();
    outOfSight.add(".request-body > :not(.remember)").add(".request-body > :not(.remember) *");
    const offered = [
      { option_id: "no", name: "Reject", kind: "reject_once" },
      { option_id: "always", name: "Always", kind: "allow_always", destination: "session" },
    ] as Asked["permission_options"];
    await asked(command("p", "ls", { permission_options: offered }));
    // Nothing allows it once.
    expect(buttons()).not.toContain("Allow unseen");
    button("Always …").click();
    await pass(0);
    document.querySelector<HTMLInputElement>("input[type=radio]")?.click();
    await pass(1500);
    expect(isBlocked("Allow, and remember it")).toBe(true);
    await tap("Allow unseen, and remember it");
    expect(page.sent).toMatchObject([{ option_id: "always" }]);
  });

  test("sends a note with a refusal as its reason, and with an approval as a prompt", async () => {
    await asked(command("p", "ls"));
    write(note(), "not here");
    await pass(0);
    await tap("Deny 2");
    expect(page.sent).toEqual([{ type: "permission.respond", session: "s", pending_id: "p", option_id: "no", message: "not here" }]);
    page.happens({ type: "permission_resolved", pending_id: "p", behavior: "deny" } as AgentEvent);
    page.sent.length = 0;
    await asked(command("q", "ls"));
    write(note(), "and then test");
    await pass(0);
    await tap("Allow 1");
    expect(page.sent).toEqual([
      { type: "permission.respond", session: "s", pending_id: "q", option_id: "yes" },
      { type: "prompt", session: "s", text: "and then test", priority: "next" },
    ]);
  });

  test("that could not be sent can be answered again", async () => {
    await asked(command("p", "ls"));
    page.answer = () => undefined;
    await tap("Allow 1");
    await pass(1500);
    page.answer = () => null;
    await tap("Allow 1");
    expect(page.sent.length).toBe(2);
  });

  test("of which nobody knows what came says so after two seconds", async () => {
    await asked(command("p", "ls"));
    page.answer = () => new Promise(() => undefined);
    await tap("Allow 1");
    await pass(1900);
    expect(text()).not.toContain("has not arrived");
    await pass(200);
    expect(text()).toContain("This has not arrived yet: the connection does not respond.");
  });

  test("has its refusal second, however much an agent offers, and what is remembered apart", async () => {
    const offered = [
      { option_id: "a1", name: "Allow", kind: "allow_once" },
      { option_id: "a2", name: "Allow all edits of this turn", kind: "allow_once" },
      { option_id: "aa", name: "Always", kind: "allow_always", remembers: [{ rule: "Bash(ls:*)", destination: "session" }] },
      { option_id: "r", name: "Reject", kind: "reject_once" },
    ] as Asked["permission_options"];
    await asked(command("p", "ls", { permission_options: offered }));
    expect(decides()).toEqual(["a1", "r", "a2"]);
    expect(text()).not.toContain("Bash(ls:*)");
  });

  test("that is remembered is confirmed with the rule and how far it reaches", async () => {
    const offered = [
      ...ONCE,
      {
        option_id: "always:project",
        name: "Always",
        kind: "allow_always",
        destination: "localSettings",
        remembers: [{ rule: "Bash(ls:*)", destination: "localSettings", file: ".claude/settings.local.json" }],
      },
    ] as Asked["permission_options"];
    await asked(command("p", "ls", { permission_options: offered }));
    button("Always …").click();
    await pass(1500);
    expect(decides()).toEqual([]);
    document.querySelector<HTMLInputElement>("input[type=radio]")?.click();
    await pass(1500);
    expect(document.querySelector("[aria-label='What is remembered']")?.textContent).toBe(
      "In this project, for me Bash(ls:*) written to .claude/settings.local.json",
    );
    await tap("Allow, and remember it");
    expect(page.sent).toMatchObject([{ option_id: "always:project" }]);
  });

  test("can be allowed with another input, which is checked before it is sent", async () => {
    await asked(command("p", "ls"));
    button("Edit input e").click();
    await pass(1500);
    const field = document.querySelector<HTMLTextAreaElement>(".request textarea") as HTMLTextAreaElement;
    expect(field.value).toContain("ls");
    expect(document.activeElement).toBe(field);
    write(field, "ls -l");
    await pass(1500);
    await tap("Allow 1");
    expect(page.sent).toMatchObject([{ option_id: "yes", updated_input: { command: "ls -l" } }]);
  });

  test("tells where a path is that it concerns", async () => {
    await asked(command("p", "cat x", { blocked_path: "/etc/passwd" }));
    expect(text()).toContain("Outside of the session’s folder: /etc/passwd");
    page.happens({ type: "permission_resolved", pending_id: "p", behavior: "deny" } as AgentEvent);
    await asked(command("q", "cat x", { blocked_path: "/srv/red/x" }));
    expect(text()).toContain("In the session’s folder: /srv/red/x");
  });

  test("is not answered by who may only watch", async () => {
    page.hub.mayControl = false;
    await asked(command("p", "ls"));
    expect(text()).toContain("You may watch this session, but not answer for it.");
    expect(decides()).toEqual([]);
  });
});

describe("keys", () => {
  test("answer on the dialog itself, after a rest, and by the order of the buttons", async () => {
    await asked(command("p", "ls"));
    form().focus();
    await pass(1500);
    press(form(), "1", { repeat: true });
    press(form(), "3");
    press(form(), "1", { ctrlKey: true });
    // The third key wrote: what follows at once is not meant for the dialog.
    press(form(), "2");
    await pass(0);
    expect(page.sent).toEqual([]);
    await pass(500);
    press(form(), "2");
    await pass(0);
    expect(page.sent).toMatchObject([{ option_id: "no" }]);
  });

  test("that are typed into a note answer nothing; Ctrl+Enter there refuses with it", async () => {
    await asked(command("p", "ls"));
    press(note(), "1");
    await pass(0);
    expect(page.sent).toEqual([]);
    write(note(), "no");
    await pass(1500);
    press(note(), "Enter", { ctrlKey: true });
    await pass(0);
    expect(page.sent).toMatchObject([{ option_id: "no", message: "no" }]);
  });

  test("of a person who is typing elsewhere answer nothing when a request arrives", async () => {
    const field = document.createElement("textarea");
    document.documentElement.append(field);
    page.show(<RequestDock />);
    await pass(0);
    field.focus();
    press(field, "a");
    page.happens(command("p", "ls"));
    await pass(1500);
    expect(document.activeElement).toBe(field);
    press(field, "1");
    await pass(0);
    expect(page.sent).toEqual([]);
    field.remove();
  });

  test("of the step that remembers a rule stand for no button", async () => {
    const offered = [
      ...ONCE,
      { option_id: "always", name: "Always", kind: "allow_always", destination: "session" },
    ] as Asked["permission_options"];
    await asked(command("p", "ls", { permission_options: offered }));
    button("Always …").click();
    await pass(1500);
    document.querySelector<HTMLInputElement>("input[type=radio]")?.click();
    form().focus();
    await pass(1500);
    for (const key of ["1", "2", "3"]) {
      press(form(), key);
      await pass(1000);
    }
    expect(page.sent).toEqual([]);
    await tap("Allow, and remember it");
    expect(page.sent).toMatchObject([{ option_id: "always" }]);
  });

  test("a request never takes the focus, also where nobody has it", async () => {
    await asked(command("p", "ls"));
    expect(document.activeElement).toBe(document.body);
    page.happens({ type: "permission_resolved", pending_id: "p", behavior: "allow" } as AgentEvent, command("q", "ls"));
    await pass(1500);
    expect(document.activeElement).toBe(document.body);
  });

  test.each(["the form", "a button", "the note"])("of who had the focus in %s of a request decide nothing of the next", async (where) => {
    await asked(command("p", "one"), command("q", "two"));
    const had = where === "the form" ? form() : where === "the note" ? note() : button("Allow 1");
    had.focus();
    page.happens({ type: "permission_resolved", pending_id: "p", behavior: "allow" } as AgentEvent);
    await pass(1500);
    const dock = document.querySelector(".dock") as HTMLElement;
    expect(document.activeElement).toBe(dock);
    for (const key of ["1", "2", "e", "Enter", " "]) {
      press(dock, key);
      press(dock, key, { ctrlKey: true });
      await pass(1000);
    }
    expect(page.sent).toEqual([]);
    expect(document.querySelector(".edit")).toBeNull();
    // Nor is the focus lost when nothing waits any more.
    const conversation = Object.assign(document.createElement("div"), { className: "scroller", tabIndex: 0 });
    conversation.setAttribute("aria-label", "Conversation");
    document.body.append(conversation);
    page.happens({ type: "permission_resolved", pending_id: "q", behavior: "allow" } as AgentEvent);
    await pass(0);
    expect(document.activeElement).toBe(conversation);
  });

  test("stay on the button that goes from one request to the next", async () => {
    await asked(command("p", "one"), command("q", "two"));
    button("The next request").focus();
    button("The next request").click();
    await pass(0);
    expect(document.activeElement).toBe(button("The next request"));
    expect(text()).toContain("two");
  });

  test("of the form decide nothing once a step in it was gone back from", async () => {
    const offered = [...ONCE, { option_id: "always", name: "Always", kind: "allow_always" }] as Asked["permission_options"];
    await asked(command("p", "ls", { permission_options: offered }));
    for (const name of ["Always …", "Back"]) {
      button(name).focus();
      button(name).click();
      await pass(1500);
    }
    const at = document.activeElement as HTMLElement;
    expect(at.className).toBe("request-body");
    press(at, "1");
    await pass(0);
    expect(page.sent).toEqual([]);
  });
});

describe("several requests", () => {
  test("are shown one at a time, and the one in sight stays until it is answered", async () => {
    await asked(command("p", "one"), command("q", "two"));
    expect(document.querySelector(".place")?.textContent).toBe("1 of 2");
    button("The next request").click();
    await pass(1500);
    expect(text()).toContain("two");
    page.happens(command("r", "three"));
    await pass(1500);
    expect(document.querySelector(".place")?.textContent).toBe("2 of 3");
    page.happens({ type: "permission_resolved", pending_id: "p", behavior: "allow" } as AgentEvent);
    await pass(1500);
    expect(text()).toContain("two");
    await tap("Allow 1");
    expect(page.sent).toMatchObject([{ pending_id: "q" }]);
    page.happens({ type: "permission_resolved", pending_id: "q", behavior: "allow" } as AgentEvent);
    await pass(1500);
    expect(text()).toContain("three");
    expect(document.querySelector(".place")).toBeNull();
  });

  test("a click that comes as the next one appears answers nothing", async () => {
    await asked(command("p", "one"), command("q", "two"));
    page.happens({ type: "permission_resolved", pending_id: "p", behavior: "allow" } as AgentEvent);
    await pass(100);
    await tap("Allow 1");
    expect(page.sent).toEqual([]);
  });
});

describe("a question", () => {
  const question: AgentEvent = {
    type: "question_request",
    pending_id: "q",
    kind: "ask_user",
    questions: [
      {
        question: "Which colour?",
        header: "Colour",
        multi_select: false,
        options: [{ label: "Red" }, { label: "Blue", description: "as the sky" }],
      },
      { question: "Which rooms?", multi_select: true, options: [{ label: "Hall" }, { label: "Bath" }] },
    ],
  } as AgentEvent;
  const pick = async (label: string) => {
    const found = [...document.querySelectorAll("label.choice")].find((node) => node.querySelector("b")?.textContent === label);
    found?.querySelector("input")?.click();
    await pass(0);
  };

  test("is answered once each part has an answer: chosen, several, or in own words", async () => {
    await asked(question);
    expect(title()).toBe("The agent has questions");
    expect([...document.querySelectorAll("legend")].map((node) => node.textContent)).toEqual(["Colour Which colour?", " Which rooms?"]);
    await pick("Blue");
    await pick("Red");
    expect(isBlocked("Answer")).toBe(true);
    await pick("Hall");
    await pick("Bath");
    await pick("Hall");
    write(document.querySelectorAll<HTMLInputElement>("label.message input")[1] as HTMLInputElement, " the roof ");
    await pass(1500);
    await tap("Answer");
    expect(page.sent).toEqual([
      {
        type: "question.answer",
        session: "s",
        pending_id: "q",
        answers: { "Which colour?": "Red", "Which rooms?": "Bath, the roof" },
        action: "accept",
      },
    ]);
  });

  test("keeps all fields that a program fills in at once", async () => {
    await asked(question);
    for (const choice of document.querySelectorAll<HTMLInputElement>("label.choice input")) if (choice.type === "checkbox") choice.click();
    const [colour, rooms] = document.querySelectorAll<HTMLInputElement>("label.message input");
    write(colour as HTMLInputElement, "green");
    write(rooms as HTMLInputElement, "the roof");
    await pass(1500);
    await tap("Answer");
    expect(page.sent).toMatchObject([{ answers: { "Which colour?": "green", "Which rooms?": "Hall, Bath, the roof" } }]);
  });

  test("takes own words in the place of a choice, and a choice in the place of own words", async () => {
    await asked(question);
    await pick("Red");
    const own = document.querySelectorAll<HTMLInputElement>("label.message input")[0] as HTMLInputElement;
    write(own, "green");
    await pass(0);
    expect(document.querySelectorAll("input[type=radio]:checked").length).toBe(0);
    await pick("Blue");
    expect(own.value).toBe("");
  });

  test("can be denied without an answer", async () => {
    await asked(question);
    await tap("Deny");
    expect(page.sent).toEqual([{ type: "question.answer", session: "s", pending_id: "q", action: "decline" }]);
  });
});

describe("what a server asks for", () => {
  const elicited = (more: object): AgentEvent =>
    ({ type: "question_request", pending_id: "e", kind: "elicitation", message: "Who are you?", ...more }) as unknown as AgentEvent;

  test("by a schema is a form, of which the values are sent by their types", async () => {
    const requested_schema = {
      type: "object",
      properties: {
        name: { type: "string", title: "Your name" },
        age: { type: "integer" },
        loud: { type: "boolean", default: true },
        size: { type: "string", enum: ["S", "L"] },
        odd: { type: "object" },
      },
    };
    await asked(elicited({ requested_schema }));
    expect([...document.querySelectorAll(".request-body label > span")].map((node) => node.textContent)).toEqual([
      "Your name",
      "age",
      "loud",
      "size",
    ]);
    write(document.querySelector("input[type=text]") as HTMLInputElement, "Ada");
    write(document.querySelector("input[type=number]") as HTMLInputElement, "36");
    await pass(1500);
    await tap("Accept");
    expect(page.sent).toMatchObject([{ action: "accept", content: { name: "Ada", age: 36, loud: true } }]);
  });

  test("without a schema is answered as JSON, and says what is wrong with it", async () => {
    await asked(elicited({}));
    const field = document.querySelector("textarea") as HTMLTextAreaElement;
    write(field, "{");
    await pass(1500);
    await tap("Accept");
    expect(document.querySelector("[role=alert]")?.textContent).toMatch(
      /^This is not JSON yet: .* Correct it, or leave the field empty\.$/,
    );
    write(field, '{"a": 1}');
    await pass(1500);
    await tap("Accept");
    expect(page.sent).toMatchObject([{ action: "accept", content: { a: 1 } }]);
  });

  test("at an address leads there only where that is one of the web", async () => {
    await asked(elicited({ url: "https://login.test/x" }));
    expect(document.querySelector(".request a")?.getAttribute("href")).toBe("https://login.test/x");
    await tap("Cancel");
    expect(page.sent).toMatchObject([{ action: "cancel" }]);
    page.happens({ type: "permission_resolved", pending_id: "e", behavior: "answer" } as AgentEvent);
    await asked({ ...elicited({ url: "javascript:alert(1)" }), pending_id: "f" } as AgentEvent);
    expect(document.querySelector(".request a")).toBeNull();
    expect(text()).toContain("javascript:alert(1)");
  });
});

test("a plan that is sent back takes what was said of its lines with it", async () => {
  const plan = {
    ...command("p", "Plan"),
    action_type: "plan",
    tool_name: "ExitPlanMode",
    normalized: { kind: "show_plan", renderer: "tool_plan", show_plan: { plan: "1. Paint" } },
  } as unknown as AgentEvent;
  await asked(plan);
  expect(title()).toBe("The agent’s plan waits for your approval");
  expect(text()).toContain("Paint");
  write(note(), "Paint it blue");
  await pass(1500);
  await tap(buttons().find((name) => name.endsWith("2")) as string);
  expect(page.sent).toMatchObject([{ option_id: "no", message: "Paint it blue" }]);
});

test("a plan that is a list shows its entries in the request, each with its state", async () => {
  const show_plan = { kind: "show_plan", renderer: "tool_plan", show_plan: {} };
  const items = [
    { description: "Write code", status: "completed" },
    { description: "Run tests", status: "in_progress" },
  ];
  await asked(
    { type: "tool_call", tool_call_id: "t", tool_name: "ExitPlanMode", tool_status: "running", normalized: show_plan } as AgentEvent,
    { type: "agent_plan", tool_call_id: "t", plan_content: "- [x] Write code\n- [-] Run tests", items } as AgentEvent,
    {
      ...command("p", "Plan"),
      tool_call_id: "t",
      action_type: "plan",
      tool_name: "ExitPlanMode",
      normalized: show_plan,
    } as unknown as AgentEvent,
  );
  const entries = [...document.querySelectorAll(".request li")];
  expect(entries.map((entry) => entry.textContent)).toEqual(["Write code", "Run tests"]);
  expect(entries.map((entry) => entry.querySelector("[role=img]")?.getAttribute("aria-label"))).toEqual(["completed", "in progress"]);
  expect(text()).not.toContain("[-]");
});

// @vitest-environment happy-dom
/** The whole page on a hub that answers: the door, the connection, what the address names, the keys, the dialogs, the list. */
import { render } from "preact";
import type { SessionSummary } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { App } from "../src/app.js";
import { ConsoleState } from "../src/state/console_state.js";
import { FakeHub, WRONG_TOKEN } from "./hub.js";
import { button, buttons, clear, press, SESSION, write } from "./page.js";

const session = (name: string, more: Partial<SessionSummary> = {}): SessionSummary => ({ ...SESSION, session: name, title: name, ...more });

/** Waits until it holds. */
const eventually = (holds: () => void) => vi.waitFor(holds, { interval: 5, timeout: 60_000 });
/** Lets what is to be done at once be done; a client tries again by itself later. */
const tick = () => new Promise((done) => queueMicrotask(() => queueMicrotask(() => done(undefined))));

let hub: FakeHub;
let state: ConsoleState;

/** Opens the page at an address, and waits until it stands. */
async function open(hash = ""): Promise<void> {
  location.hash = hash;
  state = new ConsoleState("ws://hub.test/ws", "console");
  render(<App hub={state} />, document.body);
  if (hub.up && !hub.refusal) await eventually(() => expect(state.state).toBe("open"));
}

const said = () => [...document.querySelectorAll("main [role=status], main [role=alert]")].map((node) => node.textContent);
const heading = () => document.querySelector("h1")?.textContent;
const dialog = () => document.querySelector("dialog")?.getAttribute("aria-label");
const links = () => [...document.querySelectorAll("nav a.session")].map((node) => node.querySelector(".title")?.textContent);
const prompt = () => document.querySelector<HTMLTextAreaElement>("textarea[aria-label=Prompt]");
/** Waits until what was drawn last hears keys, too: Preact has its effects run after the frame. */
const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => setTimeout(done))));
async function shows(title: string): Promise<void> {
  await eventually(() => expect(heading()).toBe(title));
  await drawn();
}

beforeEach(() => {
  hub = new FakeHub();
  hub.sessions = [session("old"), session("new")];
  HTMLDialogElement.prototype.showModal ??= () => undefined;
});
afterEach(() => {
  state.client.close();
  clear();
});

describe("the connection", () => {
  test("is told while there is none, tried at once where that is asked for, and goes on where it was", async () => {
    await open();
    await shows("new");
    hub.up = false;
    hub.cut();
    await eventually(() => expect(said()).toContain("The connection is lost. What you see may be old; trying again …Try now"));
    expect(links()).toEqual(["new", "old"]);
    const tried = hub.connections;
    hub.up = true;
    button("Try now").click();
    await tick();
    expect(hub.connections).toBe(tried + 1);
    await eventually(() => expect(said().filter((words) => words?.includes("connection"))).toEqual([]));
    expect(heading()).toBe("new");
  });

  test("is tried as soon as the browser is online again", async () => {
    await open();
    await shows("new");
    hub.up = false;
    hub.cut();
    await eventually(() => expect(state.state).toBe("connecting"));
    hub.up = true;
    const tried = hub.connections;
    dispatchEvent(new Event("online"));
    await tick();
    expect(hub.connections).toBe(tried + 1);
    await eventually(() => expect(state.state).toBe("open"));
  });

  test("that never was is no lost one", async () => {
    hub.up = false;
    await open();
    await eventually(() => expect(said()).toEqual(["Connecting …Try now"]));
    expect(document.querySelector(".tour, .sidebar .primary")).toBeNull();
  });

  test("to something that is no hub of ours fails, and lets nobody try a token", async () => {
    await open();
    await shows("new");
    hub.say({ type: "welcome", protocol: "turnwire.v1", epoch: "e", version: "1", role: "control", sessions: [] });
    await eventually(() => expect(said()).toContain("The hub said welcome twice. Reload the page to try again."));
    expect(document.querySelector("input[type=password]")).toBeNull();
  });

  test("to a hub of another version asks for a reload", async () => {
    await open();
    await shows("new");
    hub.welcome.version = "2";
    hub.cut();
    await eventually(() => expect(button("Try now")).toBeDefined());
    button("Try now").click();
    await eventually(() => expect(said().join()).toContain("turnwire 2 runs now, and this page is older."));
    const reload = vi.spyOn(location, "reload").mockImplementation(() => undefined);
    button("Reload").click();
    expect(reload).toHaveBeenCalledOnce();
  });
});

describe("the door", () => {
  test("says why, and lets in who has a token", async () => {
    hub.refusal = { code: WRONG_TOKEN, reason: "the token is wrong" };
    await open();
    await eventually(() => expect(heading()).toBe("turnwire"));
    expect(document.body.textContent).toContain("Open the address that turnwire printed, or paste the token here.");
    expect(document.body.textContent).toMatch(/token is wrong/);
    expect(document.querySelector("nav")).toBeNull();
    const asked = vi.fn(async (..._: unknown[]) => new Response(JSON.stringify({ key: "k1" })));
    vi.stubGlobal("fetch", asked);
    const reload = vi.spyOn(location, "reload").mockImplementation(() => undefined);
    write(document.querySelector("input") as HTMLInputElement, "  a-token ");
    await eventually(() => expect(document.querySelector("input")?.value).toBe("  a-token "));
    button("Open").click();
    await eventually(() => expect(reload).toHaveBeenCalledOnce());
    expect(asked.mock.calls[0]?.[1]).toMatchObject({ method: "POST", headers: { authorization: "Bearer a-token" } });
  });

  test("is shut behind who logs out", async () => {
    await open();
    await shows("new");
    const asked = vi.fn(async (..._: unknown[]) => new Response(""));
    vi.stubGlobal("fetch", asked);
    const reload = vi.spyOn(location, "reload").mockImplementation(() => undefined);
    press(document.body, "k", { ctrlKey: true });
    await eventually(() => expect(dialog()).toBeDefined());
    const field = document.querySelector("dialog input") as HTMLInputElement;
    write(field, "log out");
    await eventually(() => expect(document.querySelectorAll("[role=option]").length).toBe(1));
    press(field, "Enter");
    await eventually(() => expect(reload).toHaveBeenCalledOnce());
    expect(String(asked.mock.calls[0]?.[0])).toMatch(/\/logout$/);
  });
});

describe("the address", () => {
  test("without a session shows the newest, and with one that session", async () => {
    await open();
    await shows("new");
    location.hash = "#/s/old";
    await shows("old");
    expect(document.querySelector("nav a[aria-current=page] .title")?.textContent).toBe("old");
  });

  test("of a session that is not here says so, and leads to the newest", async () => {
    await open("#/s/gone%20one");
    await eventually(() =>
      expect(document.querySelector("main .empty p")?.textContent).toBe(
        "The session gone one is not here: it was deleted, or belongs to another turnwire.",
      ),
    );
    expect(prompt()).toBeNull();
    button("Open the newest session").click();
    await shows("new");
    expect(location.hash).toBe("#/s/new");
  });

  test("of a session that is deleted while it is read says so, too", async () => {
    await open("#/s/old");
    await shows("old");
    hub.list(session("new"));
    await eventually(() => expect(document.body.textContent).toContain("The session old is not here"));
    expect(links()).toEqual(["new"]);
  });

  test("of History and Usage shows these, and Back the session", async () => {
    await open("#/s/old");
    await shows("old");
    for (const [hash, title] of [
      ["#/history", "History"],
      ["#/history/violet", "Search"],
      ["#/usage", "Usage"],
    ] as const) {
      location.hash = hash;
      await shows(title);
      expect(prompt()).toBeNull();
      // Who reads by ear goes on at the page's own heading.
      if (title !== "Search") await eventually(() => expect(document.activeElement?.textContent).toBe(title));
    }
    location.hash = "#/s/old";
    await shows("old");
    expect(prompt()).not.toBeNull();
  });

  test("of a hub without sessions shows how to begin", async () => {
    hub.sessions = [];
    await open();
    await eventually(() => expect(buttons().filter((name) => name.includes("session")).length).toBeGreaterThan(1));
    expect(heading()).not.toBe("new");
    expect(document.querySelector("main")?.textContent).not.toContain("is not here");
  });
});

describe("keys", () => {
  test("open the palette, also out of a field; the list of keys only elsewhere", async () => {
    await open();
    await shows("new");
    press(prompt() as Element, "?");
    press(document.body, "k");
    await Promise.resolve();
    expect(dialog()).toBeUndefined();
    press(prompt() as Element, "k", { ctrlKey: true });
    await eventually(() => expect(document.querySelector("dialog [role=option]")).not.toBeNull());
    document.querySelector("dialog")?.dispatchEvent(new Event("close"));
    await eventually(() => expect(dialog()).toBeUndefined());
    press(document.body, "?");
    await eventually(() => expect(dialog()).toBe("Keys"));
  });

  test("lead to the prompt, and open and close the inspector", async () => {
    await open();
    await shows("new");
    expect(document.activeElement).not.toBe(prompt());
    press(document.body, "c", { altKey: true, code: "KeyC" });
    expect(document.activeElement).toBe(prompt());
    press(document.body, "i", { altKey: true, code: "KeyI" });
    await eventually(() => expect(document.querySelector("[role=tab]")).not.toBeNull());
    press(document.body, "i", { altKey: true, ctrlKey: true, code: "KeyI" });
    expect(document.querySelector("[role=tab]")).not.toBeNull();
    press(document.body, "i", { altKey: true, code: "KeyI" });
    await eventually(() => expect(document.querySelector("aside")).toBeNull());
  });
});

describe("the menu of a narrow page", () => {
  const isOpen = () => document.querySelector(".page")?.classList.contains("menu-open");

  test("closes at Escape, at a touch beside it, and once another session is shown", async () => {
    await open();
    await shows("new");
    for (const close of [() => press(document.body, "Escape"), () => button("Close the menu").click(), () => state.select("old")]) {
      button("Sessions").click();
      await eventually(() => expect(isOpen()).toBe(true));
      await drawn();
      close();
      await eventually(() => expect(isOpen()).toBe(false));
    }
  });
});

describe("a new session", () => {
  test("is begun in a dialog, and shown once it is there", async () => {
    hub.answers["session.create"] = () => {
      queueMicrotask(() => hub.list(session("old"), session("new"), session("made")));
      return { session: "made" };
    };
    await open();
    await shows("new");
    button("New session").click();
    await eventually(() => expect(dialog()).toBe("New session"));
    write(document.querySelector("dialog textarea") as HTMLTextAreaElement, "Mend it");
    await eventually(() => expect(sessionStorage.length).toBe(1));
    document.querySelector("dialog form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await shows("made");
    expect(dialog()).toBeUndefined();
    expect(hub.sent("session.create")).toMatchObject([{ prompt: "Mend it" }]);
  });

  test.each([
    ["who may only watch", { role: "view" }],
    ["a page that plays recordings", { agents: undefined }],
  ])("is not offered to %s", async (_, welcome) => {
    Object.assign(hub.welcome, welcome);
    await open();
    await shows("new");
    expect(buttons()).not.toContain("New session");
    expect(prompt() === null).toBe("role" in welcome);
  });
});

describe("what went wrong", () => {
  test("with a command is said, and can be put away", async () => {
    hub.answers.prompt = () => {
      throw new Error("The agent has ended.");
    };
    await open();
    await shows("new");
    write(prompt() as HTMLTextAreaElement, "Go on");
    await eventually(() => expect(button("Send").disabled).toBe(false));
    button("Send").click();
    const toast = () => document.querySelector(".toasts")?.textContent;
    await eventually(() => expect(toast()).toBe("The agent has ended."));
    expect(prompt()?.value).toBe("Go on");
    button("Dismiss").click();
    await eventually(() => expect(toast()).toBe(""));
  });

  test("nothing that is dropped beside a field takes the place of the page", async () => {
    await open();
    await shows("new");
    const drop = (on: Element | null) => {
      const event = new Event("drop", { bubbles: true, cancelable: true });
      on?.dispatchEvent(event);
      return event.defaultPrevented;
    };
    expect(drop(document.querySelector("nav"))).toBe(true);
    expect(drop(prompt())).toBe(false);
  });
});

describe("the theme", () => {
  test("is chosen in the palette and kept", async () => {
    await open();
    await shows("new");
    const before = document.documentElement.dataset.theme;
    press(document.body, "k", { metaKey: true });
    await eventually(() => expect(document.querySelector("dialog input")).not.toBeNull());
    const field = document.querySelector("dialog input") as HTMLInputElement;
    write(field, "dark or light");
    await eventually(() => expect(document.querySelectorAll("[role=option]").length).toBe(1));
    press(field, "Enter");
    await eventually(() => expect(document.documentElement.dataset.theme).toBe("dark"));
    expect(before).toBeUndefined();
    expect(localStorage.getItem("turnwire.theme")).toBe("dark");
    delete document.documentElement.dataset.theme;
  });
});

// @vitest-environment happy-dom
/** The state of the console on a hub that answers: commands once, words for what went wrong, and which sessions are followed. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConsoleState } from "../src/state/console_state.js";
import { FakeHub } from "./hub.js";
import { SESSION } from "./page.js";

const NO_CONNECTION = "There is no connection to turnwire, so this may not have arrived. Try again once it is back.";
const named = (...names: string[]) => names.map((name) => ({ ...SESSION, session: name }));

let hub: FakeHub;
let state: ConsoleState;

beforeEach(async () => {
  vi.useFakeTimers();
  hub = new FakeHub();
  hub.sessions = named("a", "b");
  state = new ConsoleState("ws://hub.test/ws", "console");
  await vi.advanceTimersByTimeAsync(0);
});
afterEach(() => {
  state.client.close();
  location.hash = "";
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const toasts = () => state.toasts.map(({ text }) => text);
/** Goes to an address, or has gone to one: happy-dom tells of it by a timer that nothing here turns. */
async function go(hash = location.hash): Promise<void> {
  location.hash = hash;
  dispatchEvent(new Event("hashchange"));
  await vi.advanceTimersByTimeAsync(0);
}

describe("a command", () => {
  test("that must not happen twice is sent once while it is under way, and again afterwards", async () => {
    hub.answers.interrupt = () => undefined;
    const both = [state.run({ type: "interrupt", session: "a" }), state.run({ type: "interrupt", session: "a" })];
    void state.run({ type: "interrupt", session: "b" });
    await vi.advanceTimersByTimeAsync(0);
    expect(hub.sent("interrupt").map((command) => "session" in command && command.session)).toEqual(["a", "b"]);
    hub.say({ type: "reply", id: hub.sent("interrupt")[0]?.id, ok: true, result: { done: 1 } });
    expect(await Promise.all(both)).toEqual([{ done: 1 }, { done: 1 }]);
    void state.run({ type: "interrupt", session: "a" });
    await vi.advanceTimersByTimeAsync(0);
    expect(hub.sent("interrupt").length).toBe(3);
  });

  test("of which a second one is meant is sent twice: a prompt", async () => {
    await Promise.all([1, 2].map(() => state.run({ type: "prompt", session: "a", text: "Again" })));
    expect(hub.sent("prompt").length).toBe(2);
  });

  test("that is refused says the hub's words, and gives nothing", async () => {
    hub.answers["session.close"] = () => {
      throw new Error("The session is being closed.");
    };
    expect(await state.run({ type: "session.close", session: "a" })).toBeUndefined();
    expect(toasts()).toEqual(["The session is being closed."]);
  });

  test("that nobody answers in two minutes says what to do, and may be tried again", async () => {
    hub.answers.interrupt = () => undefined;
    const unanswered = state.run({ type: "interrupt", session: "a" });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await unanswered).toBeUndefined();
    expect(state.state).toBe("open");
    expect(toasts()).toEqual([NO_CONNECTION]);
    void state.run({ type: "interrupt", session: "a" });
    await vi.advanceTimersByTimeAsync(0);
    expect(hub.sent("interrupt").length).toBe(2);
  });

  test("without a connection, or that loses it, says what to do in words for people", async () => {
    hub.answers.interrupt = () => undefined;
    const unanswered = state.run({ type: "interrupt", session: "a" });
    await vi.advanceTimersByTimeAsync(0);
    hub.up = false;
    hub.cut();
    expect(await unanswered).toBeUndefined();
    expect(await state.run({ type: "interrupt", session: "b" })).toBeUndefined();
    expect(toasts()).toEqual([NO_CONNECTION, NO_CONNECTION]);
  });

  test("of a fleet keeps its id until it is known what came of it", async () => {
    hub.welcome.workers = [];
    hub.cut();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(state.state).toBe("open");
    const attempt = {};
    hub.answers["session.create"] = () => undefined;
    void state.run({ type: "session.create" }, attempt);
    await vi.advanceTimersByTimeAsync(0);
    hub.cut();
    await vi.advanceTimersByTimeAsync(60_000);
    hub.answers["session.create"] = () => ({ session: "c" });
    await state.run({ type: "session.create" }, attempt);
    await state.run({ type: "session.create" }, attempt);
    const [first, second, third] = hub.sent("session.create").map(({ id }) => id);
    expect(first).toMatch(/^[0-9a-f]{8}-/);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });
});

test("a prompt has a UUID, which it keeps at any priority until it is known what came of it", async () => {
  const attempt = {};
  const prompt = { type: "prompt", session: "b", text: "Mend the door" } as const;
  hub.answers.prompt = () => undefined;
  void state.run({ ...prompt, priority: "later" }, attempt);
  await vi.advanceTimersByTimeAsync(0);
  hub.cut();
  await vi.advanceTimersByTimeAsync(60_000);
  hub.answers.prompt = () => ({ prompt: "u" });
  await state.run({ ...prompt, priority: "next" }, attempt);
  await state.run({ ...prompt, priority: "next" }, attempt);
  const [first, second, third] = hub.sent("prompt").map(({ id }) => id);
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

describe("what went wrong", () => {
  test("is said for ten seconds, and the last four of it at most", async () => {
    for (const text of ["1", "2", "3", "4", "5"]) state.toast(text);
    expect(toasts()).toEqual(["2", "3", "4", "5"]);
    await vi.advanceTimersByTimeAsync(9_000);
    state.toast("6");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(toasts()).toEqual(["6"]);
  });
});

describe("sessions", () => {
  test("that were on screen lately go on being followed; the one not seen for longest is left", async () => {
    hub.list(...named("a", "b", "c", "d", "e"));
    const b = state.current;
    for (const name of ["c", "d", "a", "b"]) await go(`#/s/${name}`);
    expect([b?.id, hub.sent("unsubscribe")]).toEqual(["b", []]);
    await go("#/s/e");
    expect(hub.sent("unsubscribe")).toMatchObject([{ session: "c" }]);
    await go("#/s/b");
    expect(state.current).toBe(b);
    expect(hub.sent("subscribe").filter((command) => "session" in command && command.session === "b").length).toBe(1);
  });

  test("that the hub no longer lists are followed no more", async () => {
    await go("#/s/a");
    hub.list(...named("b"));
    await vi.advanceTimersByTimeAsync(0);
    expect(hub.sent("unsubscribe")).toMatchObject([{ session: "a" }]);
    expect(state.current).toBeUndefined();
    expect(state.missing).toBe("a");
  });

  test("that are made just now are missing to nobody until the list has them", async () => {
    state.select("made");
    await go();
    expect(state.missing).toBeUndefined();
    hub.list(...named("a", "b", "made"));
    expect(state.current?.id).toBe("made");
  });

  test("are named by any address, also one that is not well encoded", async () => {
    hub.list(...named("a", "50%", "x/y z"));
    await go("#/s/50%");
    expect(state.current?.id).toBe("50%");
    state.select("x/y z");
    await go();
    expect([state.current?.id, location.hash]).toEqual(["x/y z", "#/s/x%2Fy%20z"]);
  });
});

describe("a page that shows one session", () => {
  test("leaves the address alone, and goes nowhere else", async () => {
    const fixed = new ConsoleState("ws://hub.test/ws", "element", { session: "a", token: "t" });
    await vi.advanceTimersByTimeAsync(0);
    location.hash = "#/s/b";
    fixed.select("c");
    fixed.visit("usage");
    fixed.deselect();
    await go();
    expect([fixed.current?.id, location.hash]).toEqual(["a", "#/s/b"]);
    expect(hub.received.at(-2)).toMatchObject({ type: "hello", token: "t" });
    fixed.client.close();
  });
});

test("a shell hears its own frames, and of the end of the connection", async () => {
  const heard: unknown[] = [];
  state.shells.set("one", (frame) => heard.push(frame && "text" in frame ? frame.text : frame));
  hub.say({ type: "shell_output", session: "a", shell: "one", number: 1, text: "hi" });
  hub.say({ type: "shell_output", session: "a", shell: "two", number: 1, text: "no" });
  hub.up = false;
  hub.cut();
  expect(heard).toEqual(["hi", undefined]);
});

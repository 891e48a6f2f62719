// @vitest-environment happy-dom
/** What reaches a person who does not look: the title, notifications, what is pushed, and the end of all of it. */
import { render } from "preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { leave, setNotifications, startReach, useAttention, wantsNotifications } from "../src/notifications/attention.js";
import { subscribe, unsubscribe } from "../src/notifications/push.js";
import { ConsoleState } from "../src/state/console_state.js";
import { FakeHub } from "./hub.js";
import { SESSION } from "./page.js";

const eventually = (holds: () => void) => vi.waitFor(holds, { interval: 5, timeout: 60_000 });
const ASKS = {
  type: "permission_request",
  pending_id: "p",
  permission_title: "ls",
  permission_options: [],
  action_type: "command",
  tool_input: { command: "ls" },
};

/** What a browser shows of itself beside its pages. */
class Notice {
  static permission = "granted";
  static requestPermission = async () => Notice.permission;
  static shown: Notice[] = [];
  onclick: (() => void) | undefined;
  readonly close = vi.fn();
  constructor(
    readonly title: string,
    readonly options: { body: string; tag: string },
  ) {
    Notice.shown.push(this);
  }
}
const notices = () => Notice.shown.map(({ title, options }) => [title, options.body]);

let hub: FakeHub;
let state: ConsoleState;
let hidden: boolean;

function Attentive({ notify }: { notify: boolean }) {
  useAttention(state, notify);
  return null;
}
async function open(notify = false): Promise<void> {
  state = new ConsoleState("ws://hub.test/ws", "console");
  render(<Attentive notify={notify} />, document.body);
  await eventually(() => expect([state.state, state.current?.caughtUp]).toEqual(["open", hub.sessions.length > 0 ? true : undefined]));
}

beforeEach(() => {
  hub = new FakeHub();
  hub.sessions = [
    { ...SESSION, session: "other", title: "The roof" },
    { ...SESSION, session: "s", title: "The door" },
  ];
  hidden = false;
  Notice.shown = [];
  Notice.permission = "granted";
  vi.stubGlobal("Notification", Notice);
  vi.spyOn(document, "hidden", "get").mockImplementation(() => hidden);
  document.head.innerHTML = '<link rel="icon" href="./favicon.svg" />';
});
afterEach(() => {
  state.client.close();
  render(null, document.body);
  location.hash = "";
  localStorage.clear();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("the title", () => {
  const icon = () => document.querySelector("link")?.getAttribute("href");

  test("names the session, and counts what waits here and elsewhere", async () => {
    await open();
    await eventually(() => expect(document.title).toBe("The door — turnwire"));
    expect(icon()).toBe("./favicon.svg");
    hub.say({ type: "event", session: "s", seq: 1, ts: "2026-01-01T00:00:00Z", event: ASKS });
    await eventually(() => expect(document.title).toBe("(1) Waits for you — The door"));
    expect(icon()).toBe("./favicon-waits.svg");
    hub.list({ ...SESSION, session: "other", title: "The roof", pending: 2 }, { ...SESSION, session: "s", title: "The door", pending: 1 });
    await eventually(() => expect(document.title).toBe("(3) Waits for you — The door"));
    hub.list({ ...SESSION, session: "s", title: "The door" });
    hub.say({
      type: "event", session: "s", seq: 2, ts: "2026-01-01T00:00:00Z", event: { type: "permission_resolved", pending_id: "p", behavior: "allow" },
    }); // biome-ignore format: a frame
    await eventually(() => expect(document.title).toBe("The door — turnwire"));
    expect(icon()).toBe("./favicon.svg");
  });

  test("of a page without a session is the page's", async () => {
    hub.sessions = [];
    await open();
    await eventually(() => expect(document.title).toBe("turnwire"));
    location.hash = "#/usage";
    dispatchEvent(new Event("hashchange"));
    state.changed.emit();
    await eventually(() => expect(document.title).toBe("Usage — turnwire"));
  });
});

describe("a notification", () => {
  test("tells of each thing once, while nobody looks, and leads to it", async () => {
    await open(true);
    hidden = true;
    hub.say({ type: "event", session: "s", seq: 1, ts: "2026-01-01T00:00:00Z", event: ASKS });
    await eventually(() => expect(notices()).toEqual([["The door", "May the agent run this command?"]]));
    const door = { ...SESSION, session: "s", title: "The door", pending: 1 };
    hub.list({ ...SESSION, session: "other", title: "The roof", state: "waiting", pending: 1 }, door);
    await eventually(() => expect(notices().slice(1)).toEqual([["The roof", "asks you"]]));
    hub.list({ ...SESSION, session: "other", title: "The roof" }, door);
    await eventually(() => expect(notices().slice(2)).toEqual([["The roof", "has finished"]]));
    state.changed.emit();
    Notice.shown[1]?.onclick?.();
    expect(location.hash).toBe("#/s/other");
    expect(Notice.shown[1]?.close).toHaveBeenCalledOnce();
    expect(notices().length).toBe(3);
  });

  test.each([
    ["somebody looks", { hidden: false, notify: true, kept: "1", permission: "granted" }],
    ["none are wanted", { hidden: true, notify: false, kept: "0", permission: "granted" }],
    ["the worker tells it", { hidden: true, notify: true, kept: "push", permission: "granted" }],
    ["the browser allows none", { hidden: true, notify: true, kept: "1", permission: "denied" }],
  ])("is not shown where %s, nor later", async (_, { notify, kept, permission, ...more }) => {
    [hidden, Notice.permission] = [more.hidden, permission];
    localStorage.setItem("turnwire.notify", kept);
    await open(notify);
    hub.say({ type: "event", session: "s", seq: 1, ts: "2026-01-01T00:00:00Z", event: ASKS });
    await eventually(() => expect(document.title).toContain("(1)"));
    [hidden, Notice.permission] = [true, "granted"];
    hub.list({ ...SESSION, session: "s", title: "The window", pending: 1 });
    await eventually(() => expect(document.title).toContain("The window"));
    expect(notices()).toEqual([]);
  });

  test("is told right-to-left and hidden characters as they are", async () => {
    hub.sessions = [{ ...SESSION, session: "s", title: "a\u202Eb" }];
    await open(true);
    hidden = true;
    hub.say({ type: "event", session: "s", seq: 1, ts: "2026-01-01T00:00:00Z", event: ASKS });
    await eventually(() => expect(notices()[0]?.[0]).toBe("a⟨U+202E⟩b"));
  });
});

describe("notifications", () => {
  test("are wanted once the browser allows them, and no more once it does not", async () => {
    await open();
    expect(wantsNotifications()).toBe(false);
    expect(await setNotifications(state, true)).toBe(true);
    expect(wantsNotifications()).toBe(true);
    await eventually(() => expect(state.toasts.map(({ text }) => text).join()).toContain("They come while a page is open."));
    Notice.permission = "denied";
    expect(wantsNotifications()).toBe(false);
    expect(await setNotifications(state, true)).toBe(false);
  });
});

describe("what is pushed", () => {
  const KEY = "AQID"; // bytes 1 2 3
  const subscription = (key: number[]) => ({
    endpoint: "https://push.test/1",
    options: { applicationServerKey: new Uint8Array(key).buffer },
    unsubscribe: vi.fn(async () => true),
    toJSON: () => ({ endpoint: "https://push.test/1", keys: { p256dh: "P", auth: "A" } }),
  });
  let kept: ReturnType<typeof subscription> | null;
  let made: ReturnType<typeof subscription>;
  const unregister = vi.fn(async () => true);
  const pushManager = { getSubscription: async () => kept, subscribe: vi.fn(async (_: unknown) => made) };
  const workers = new EventTarget();

  beforeEach(() => {
    [kept, made] = [null, subscription([1, 2, 3])];
    unregister.mockClear();
    pushManager.subscribe.mockClear();
    const registration = { active: {}, pushManager, unregister };
    Object.defineProperty(navigator, "serviceWorker", {
      configurable: true,
      value: Object.assign(workers, { register: async () => registration, getRegistration: async () => registration }),
    });
    vi.stubGlobal("PushManager", class {});
    Object.assign(window, { PushManager: class {} });
    hub.answers["push.key"] = () => ({ key: KEY });
  });
  afterEach(() => {
    Reflect.deleteProperty(navigator, "serviceWorker");
    Reflect.deleteProperty(window, "PushManager");
  });

  test("is subscribed to with the hub's key, and told to the hub", async () => {
    await open();
    expect(await setNotifications(state, true)).toBe(true);
    await eventually(() => expect(localStorage.getItem("turnwire.notify")).toBe("push"));
    expect(pushManager.subscribe).toHaveBeenCalledWith({ userVisibleOnly: true, applicationServerKey: new Uint8Array([1, 2, 3]) });
    expect(hub.sent("push.subscribe")).toMatchObject([{ endpoint: "https://push.test/1", p256dh: "P", auth: "A" }]);
  });

  test("keeps a subscription of the same key, and ends one of another hub's", async () => {
    await open();
    kept = subscription([1, 2, 3]);
    expect(await subscribe(state)).toBeUndefined();
    expect(pushManager.subscribe).not.toHaveBeenCalled();
    const old = subscription([9]);
    kept = old;
    expect(await subscribe(state)).toBeUndefined();
    expect(old.unsubscribe).toHaveBeenCalledOnce();
    expect(pushManager.subscribe).toHaveBeenCalledOnce();
    expect(hub.sent("push.subscribe").length).toBe(2);
  });

  test("that the hub does not offer says so, and that a page must be open", async () => {
    hub.answers["push.key"] = () => {
      throw new Error("Push is off here.");
    };
    await open();
    expect(await subscribe(state)).toBe("They come while a page is open; to be reached otherwise: Push is off here.");
  });

  test("ends with the login, here and at the hub", async () => {
    localStorage.setItem("turnwire.notify", "push");
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => new Response("")),
    );
    await open();
    const old = subscription([1]);
    kept = old;
    await leave(state);
    expect(hub.sent("push.unsubscribe")).toMatchObject([{ endpoint: "https://push.test/1" }]);
    expect(old.unsubscribe).toHaveBeenCalledOnce();
    expect(unregister).toHaveBeenCalledOnce();
    expect(localStorage.getItem("turnwire.notify")).toBeNull();
    expect(fetch).toHaveBeenCalledOnce();
  });

  test("is ended here also where the hub refuses", async () => {
    hub.answers["push.unsubscribe"] = () => {
      throw new Error("no");
    };
    await open();
    const old = subscription([1]);
    kept = old;
    await unsubscribe(state);
    expect(old.unsubscribe).toHaveBeenCalledOnce();
  });

  test("is told again when the page opens, and what a notification opens is shown", async () => {
    localStorage.setItem("turnwire.notify", "push");
    kept = subscription([1, 2, 3]);
    await open();
    startReach(state);
    await eventually(() => expect(hub.sent("push.subscribe").length).toBe(1));
    workers.dispatchEvent(new MessageEvent("message", { data: { session: "other" } }));
    expect(location.hash).toBe("#/s/other");
  });
});

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import WebSocket from "ws";
import {
  AccessRefused,
  type AgentEvent,
  Backoff,
  CLOSE_CODES,
  Client,
  type ClientOptions,
  CommandFailed,
  ConnectionLost,
  type Cursor,
  FINAL_CLOSE_CODES,
  LATEST,
  ProtocolError,
  TimedOut,
  type TurnwireError,
} from "../src/index.js";
import { MockHub } from "./mock_hub.js";

let hub: MockHub;
const clients: Client[] = [];

function client(options: Partial<ClientOptions> = {}): Client {
  const made = new Client({ url: hub.url, WebSocket, backoff: { first: 5, most: 20 }, ...options });
  clients.push(made);
  return made;
}

function follow(from: Client, after?: Cursor, session = "s") {
  const seen: number[] = [];
  const types: string[] = [];
  const gaps: boolean[] = [];
  const lags: number[] = [];
  const failures: TurnwireError[] = [];
  const following = from.follow(
    session,
    {
      onEvents: (events) => {
        seen.push(...events.map((event) => event.seq));
        types.push(...events.map((event) => event.event.type));
      },
      onGap: (gap) => gaps.push(gap.restarted),
      onLag: (behind) => lags.push(behind),
      onFailed: (failure) => failures.push(failure),
    },
    after,
  );
  return { seen, types, gaps, lags, failures, following };
}

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Wait until a check holds; the seconds say that it hangs, and nothing of how fast it should be. */
const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 5 });

beforeEach(async () => {
  hub = await MockHub.start();
});

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  await hub.stop();
});

describe("a following", () => {
  test("waits longer each time while the hub lets it in and cannot read its log", async () => {
    const reset = vi.spyOn(Backoff.prototype, "reset");
    try {
      hub.unreadable = true;
      const { seen, lags } = follow(client());
      for (const connections of [1, 2, 3]) {
        await until(() => expect(hub.connections).toBe(connections));
        await until(() => expect(hub.received.filter(({ type }) => type === "subscribe")).toHaveLength(connections));
        hub.breakAll();
      }
      expect(reset).not.toHaveBeenCalled();
      hub.unreadable = false;
      hub.publish(1);
      await until(() => expect(seen).toEqual([1]));
      await until(() => expect(reset).toHaveBeenCalledTimes(1));
      expect(lags).toEqual([]);
    } finally {
      reset.mockRestore();
    }
  });

  test("gets what was, then what comes", async () => {
    hub.publish(3);
    const { seen } = follow(client());
    await until(() => expect(seen).toEqual([1, 2, 3]));
    hub.publish(2);
    await until(() => expect(seen).toEqual([1, 2, 3, 4, 5]));
  });

  test("starts after the cursor it is given", async () => {
    hub.publish(5);
    const { seen } = follow(client(), { epoch: "e1", seq: 3 });
    await until(() => expect(seen).toEqual([4, 5]));
  });

  test("loses and repeats nothing through a hundred broken connections", async () => {
    const { seen, following } = follow(client());
    for (let round = 0; round < 100; round += 1) {
      hub.publish(7);
      if (round % 2 === 0) await until(() => expect(seen.length).toBeGreaterThan(round * 7));
      hub.breakAll();
      hub.publish(3);
    }
    await until(() => expect(seen.length).toBe(1000));
    expect(seen).toEqual(numbers(1, 1000));
    expect(following.cursor).toEqual({ epoch: "e1", seq: 1000 });
  });

  test("drops what comes twice", async () => {
    hub.stutter = true;
    hub.publish(4);
    const { seen } = follow(client());
    await until(() => expect(seen).toEqual([1, 2, 3, 4]));
    hub.publish(1);
    await until(() => expect(seen).toEqual([1, 2, 3, 4, 5]));
  });

  test("asks again when an event is missing", async () => {
    hub.swallow = 3;
    hub.publish(5);
    const { seen } = follow(client());
    await until(() => expect(seen).toEqual([1, 2, 3, 4, 5]));
  });

  test("says that the log began anew, and starts over", async () => {
    hub.publish(5);
    const { seen, gaps, following } = follow(client());
    await until(() => expect(seen).toHaveLength(5));
    hub.forget("e2");
    hub.publish(2);
    hub.breakAll();
    await until(() => expect(seen).toEqual([1, 2, 3, 4, 5, 1, 2]));
    expect(gaps).toEqual([true]);
    expect(following.cursor).toEqual({ epoch: "e2", seq: 2 });
  });

  test("passes over what retention took, and says so", async () => {
    hub.publish(5);
    hub.gone = 3;
    const { seen, gaps } = follow(client());
    await until(() => expect(seen).toEqual([4, 5]));
    expect(gaps).toEqual([false]);
  });

  test("fails when the hub never sends what follows the cursor", async () => {
    hub.publish(5);
    hub.skip = 3;
    const { seen, failures } = follow(client());
    await until(() => expect(failures).toHaveLength(1));
    expect(failures[0]).toBeInstanceOf(ProtocolError);
    expect(failures[0]?.message).toContain("again and again, not what follows 2");
    expect(seen).toEqual([1, 2]);
  });

  test("that the hub refuses fails with its reason", async () => {
    const { failures } = follow(client(), undefined, "nope");
    await until(() => expect(failures).toHaveLength(1));
    expect(failures[0]).toBeInstanceOf(CommandFailed);
    expect(failures[0]).toMatchObject({ code: "unknown_session" });
  });

  test("that asks too often waits and goes on", async () => {
    hub.tooMany = 2;
    const one = client();
    const [first, second] = [follow(one), follow(one)];
    hub.publish(2);
    await until(() =>
      expect([first.seen, second.seen]).toEqual([
        [1, 2],
        [1, 2],
      ]),
    );
    expect([first.failures, second.failures]).toEqual([[], []]);
    hub.tooMany = 1;
    const third = follow(one);
    await until(() => expect(hub.tooMany).toBe(0));
    one.close(); // while it waits to ask again
    expect(third.seen).toEqual([]);
  });

  test("that fails without anybody who listens for it is told as an error of a listener", async () => {
    const told: unknown[] = [];
    const one = client({ onListenerError: (error) => told.push(error) });
    one.follow("nope", { onEvents: () => undefined });
    await until(() => expect(told).toHaveLength(1));
    expect(told[0]).toMatchObject({ code: "unknown_session" });
  });

  test("shares what the hub sends with others of its session", async () => {
    const one = client();
    const first = follow(one);
    hub.publish(3);
    await until(() => expect(first.seen).toEqual([1, 2, 3]));
    hub.gone = 1;
    const second = follow(one);
    const latest = follow(one, LATEST);
    await until(() => expect(second.seen).toEqual([2, 3]));
    expect(second.gaps).toEqual([false]);
    first.following.close();
    hub.publish(1);
    await until(() => expect([second.seen, latest.seen]).toEqual([[2, 3, 4], [4]]));
    expect([first.seen, first.gaps, latest.gaps]).toEqual([[1, 2, 3], [], []]);
    second.following.close();
    latest.following.close();
    await until(() => expect(hub.received.filter((command) => command.type === "unsubscribe")).toHaveLength(1));
  });

  test("goes on beside another one when the log began anew", async () => {
    const one = client();
    const first = follow(one);
    hub.publish(3);
    await until(() => expect(first.seen).toEqual([1, 2, 3]));
    const stale = follow(one, { epoch: "of long ago", seq: 9 });
    await until(() => expect(stale.seen).toEqual([1, 2, 3]));
    expect([stale.gaps, first.gaps, first.seen]).toEqual([[true], [], [1, 2, 3]]);
  });

  test("can be iterated over, and waits at the hub for who is slow", async () => {
    const one = client();
    hub.publish(10);
    const seen: Array<number | string> = [];
    for await (const received of one.stream("s", { held: 3 })) {
      seen.push(received.type === "event" ? received.seq : received.type);
      if (received.type === "event" && received.seq === 10) break;
    }
    expect(seen.filter((each) => typeof each === "number")).toEqual(numbers(1, 10));
    await until(() => expect(hub.received.at(-1)?.type).toBe("unsubscribe"));
  });

  test("that is iterated over ends with its signal, its client and its failure", async () => {
    const one = client();
    const ending = new AbortController();
    const next = one.stream("s", { signal: ending.signal });
    expect((await next.next()).value).toMatchObject({ type: "caught_up", seq: 0 });
    const waiting = next.next();
    ending.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(one.stream("nope").next()).rejects.toBeInstanceOf(CommandFailed);
    const last = one.stream("s");
    await last.next();
    const over = last.next();
    one.close();
    expect(await over).toEqual({ value: undefined, done: true });
  });

  test("is told how far it is behind", async () => {
    const { lags, seen } = follow(client());
    hub.publish(1);
    await until(() => expect(seen).toEqual([1]));
    hub.say({ type: "lag", session: "s", behind: 7 });
    await until(() => expect(lags).toEqual([7]));
  });

  test("keeps its connection and its subscription while the hub cannot read its log", async () => {
    const reset = vi.spyOn(Backoff.prototype, "reset");
    try {
      const states: string[] = [];
      const made = client({ onState: (state) => states.push(state) });
      const told: unknown[] = [];
      const failures: TurnwireError[] = [];
      made.follow("s", {
        onEvents: (events) => told.push(...events.map(({ seq }) => seq)),
        onCaughtUp: (seq) => told.push(`caught up with ${seq}`),
        onLag: (behind, reason) => told.push(`${behind} behind: ${reason}`),
        onFailed: (failure) => failures.push(failure),
      });
      await until(() => expect(told).toEqual(["caught up with 0"]));
      const streamed = made.stream("s");
      expect((await streamed.next()).value).toMatchObject({ type: "caught_up", seq: 0 });
      const subscriptions = hub.received.filter(({ type }) => type === "subscribe").length;
      const resets = reset.mock.calls.length;
      const error = { code: "journal_unavailable", message: "Redis is away." };
      hub.say({ type: "lag", session: "s", behind: 3, error });
      expect((await streamed.next()).value).toEqual({ type: "lag", session: "s", behind: 3, error });
      expect(reset).toHaveBeenCalledTimes(resets);
      await made.command({ type: "interrupt", session: "s" });
      hub.publish(3);
      hub.say({ type: "caught_up", session: "s", seq: 3 });
      await until(() => expect(told).toEqual(["caught up with 0", "3 behind: Redis is away.", 1, 2, 3, "caught up with 3"]));
      expect(reset).toHaveBeenCalledTimes(resets + 1);
      expect(hub.received.filter(({ type }) => type === "subscribe")).toHaveLength(subscriptions);
      expect([hub.connections, states, failures]).toEqual([1, ["open"], []]);
      await streamed.return();
    } finally {
      reset.mockRestore();
    }
  });

  test("gives an event of an unknown type in its place", async () => {
    hub.publish(1, { type: "of_tomorrow" } as unknown as AgentEvent);
    hub.publish(1);
    const { seen, types } = follow(client());
    await until(() => expect(seen).toEqual([1, 2]));
    expect(types).toEqual(["of_tomorrow", "notice"]);
  });

  test("goes on when a listener throws, and tells of it", async () => {
    const told: unknown[] = [];
    const fail = () => {
      throw new Error("mine");
    };
    const made = client({ onListenerError: (error) => told.push(error), onWelcome: fail, onState: fail, onSessions: fail });
    const seen: number[] = [];
    made.follow("s", {
      onEvents: (events) => {
        seen.push(...events.map((event) => event.seq));
        fail();
      },
      onCaughtUp: fail,
    });
    hub.publish(3);
    await until(() => expect(seen).toEqual([1, 2, 3]));
    hub.publish(2);
    await until(() => expect(seen).toEqual([1, 2, 3, 4, 5]));
    expect(told.length).toBeGreaterThanOrEqual(4);
    // one that is asynchronous, beside one that tells of it and throws as well
    const late = client({
      onListenerError: (error) => {
        told.push(error);
        fail();
      },
    });
    const both: number[] = [];
    const shownTwice = vi.spyOn(console, "error").mockImplementation(() => {});
    late.follow("s", { onEvents: async () => Promise.reject(new Error("later")) });
    late.follow("s", { onEvents: (events) => void both.push(...events.map((event) => event.seq)) });
    await until(() => expect(both).toEqual([1, 2, 3, 4, 5]));
    await until(() => expect(told.at(-1)).toEqual(new Error("later")));
    expect(shownTwice).toHaveBeenCalledWith(new Error("later"));
    shownTwice.mockRestore();
    const shown = vi.spyOn(console, "error").mockImplementation(() => {});
    await client({ onWelcome: fail }).connected();
    await until(() => expect(shown).toHaveBeenCalledOnce());
    shown.mockRestore();
  });

  test("gives nothing more once it is closed", async () => {
    const { seen, following } = follow(client());
    hub.publish(1);
    await until(() => expect(seen).toEqual([1]));
    following.close();
    hub.publish(1);
    await until(() => expect(hub.received.at(-1)?.type).toBe("unsubscribe"));
    expect(seen).toEqual([1]);
  });
});

describe("a command", () => {
  test("gets its own reply, whatever the order of replies", async () => {
    const waiting: Array<() => void> = [];
    hub.answer = (command) => new Promise((resolve) => waiting.push(() => resolve(command.type)));
    const one = client();
    await one.connected();
    const first = one.command({ type: "interrupt", session: "s" });
    const second = one.command({ type: "session.list" });
    await until(() => expect(waiting).toHaveLength(2));
    for (const release of waiting.reverse()) release();
    expect(await Promise.all([first, second])).toEqual(["interrupt", "session.list"]);
  });

  test("that is refused says why", async () => {
    hub.answer = () => Promise.reject(new Error("no such session"));
    const one = client();
    await one.connected();
    const refusal = await one.command({ type: "interrupt", session: "?" }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CommandFailed);
    expect(refusal).toMatchObject({ code: "refused", message: "Error: no such session" });
  });

  test("under way is rejected when the connection breaks, and is not repeated", async () => {
    hub.answer = () => new Promise(() => undefined);
    const one = client();
    await one.connected();
    const lost = one.command({ type: "prompt", session: "s", text: "hello" });
    await until(() => expect(hub.received.at(-1)?.type).toBe("prompt"));
    hub.breakAll();
    await expect(lost).rejects.toBeInstanceOf(ConnectionLost);
    await one.connected();
    expect(hub.received.filter((command) => command.type === "prompt")).toHaveLength(1);
  });

  test("is sent again under its own id, and not twice at once", async () => {
    hub.answer = () => new Promise(() => undefined);
    const one = client();
    await one.connected();
    const id = "3f0c9c1e-8a53-4d0e-9b6a-0d7f6f2f2a11";
    const lost = one.command({ type: "prompt", session: "s", text: "hello" }, { id });
    await until(() => expect(hub.received.at(-1)?.type).toBe("prompt"));
    await expect(one.command({ type: "prompt", session: "s", text: "hello" }, { id })).rejects.toMatchObject({ field: "id" });
    hub.breakAll();
    await expect(lost).rejects.toBeInstanceOf(ConnectionLost);
    hub.answer = () => "done";
    await one.connected();
    expect(await one.command({ type: "prompt", session: "s", text: "hello" }, { id })).toBe("done");
    expect(await one.command({ type: "session.list" })).toBe("done");
    expect(hub.received.filter((command) => command.type === "prompt").map((command) => command.id)).toEqual([id, id]);
  });

  test("ends waiting with its signal", async () => {
    hub.answer = () => new Promise(() => undefined);
    const one = client();
    await one.connected();
    const ending = new AbortController();
    const waiting = one.command({ type: "interrupt", session: "s" }, { signal: ending.signal });
    ending.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(one.command({ type: "interrupt", session: "s" }, { signal: ending.signal })).rejects.toThrow("enough");
    // also while it waits for the first connection of a lazy client
    const lazy = client({ url: "http://127.0.0.1:1", lazy: true });
    const last = new AbortController();
    const unsent = lazy.command({ type: "interrupt", session: "s" }, { signal: last.signal });
    last.abort(new Error("no more"));
    await expect(unsent).rejects.toThrow("no more");
    await expect(client({ url: "http://127.0.0.1:1", lazy: true }).command({ type: "session.list" }, { timeout: 1 })).rejects.toThrow(
      "The hub has not let us in within 1 ms",
    );
  });

  test("has the result that its type says", async () => {
    hub.answer = () => ({ prompt: "p" });
    const one = client();
    await one.connected();
    const { prompt }: { prompt: string } = await one.command({ type: "prompt", session: "s", text: "hi" });
    expect(prompt).toBe("p");
  });

  test("without a connection is rejected at once", async () => {
    const one = client();
    await expect(one.command({ type: "session.list" })).rejects.toBeInstanceOf(ConnectionLost);
  });
});

describe("the reply to a command", () => {
  test("that is not answered in time says so, and others go on", async () => {
    hub.answer = (command) => (command.type === "interrupt" ? new Promise(() => undefined) : "done");
    const one = client({ replyTimeout: 20 });
    await one.connected();
    const late = await one.command({ type: "interrupt", session: "s" }).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(TimedOut);
    expect(await one.command({ type: "session.list" }, { timeout: 30_000 })).toBe("done");
  });

  test("after the client was closed is rejected", async () => {
    const one = client();
    await one.connected();
    one.close();
    await expect(one.command({ type: "session.list" })).rejects.toThrow("The client was closed.");
    await expect(one.connected()).rejects.toBeInstanceOf(ConnectionLost);
  });
});

describe("a hub that is none", () => {
  test.each([
    ["no JSON", "Bad gateway"],
    ["an event without a number", '{"type":"event","session":"s","event":{"type":"notice"}}'],
    ["a second welcome", '{"type":"welcome","protocol":"turnwire.v1","version":"0","epoch":"e","role":"view","sessions":[]}'],
    ["a frame that is too large", `{"type":"of_tomorrow","pad":"${"x".repeat(10_000)}"}`],
    ["deep nesting", "[".repeat(5_000)],
  ])("ends the client once and for all: %s", async (_what, frame) => {
    hub.answer = () => new Promise(() => undefined);
    const states: string[] = [];
    const one = client({ maxFrame: 8192, onState: (state) => states.push(state) });
    await one.connected();
    const { failures } = follow(one);
    const pending = one.command({ type: "interrupt", session: "s" });
    await until(() => expect(hub.received.at(-1)?.type).toBe("interrupt"));
    hub.sayRaw(frame);
    await expect(pending).rejects.toBeInstanceOf(ProtocolError);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toBeInstanceOf(ProtocolError);
    expect(states).toEqual(["open", "failed"]);
    await expect(one.connected()).rejects.toBeInstanceOf(ProtocolError);
    await expect(one.command({ type: "session.list" })).rejects.toBeInstanceOf(ProtocolError);
    expect(follow(one).seen).toEqual([]);
    expect(hub.connections).toBe(1);
  });

  test("sends binary frames", async () => {
    const one = client();
    await one.connected();
    follow(one);
    await until(() => expect(hub.received.at(-1)?.type).toBe("subscribe"));
    hub.sayRaw(Buffer.from("{}"));
    await until(() => expect(one.state).toBe("failed"));
  });
});

describe("the connection", () => {
  test("is made when a lazy client is first used", async () => {
    const one = client({ lazy: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(hub.connections).toBe(0);
    expect(await one.command({ type: "set_model", session: "s" })).toBe(null);
    expect(hub.connections).toBe(1);
  });

  test("asks for url and token before each attempt, and renews what is over", async () => {
    hub.token = "t1";
    let given = 0;
    const one = client({
      url: () => hub.url,
      token: () => {
        given += 1;
        return Promise.resolve(`t${given}`);
      },
    });
    await one.connected();
    hub.token = "t2";
    hub.closeAll(4401, "the token is over");
    await until(() => expect([given, one.state]).toEqual([2, "open"]));
    hub.token = "t9";
    hub.closeAll(4401, "the token is over");
    await until(() => expect([given, one.state]).toEqual([3, "failed"]));
  });

  test("tries again when a function for its url fails", async () => {
    let tries = 0;
    const one = client({
      url: () => {
        tries += 1;
        if (tries === 1) throw new Error("not now");
        return hub.url;
      },
    });
    await one.connected();
    expect(tries).toBe(2);
  });

  test("that is not made says what may be wrong", async () => {
    vi.stubGlobal("location", { origin: "https://app.example" });
    try {
      const reasons: string[] = [];
      client({ url: "http://127.0.0.1:1", onState: (_, reason) => reasons.push(reason?.message ?? "") });
      await until(() => expect(reasons).not.toEqual([]));
      expect(reasons[0]).toContain("No hub answers at ws://127.0.0.1:1/ws. Does turnwire run there, and is the port right?");
      expect(reasons[0]).toContain("--allowed-origin https://app.example");
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test.each(["127.0.0.1:8790", "localhost:8790/#token=secret", "http://", "http://127.0.0.1:99999", "ftp://127.0.0.1", ""])(
    "cannot be made to %j, which is said at once",
    async (url) => {
      const words = /is no address of a hub: give http:\/\/HOST:PORT/;
      expect(() => client({ url })).toThrow(words);
      expect(() => client({ url })).not.toThrow("secret");
      const reasons: string[] = [];
      client({ url: () => url, onState: (_, reason) => reasons.push(reason?.message ?? "") });
      await until(() => expect(reasons[0]).toMatch(words));
    },
  );

  test("is looked for where the URL says, with its token and its session", async () => {
    hub.token = "right";
    const one = client({ url: `http://127.0.0.1:${hub.port}/#session=s-1&token=right` });
    await one.connected();
    expect(one.namedSession).toBe("s-1");
  });

  test.each(
    Object.keys(CLOSE_CODES)
      .map(Number)
      // 1002, 1006, 1007 and 1009 are not sent by a hub of ours as such: the other end sees them.
      .filter((code) => code > 1009 || code === 1001),
  )("closed with %i is made again, unless that is in vain", async (code) => {
    const states: string[] = [];
    const one = client({ onState: (state) => states.push(state) });
    await one.connected();
    hub.closeAll(code, "because");
    if (FINAL_CLOSE_CODES.includes(code)) {
      await until(() => expect(states).toEqual(["open", "failed"]));
      await expect(one.connected()).rejects.toThrow("because");
      expect(hub.connections).toBe(1);
    } else {
      await until(() => expect(states).toEqual(["open", "connecting", "open"]));
    }
  });

  test("passes over frames of a newer hub", async () => {
    const { seen } = follow(client());
    hub.publish(1);
    await until(() => expect(seen).toEqual([1]));
    hub.say({ type: "of_tomorrow", session: "s", seq: 2 });
    hub.publish(1);
    await until(() => expect(seen).toEqual([1, 2]));
  });

  test("with a wrong token is refused and not tried again", async () => {
    hub.token = "right";
    const states: string[] = [];
    const one = client({ token: "wrong", onState: (state) => states.push(state) });
    await expect(one.connected()).rejects.toBeInstanceOf(AccessRefused);
    expect(states).toEqual(["failed"]);
    expect(hub.received).toHaveLength(1);
  });

  test("is waited for no longer than said", async () => {
    const made = client({ url: "http://127.0.0.1:1" });
    await expect(made.connected({ timeout: 1 })).rejects.toBeInstanceOf(TimedOut);
    const abort = new AbortController();
    const waiting = made.connected({ signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(made.connected({ signal: abort.signal })).rejects.toThrow("enough");
    const last = made.connected({ timeout: 60_000, signal: new AbortController().signal });
    made.close();
    await expect(last).rejects.toBeInstanceOf(ConnectionLost);
  });

  test("waits for a hub that is not there yet", async () => {
    const { port, url } = hub;
    await hub.stop();
    const one = new Client({ url, WebSocket, backoff: { first: 5, most: 20 } });
    clients.push(one);
    hub = await MockHub.start(port);
    expect((await one.connected()).epoch).toBe("e1");
  });

  test("that has gone silent is made again", async () => {
    const states: string[] = [];
    const one = client({ silence: 10, onState: (state) => states.push(state) });
    await one.connected();
    hub.mute = true;
    await until(() => expect(states).toContain("connecting"));
    hub.mute = false;
    await until(() => expect(states.at(-1)).toBe("open"));
  });

  test("that the browser refuses to make is tried again, and says why", async () => {
    let refusals = 0;
    class Refusing extends WebSocket {
      constructor(url: string, protocols: string[]) {
        if (refusals++ === 0) throw new Error("an https page may not connect to ws:");
        super(url, protocols);
      }
    }
    const reasons: string[] = [];
    const one = client({ WebSocket: Refusing, onState: (_, reason) => reasons.push(reason?.message ?? "") });
    await one.connected();
    expect(reasons).toEqual([`No WebSocket to ${hub.url} can be made: Error: an https page may not connect to ws:`, ""]);
  });

  test("waits without end for a time that no timer can count", async () => {
    const one = client({ silence: Infinity, replyTimeout: 2 ** 31 });
    await one.connected({ timeout: Infinity });
    let answer = (_: null) => {};
    hub.answer = () => new Promise<null>((resolve) => (answer = resolve));
    const waits = [
      one.command({ type: "interrupt", session: "s" }, { timeout: Infinity }),
      one.command({ type: "set_model", session: "s" }),
    ];
    await until(() => expect(hub.received.map(({ type }) => type)).toEqual(["hello", "interrupt", "set_model"]));
    const first = await Promise.race([...waits, new Promise((resolve) => setTimeout(resolve, 20, "they wait"))]);
    expect(first).toBe("they wait");
    one.close();
    await expect(waits[0]).rejects.toBeInstanceOf(ConnectionLost);
    await expect(waits[1]).rejects.toBeInstanceOf(ConnectionLost);
    answer(null);
  });

  test("to a hub that does not agree to its end is cut, and keeps no process", async () => {
    let cuts = 0;
    class Deaf extends WebSocket {
      override close() {}
      override terminate() {
        cuts += 1;
        super.terminate();
      }
    }
    const one = client({ WebSocket: Deaf });
    await one.connected();
    vi.useFakeTimers();
    try {
      one.close();
      expect(cuts).toBe(0);
      vi.advanceTimersByTime(2_000);
      expect(cuts).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test("needs a WebSocket class where there is no global one", () => {
    vi.stubGlobal("WebSocket", undefined);
    expect(() => new Client({ url: hub.url })).toThrow(/pass one/);
    vi.unstubAllGlobals();
  });
});

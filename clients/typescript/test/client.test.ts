import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import WebSocket from "ws";
import { AccessDenied, Client, type ClientOptions, CommandError, Disconnected } from "../src/index.js";
import { MockHub } from "./mock_hub.js";

let hub: MockHub;
const clients: Client[] = [];

function client(options: Partial<ClientOptions> = {}): Client {
  const made = new Client({ url: hub.url, WebSocket, backoff: { first: 5, most: 20 }, ...options });
  clients.push(made);
  return made;
}

function follow(from: Client, after?: { epoch: string; seq: number }) {
  const seen: number[] = [];
  const gaps: boolean[] = [];
  const subscription = from.subscribe(
    "s",
    { onEvents: (events) => seen.push(...events.map((event) => event.seq)), onGap: (_gap, restarted) => gaps.push(restarted) },
    after,
  );
  return { seen, gaps, subscription };
}

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

beforeEach(async () => {
  hub = await MockHub.start();
});

afterEach(async () => {
  for (const made of clients.splice(0)) made.close();
  await hub.stop();
});

describe("a subscription", () => {
  test("gets what was, then what comes", async () => {
    hub.publish(3);
    const { seen } = follow(client());
    await vi.waitFor(() => expect(seen).toEqual([1, 2, 3]));
    hub.publish(2);
    await vi.waitFor(() => expect(seen).toEqual([1, 2, 3, 4, 5]));
  });

  test("starts after the cursor it is given", async () => {
    hub.publish(5);
    const { seen } = follow(client(), { epoch: "e1", seq: 3 });
    await vi.waitFor(() => expect(seen).toEqual([4, 5]));
  });

  test("loses and repeats nothing through a hundred broken connections", async () => {
    const { seen, subscription } = follow(client());
    for (let round = 0; round < 100; round += 1) {
      hub.publish(7);
      if (round % 2 === 0) await vi.waitFor(() => expect(seen.length).toBeGreaterThan(round * 7));
      hub.breakAll();
      hub.publish(3);
    }
    await vi.waitFor(() => expect(seen.length).toBe(1000), 5000);
    expect(seen).toEqual(numbers(1, 1000));
    expect(subscription.cursor).toEqual({ epoch: "e1", seq: 1000 });
  });

  test("drops what comes twice", async () => {
    hub.stutter = true;
    hub.publish(4);
    const { seen, subscription } = follow(client());
    await vi.waitFor(() => expect(subscription.repeats).toBe(4));
    expect(seen).toEqual([1, 2, 3, 4]);
  });

  test("asks again when an event is missing", async () => {
    hub.swallow = 3;
    hub.publish(5);
    const { seen } = follow(client());
    await vi.waitFor(() => expect(seen).toEqual([1, 2, 3, 4, 5]));
  });

  test("says that the log began anew, and starts over", async () => {
    hub.publish(5);
    const { seen, gaps, subscription } = follow(client());
    await vi.waitFor(() => expect(seen).toHaveLength(5));
    hub.forget("e2");
    hub.publish(2);
    hub.breakAll();
    await vi.waitFor(() => expect(seen).toEqual([1, 2, 3, 4, 5, 1, 2]));
    expect(gaps).toEqual([true]);
    expect(subscription.cursor).toEqual({ epoch: "e2", seq: 2 });
  });

  test("gives nothing more once it is closed", async () => {
    const { seen, subscription } = follow(client());
    hub.publish(1);
    await vi.waitFor(() => expect(seen).toEqual([1]));
    subscription.close();
    hub.publish(1);
    await vi.waitFor(() => expect(hub.received.at(-1)?.type).toBe("unsubscribe"));
    expect(seen).toEqual([1]);
  });
});

describe("a command", () => {
  test("gets its own reply, whatever the order of replies", async () => {
    const waiting: Array<() => void> = [];
    hub.answer = (command) => new Promise((resolve) => waiting.push(() => resolve(command.type)));
    const one = client();
    await one.ready();
    const first = one.command({ type: "interrupt", session: "s" });
    const second = one.command({ type: "session.list" });
    await vi.waitFor(() => expect(waiting).toHaveLength(2));
    for (const release of waiting.reverse()) release();
    expect(await Promise.all([first, second])).toEqual(["interrupt", "session.list"]);
  });

  test("that is refused says why", async () => {
    hub.answer = () => Promise.reject(new Error("no such session"));
    const one = client();
    await one.ready();
    const refusal = await one.command({ type: "interrupt", session: "?" }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CommandError);
    expect(refusal).toMatchObject({ code: "refused", message: "Error: no such session" });
  });

  test("under way is rejected when the connection breaks, and is not repeated", async () => {
    hub.answer = () => new Promise(() => undefined);
    const one = client();
    await one.ready();
    const lost = one.command({ type: "prompt", session: "s", text: "hello" });
    await vi.waitFor(() => expect(hub.received.at(-1)?.type).toBe("prompt"));
    hub.breakAll();
    await expect(lost).rejects.toBeInstanceOf(Disconnected);
    await one.ready();
    expect(hub.received.filter((command) => command.type === "prompt")).toHaveLength(1);
  });

  test("without a connection is rejected at once", async () => {
    const one = client();
    await expect(one.command({ type: "session.list" })).rejects.toBeInstanceOf(Disconnected);
  });
});

describe("the connection", () => {
  test("passes over frames of a newer hub", async () => {
    const { seen } = follow(client());
    hub.publish(1);
    await vi.waitFor(() => expect(seen).toEqual([1]));
    hub.say({ type: "of_tomorrow", session: "s", seq: 2 });
    hub.publish(1);
    await vi.waitFor(() => expect(seen).toEqual([1, 2]));
  });

  test("with a wrong token is denied and not tried again", async () => {
    hub.token = "right";
    const states: string[] = [];
    const one = client({ token: "wrong", onState: (state) => states.push(state) });
    await expect(one.ready()).rejects.toBeInstanceOf(AccessDenied);
    expect(states).toEqual(["denied"]);
    expect(hub.received).toHaveLength(1);
  });

  test("waits for a hub that is not there yet", async () => {
    const { port, url } = hub;
    await hub.stop();
    const one = new Client({ url, WebSocket, backoff: { first: 5, most: 20 } });
    clients.push(one);
    hub = await MockHub.start(port);
    expect((await one.ready()).epoch).toBe("e1");
  });

  test("that has gone silent is made again", async () => {
    const states: string[] = [];
    const one = client({ silence: 10, onState: (state) => states.push(state) });
    await one.ready();
    hub.mute = true;
    await vi.waitFor(() => expect(states).toContain("connecting"));
    hub.mute = false;
    await vi.waitFor(() => expect(states.at(-1)).toBe("open"));
  });

  test("needs a WebSocket class where there is no global one", () => {
    vi.stubGlobal("WebSocket", undefined);
    expect(() => new Client({ url: hub.url })).toThrow(/pass one/);
    vi.unstubAllGlobals();
  });
});

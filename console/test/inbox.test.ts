import type { SessionSummary } from "turnwire-client";
import { expect, test } from "vitest";
import { inbox, recentFolders } from "../src/model/inbox.js";
import { news } from "../src/model/news.js";
import { Kept } from "../src/state/kept.js";
import { Seen } from "../src/state/seen.js";
import { age } from "../src/text/format.js";

const session = (name: string, more: Partial<SessionSummary> = {}): SessionSummary => ({
  session: name,
  state: "idle",
  last_seq: 1,
  pending: 0,
  workspace: "/srv/red",
  ...more,
});
const told = (sessions: SessionSummary[], query = "") =>
  inbox(sessions, query).map(({ title, sessions: inside }) => [title, ...inside.map((one) => one.session)]);

test("who waits comes first, then who runs, then the newest by folder", () => {
  const sessions = [
    session("a"),
    session("b", { workspace: "/srv/blue" }),
    session("c", { state: "running" }),
    session("d", { state: "waiting", pending: 2 }),
    session("e"),
    session("f", { state: "running", pending: 1 }),
  ];
  expect(told(sessions)).toEqual([
    ["Waits for you", "f", "d"],
    ["Running", "c"],
    ["red", "e", "a"],
    ["blue", "b"],
  ]);
  expect(recentFolders(sessions)).toEqual(["/srv/red", "/srv/blue"]);
});

test("a search looks at titles, folders and agents, for all of its words", () => {
  const sessions = [session("a", { title: "Mend the door" }), session("b", { workspace: "/srv/doors", agent: "qwen" })];
  expect(told(sessions, "DOOR mend")).toEqual([["red", "a"]]);
  expect(told(sessions, "door")).toEqual([
    ["doors", "b"],
    ["red", "a"],
  ]);
  expect(told(sessions, "qwen")).toEqual([["doors", "b"]]);
  expect(told(sessions, "window")).toEqual([]);
});

test("what came since it was on screen is unread, in the next page too", () => {
  const kept = new Map<string, string>();
  const storage = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) };
  const seen = new Seen(new Kept(() => storage as unknown as Storage));
  expect(seen.unread(session("a", { last_seq: 5 }))).toBe(false);
  seen.mark("a", 5);
  const later = new Seen(new Kept(() => storage as unknown as Storage));
  expect([5, 6].map((last_seq) => later.unread(session("a", { last_seq })))).toEqual([false, true]);
  for (let n = 0; n < 1200; n += 1) later.mark(`s${n}`, n);
  expect(later.unread(session("a", { last_seq: 9 }))).toBe(false);
  kept.set("turnwire.seen", "no JSON");
  expect(() => new Seen(new Kept(() => storage as unknown as Storage))).not.toThrow();
});

test("what happened between two lists is told once, of every session", () => {
  const before = [session("a", { state: "running" }), session("b", { state: "running" }), session("c"), session("d", { state: "running" })];
  const after = [
    session("a", { title: "A" }),
    session("b", { state: "waiting", pending: 1 }),
    session("c"),
    session("d", { state: "exited" }),
    session("e", { pending: 1 }),
  ];
  expect(news(before, after).map(({ title, what }) => `${title} ${what}`)).toEqual([
    "A has finished",
    "b asks you",
    "d has exited",
    "e asks you",
  ]);
  expect(news(after, after)).toEqual([]);
  expect(news([], after)).toEqual([]);
});

test("ages are told in the largest unit", () => {
  expect([10, 59, 61, 3600, 7300, 90_000, 86_400 * 40].map((seconds) => age(seconds * 1000))).toEqual([
    "now",
    "now",
    "1 min",
    "1 h",
    "2 h",
    "1 d",
    "40 d",
  ]);
});

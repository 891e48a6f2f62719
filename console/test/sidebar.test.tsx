// @vitest-environment happy-dom
/** The list of sessions as a person reads it: which first, what is said of each, what is searched for, and what is new. */
import type { SessionSummary } from "turnwire-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Sidebar } from "../src/view/sidebar.js";
import { button, buttons, clear, Page, SESSION, write } from "./page.js";

const eventually = (holds: () => void) => vi.waitFor(holds, { interval: 5, timeout: 60_000 });
const NOW = Date.parse("2026-01-01T12:00:00Z");

let page: Page;
const session = (name: string, more: Partial<SessionSummary> = {}): SessionSummary => ({ ...SESSION, session: name, title: name, ...more });
const show = (...sessions: SessionSummary[]) => {
  page.hub.sessions = sessions;
  page.hub.summary = sessions.find(({ session }) => session === page.hub.current?.id);
  page.show(<Sidebar onMake={made} onFind={found} />);
};
const made = vi.fn();
const found = vi.fn();
const groups = () =>
  [...document.querySelectorAll("section")].map((group) => [
    group.querySelector("h2")?.textContent,
    ...[...group.querySelectorAll(".title")].map((node) => node.firstChild?.textContent),
  ]);
const facts = () => [...document.querySelectorAll("a.session .state")].map((node) => node.textContent);
const search = () => document.querySelector<HTMLInputElement>("input[type=search]");

beforeEach(() => {
  page = new Page();
  vi.spyOn(Date, "now").mockReturnValue(NOW);
});
afterEach(clear);

test("those that wait come first, then those that run, then each folder, the newest at the top", () => {
  const { workspace: _, ...nowhere } = session("nowhere");
  show(
    session("oldest", { workspace: "/srv/blue" }),
    session("older"),
    session("runs", { state: "running" }),
    session("asks", { state: "waiting", pending: 1 }),
    session("stops", { state: "stopping" }),
    session("newest"),
    session("in a worktree", { workspace: "/tmp/apart", worktree: { repository: "/srv/blue", branch: "x", base: "main" } }),
    nowhere,
  );
  expect(groups()).toEqual([
    ["Waits for you", "asks"],
    ["Running", "stops", "runs"],
    ["Elsewhere", "nowhere"],
    ["blue", "in a worktree", "oldest"],
    ["red", "newest", "older"],
  ]);
});

test("each says what it does, where, with which agent, for how long, and what it has cost", () => {
  show(
    session("a", { state: "exited", created: "2026-01-01T10:00:00Z", total_cost_usd: 0.5 }),
    session("b", { state: "unreachable", created: "2026-01-01T09:00:00Z", updated: "2026-01-01T11:58:00Z" }),
    session("c", { state: "running", updated: "2026-01-01T12:00:00Z" }),
    session("d", { pending: 1, state: "running" }),
    session("e", { pending: 2, state: "waiting" }),
  );
  expect(facts()).toEqual([
    "2 requests · red · demo",
    "asks you · red · demo",
    "working · red · demo · now",
    "unreachable · demo · 2 min",
    "ended · demo · 2 h",
  ]);
  expect([...document.querySelectorAll(".cost")].map((node) => node.textContent)).toEqual(["", "", "", "", "$0.50"]);
});

test("a state of a later hub is told as it is, and hidden characters are spelt out", () => {
  show(session("x", { state: "dream\u202Eing" as SessionSummary["state"], agent: "a\u200Bb" }));
  expect(facts()).toEqual(["dream⟨U+202E⟩ing · a⟨U+200B⟩b"]);
});

test("the one on screen is marked, and leads nowhere new", () => {
  show(session("other"), session("s"), session("50% of/it"));
  const links = [...document.querySelectorAll("a.session")].map((node) => [node.getAttribute("href"), node.getAttribute("aria-current")]);
  expect(links).toEqual([
    ["#/s/50%25%20of%2Fit", null],
    ["#/s/s", "page"],
    ["#/s/other", null],
  ]);
});

test("what came since one looked is marked as unread, until one looks", async () => {
  const unread = () => [...document.querySelectorAll("[aria-label=unread]")].map((node) => node.closest("a")?.getAttribute("href"));
  localStorage.setItem(
    "turnwire.seen",
    JSON.stringify([
      ["other", 3],
      ["s", 1],
    ]),
  );
  show(session("other", { last_seq: 3 }), session("s", { last_seq: 9 }));
  expect(unread()).toEqual([]);
  page.show(null);
  show(session("other", { last_seq: 4 }), session("s", { last_seq: 10 }));
  expect(unread()).toEqual(["#/s/other"]);
  // What stood on screen was read; what comes to it afterwards was not.
  await eventually(() => expect(localStorage.getItem("turnwire.seen")).toContain('["s",10]'));
  page.show(null);
  page.hub.current = undefined;
  show(session("s", { last_seq: 10 }));
  expect(unread()).toEqual([]);
  page.show(null);
  show(session("s", { last_seq: 11 }));
  expect(unread()).toEqual(["#/s/s"]);
});

test("a folder lists eight, the one on screen, and all once they are asked for", async () => {
  show(session("s"), ...Array.from({ length: 11 }, (_, at) => session(`n${at}`)));
  expect(groups()[0]?.length).toBe(1 + 9);
  expect(groups()[0]?.at(-1)).toBe("s");
  button("3 more").click();
  await eventually(() => expect(groups()[0]?.length).toBe(1 + 12));
  expect(buttons().filter((name) => name.endsWith("more"))).toEqual([]);
});

test("a search finds words of the title, folder, agent and model, in any order, and shows all that fits", async () => {
  show(
    ...Array.from({ length: 10 }, (_, at) => session(`door ${at}`, { workspace: "/srv/blue" })),
    session("roof", { agent: "Codex" }),
    session("s", { model: "opus" }),
  );
  write(search() as HTMLInputElement, "BLUE door");
  await eventually(() => expect(groups()).toEqual([["blue", ...Array.from({ length: 10 }, (_, at) => `door ${9 - at}`)]]));
  write(search() as HTMLInputElement, "codex");
  await eventually(() => expect(groups()).toEqual([["red", "roof"]]));
  write(search() as HTMLInputElement, "opus");
  await eventually(() => expect(groups()).toEqual([["red", "s"]]));
  write(search() as HTMLInputElement, "opus codex");
  await eventually(() => expect(groups()).toEqual([]));
  expect(document.querySelector("nav")?.textContent).toContain("No session fits.");
});

test("a few sessions need no search, and those that may not begin one no button", () => {
  show(...Array.from({ length: 6 }, (_, at) => session(`${at}`)));
  expect(search()).toBeNull();
  expect(buttons().map((name) => name.trim())).toContain("New session");
  page.hub.mayCreate = false;
  page.show(null);
  show(session("s"));
  expect(buttons().map((name) => name.trim())).not.toContain("New session");
});

test("its buttons begin a session and open the palette", () => {
  show(session("s"));
  button("New session").click();
  expect([made.mock.calls.length, found.mock.calls.length]).toEqual([1, 0]);
  button("Find Ctrl K").click();
  expect([made.mock.calls.length, found.mock.calls.length]).toEqual([1, 1]);
});

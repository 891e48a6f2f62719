// @vitest-environment happy-dom
/** Old conversations and what was used, by what stands on the page and what is asked of the hub. */
import type { CommandInput } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LibraryView } from "../src/library/views.js";
import type { View } from "../src/state/console_state.js";
import { button, buttons, clear, Page, SESSION, write } from "./page.js";

const eventually = (holds: () => void) => vi.waitFor(holds, { interval: 5, timeout: 60_000 });
const NOW = Date.parse("2026-01-10T00:00:00Z");

let page: Page;
let asked: CommandInput[];
let answers: Record<string, (command: CommandInput) => unknown>;

beforeEach(() => {
  page = new Page();
  page.hub.current = undefined;
  asked = [];
  answers = { "worktree.list": () => ({ worktrees: [] }) };
  page.answer = (command) => {
    asked.push(command);
    return (answers[command.type] ?? (() => null))(command);
  };
  vi.spyOn(Date, "now").mockReturnValue(NOW);
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe(): void {}
      disconnect(): void {}
    },
  );
});
afterEach(clear);

const show = (view: View) => page.show(<LibraryView view={view} onMenu={() => undefined} />);
const text = () => document.body.textContent ?? "";
const of = (type: CommandInput["type"]) => asked.filter((command) => command.type === type);
const kept = (id: string, more: object = {}) => ({
  id, title: `About ${id}`, folder: "/srv/red", agent: "claude", ended: "2026-01-09T00:00:00Z", turns: 3, cost_usd: 0.25, model: "opus", ...more,
}); // biome-ignore format: one as `library.list` gives it
const submit = () =>
  document.querySelector("form.filter, form.rename")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));

describe("history", () => {
  const list = (conversations: object[], more: object = {}) => {
    answers["library.list"] = () => ({ conversations, next: null, complete: true, ...more });
    show({ name: "history", query: "" });
  };

  test("lists conversations by folder, each with its age, turns, cost and model", async () => {
    list([
      kept("a"),
      kept("b", { folder: "/srv/blue", turns: 1, cost_is_whole: false, git_branch: "main" }),
      kept("c", { ended: "2026-01-08T00:00:00Z" }),
    ]);
    await eventually(() => expect([...document.querySelectorAll("h2")].map((node) => node.textContent)).toEqual(["red /srv", "blue /srv"]));
    expect(
      [...document.querySelectorAll(".kept")].map((node) => [
        node.querySelector(".title")?.textContent,
        node.querySelector(".quiet")?.textContent,
      ]),
    ).toEqual([
      ["About a", "1 d · 3 turns · $0.25 · opus"],
      ["About c", "2 d · 3 turns · $0.25 · opus"],
      ["About b", "1 d · 1 turn · at least $0.25 · opus · main"],
    ]);
  });

  test("opens one as a session, and links to the session that has it", async () => {
    answers["library.open"] = () => ({ session: "opened" });
    list([kept("a"), kept("b", { session: "s 1" })]);
    await eventually(() => expect(document.querySelector("a.title")?.getAttribute("href")).toBe("#/s/s%201"));
    button("About a").click();
    await eventually(() => expect(page.hub.select).toHaveBeenCalledWith("opened", undefined));
    expect(page.sent).toEqual([{ type: "library.open", conversation: "a" }]);
  });

  test("says which of them another program has open", async () => {
    page.hub.sessions = [
      { ...SESSION, session: "own" },
      { ...SESSION, session: "followed", followed: true },
    ];
    list([
      kept("a", { running: true }),
      kept("b", { running: true, session: "own" }),
      kept("c", { running: true, session: "followed" }),
      kept("d"),
    ]);
    await eventually(() => expect(document.querySelectorAll(".kept").length).toBe(4));
    expect([...document.querySelectorAll(".kept")].map((node) => node.textContent?.includes("runs elsewhere"))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  test("gets older ones when they are asked for, after those that are there", async () => {
    answers["library.list"] = (command) =>
      "before" in command
        ? { conversations: [kept("old")], next: null, complete: true }
        : { conversations: [kept("a")], next: "1:a", complete: true };
    show({ name: "history", query: "" });
    await eventually(() => expect(buttons()).toContain("Show older ones"));
    button("Show older ones").click();
    await eventually(() =>
      expect([...document.querySelectorAll(".title")].map((node) => node.textContent)).toEqual(["About a", "About old"]),
    );
    expect(of("library.list").at(-1)).toEqual({ type: "library.list", before: "1:a" });
    expect(buttons()).not.toContain("Show older ones");
  });

  test("renames one, and shows its name at once", async () => {
    list([kept("a")]);
    await eventually(() => expect(buttons()).toContain("Rename About a"));
    button("Rename About a").click();
    await eventually(() => expect(document.querySelector("input[aria-label=Title]")).not.toBeNull());
    write(document.querySelector("input[aria-label=Title]") as HTMLInputElement, " The door ");
    await eventually(() => expect((document.querySelector("input[aria-label=Title]") as HTMLInputElement).value).toBe(" The door "));
    document.querySelector("form.rename")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    await eventually(() => expect(buttons()).toContain("The door"));
    expect(page.sent).toEqual([{ type: "library.rename", conversation: "a", title: "The door" }]);
    expect(document.activeElement).toBe(button("Rename The door"));
    expect(document.querySelector("form.rename")).toBeNull();
  });

  test("hands one over as a file, without secrets where that is asked for", async () => {
    const made = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
    const clicked = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    answers["library.export"] = () => ({ name: "a.md", content: "# A" });
    list([kept("a")]);
    await eventually(() => expect(buttons()).toContain("Markdown of About a"));
    document.querySelector<HTMLInputElement>("input[type=checkbox]")?.click();
    await eventually(() => expect(document.querySelector<HTMLInputElement>("input[type=checkbox]")?.checked).toBe(true));
    button("Markdown of About a").click();
    await eventually(() => expect(clicked).toHaveBeenCalledOnce());
    expect(page.sent).toEqual([{ type: "library.export", conversation: "a", format: "markdown", redact: true }]);
    expect((clicked.mock.contexts[0] as HTMLAnchorElement).download).toBe("a.md");
    expect(await (made.mock.lastCall as [Blob])[0].text()).toBe("# A");
  });

  test("is read, and nothing more, by who may only watch", async () => {
    page.hub.mayControl = false;
    list([kept("a")]);
    await eventually(() => expect(document.querySelector("b.title")?.textContent).toBe("About a"));
    expect(buttons().filter((name) => name.includes("About a"))).toEqual(["Markdown of About a", "HTML of About a"]);
  });

  test.each([
    [{ complete: false }, "The folders are still being read; this is what is known so far. Look again"],
    [{ complete: false, missing: ["w1", "w2"] }, "No answer from w1, w2; this is what the others have. Look again"],
  ])("says what it lacks: %o", async (more, words) => {
    list([], more);
    await eventually(() => expect(document.querySelector("[role=status]")?.textContent).toBe(words));
    const before = of("library.list").length;
    button("Look again").click();
    await eventually(() => expect(of("library.list").length).toBe(before + 1));
  });

  test("says that there is nothing, or why it is not known", async () => {
    list([]);
    await eventually(() => expect(text()).toContain("No agent has kept a conversation on this machine yet."));
    page.show(null);
    answers["library.list"] = () => {
      throw new Error("The folders cannot be read.");
    };
    show({ name: "history", query: "" });
    await eventually(() => expect(document.querySelector("[role=alert]")?.textContent).toBe("The folders cannot be read."));
  });
});

describe("search", () => {
  const hit = (more: object = {}) => ({
    source: "library", id: "c1", message: "m", kind: "text", title: "About c1", folder: "/srv/red", at: "2026-01-09T00:00:00Z",
    snippet: [{ text: "The ", hit: false }, { text: "violet", hit: true }, { text: " door", hit: false }], ...more,
  }); // biome-ignore format: one as `library.search` gives it

  test("puts the words into the address, and nothing there where they are none", async () => {
    answers["library.list"] = () => ({ conversations: [], next: null, complete: true });
    show({ name: "history", query: "" });
    await eventually(() => expect(document.activeElement?.textContent).toBe("History"));
    const field = document.querySelector("input[type=search]") as HTMLInputElement;
    write(field, "  a b/c ");
    await eventually(() => expect(field.value).toBe("  a b/c "));
    submit();
    expect(location.hash).toBe("#/history/a%20b%2Fc");
    write(field, "  ");
    await eventually(() => expect(field.value).toBe("  "));
    submit();
    expect(location.hash).toBe("#/history");
  });

  test("shows what it found, with its words marked, and opens the place", async () => {
    answers["library.search"] = () => ({ hits: [hit(), hit({ source: "live", id: "s1", title: "Now", seq: 7 })], complete: true });
    answers["library.open"] = () => ({ session: "opened" });
    show({ name: "history", query: "violet" });
    await eventually(() => expect(document.querySelector("h2")?.textContent).toBe("2 hits"));
    expect(document.querySelector("h1")?.textContent).toBe("Search");
    expect([...document.querySelectorAll("mark")].map((node) => node.textContent)).toEqual(["violet", "violet"]);
    expect(of("library.search")).toEqual([{ type: "library.search", text: "violet", limit: 50 }]);
    button("About c1").click();
    await eventually(() =>
      expect(page.hub.select).toHaveBeenCalledWith("opened", expect.objectContaining({ message: "m", words: ["violet"] })),
    );
    button("Now").click();
    expect(page.hub.select).toHaveBeenLastCalledWith("s1", expect.objectContaining({ seq: 7 }));
  });

  test("that finds as many as were asked for offers more", async () => {
    answers["library.search"] = (command) => ({
      hits: Array.from({ length: "limit" in command ? Number(command.limit) : 0 }, () => hit()),
      complete: true,
    });
    show({ name: "history", query: "violet" });
    await eventually(() => expect(document.querySelector("h2")?.textContent).toBe("The best 50 hits"));
    button("Show more").click();
    await eventually(() => expect(document.querySelector("h2")?.textContent).toBe("The best 500 hits"));
    expect(buttons()).not.toContain("Show more");
  });
});

describe("usage", () => {
  const spent = (by: string, name: string, more: object = {}) => ({
    group: { [by]: name }, answers: 3, input_tokens: 4000, output_tokens: 20, cache_read_input_tokens: 1000, cache_creation_input_tokens: 50,
    cost_usd: 1.25, cost_is_whole: true, ...more,
  }); // biome-ignore format: one as `library.usage` gives it
  const cells = (row: string) =>
    [...document.querySelectorAll(`${row} tr`)].map((one) => [...one.children].map((cell) => cell.textContent));
  const choose = (label: string, value: string) => {
    const select = [...document.querySelectorAll("label")].find((node) => node.textContent?.startsWith(label))?.querySelector("select");
    if (!select) throw new Error(`no ${label}`);
    select.value = value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
  };

  beforeEach(() => {
    answers["library.usage"] = (command) => {
      const [by = ""] = "by" in command ? (command.by as string[]) : [];
      const names = by === "day" ? ["2026-01-01", "2026-01-04"] : ["one", "two"];
      return { usage: [spent(by, names[0] as string), spent(by, names[1] as string, { cost_usd: 0.5, answers: 1 })], complete: true };
    };
    show({ name: "usage", query: "" });
  });

  test("sums up the last thirty days, and lists each day, the newest first", async () => {
    await eventually(() => expect(cells("tfoot").length).toBe(1));
    expect(document.querySelector("dl.sums")?.textContent).toBe("Cost$1.75Tokens in8,000Tokens out40Tokens cached2,100Answers4");
    expect(cells("tbody").map(([name, cost]) => [name, cost])).toEqual([
      ["2026-01-04", "$0.50"],
      ["2026-01-01", "$1.25"],
    ]);
    expect(cells("tfoot")[0]?.[1]).toBe("$1.75");
    expect(document.querySelector("svg[role=img]")?.getAttribute("aria-label")).toContain("Cost by day, $1.75 in all");
    const [first] = of("library.usage");
    expect(first).toMatchObject({ by: ["day"], since: expect.stringMatching(/^2025-12-1[12]/) });
  });

  test("is asked for by another group and time, and plotted by tokens", async () => {
    await eventually(() => expect(cells("tfoot").length).toBe(1));
    choose("By", "project");
    await eventually(() => expect(cells("tbody").map(([name]) => name)).toEqual(["one", "two"]));
    choose("Of", "0");
    await eventually(() => expect(of("library.usage").at(-1)).toEqual({ type: "library.usage", by: ["project"] }));
    choose("Plot", "tokens");
    await eventually(() => expect(document.querySelector("svg[role=img]")?.getAttribute("aria-label")).toContain("Tokens by project"));
  });

  test("says where a cost is the least, or about what it was", async () => {
    answers["library.usage"] = () => ({ usage: [spent("day", "2026-01-01", { cost_is_whole: false, estimated_usd: 1 })], complete: true });
    page.show(null);
    show({ name: "usage", query: "" });
    await eventually(() => expect(text()).toContain("“At least”: what models with an unknown price used"));
    expect(text()).toContain("“About”: some agents and older versions tell no cost");
  });

  test("says that nothing was used", async () => {
    answers["library.usage"] = () => ({ usage: [], complete: true });
    page.show(null);
    show({ name: "usage", query: "" });
    await eventually(() => expect(text()).toContain("Nothing was used in this time."));
  });
});

// @vitest-environment happy-dom
/** The inspector, the head of a session and the palette by their roles: which tabs there are, what each shows and asks the hub for. */
import type { CommandInput, Welcome } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Inspector } from "../src/inspector/inspector.js";
import type { Tab } from "../src/state/context.js";
import { SessionHead } from "../src/view/head.js";
import { Keys, Palette } from "../src/view/palette.js";
import { button, buttons, clear, nameOf, Page, press, SESSION, write } from "./page.js";

let page: Page;
beforeEach(() => {
  page = new Page();
});
afterEach(clear);

const tabs = () => [...document.querySelectorAll("[role=tab]")].map(nameOf);
const panel = () => document.querySelector("[role=tabpanel]") as HTMLElement;

function inspect(chosen: Tab, more: { seq?: number; onTab?: (tab: Tab) => void; onSeq?: (seq: number | undefined) => void } = {}): void {
  page.show(
    <Inspector
      chosen={chosen}
      onTab={more.onTab ?? (() => undefined)}
      seq={more.seq}
      onSeq={more.onSeq ?? (() => undefined)}
      onClose={() => undefined}
      shell={<p>a shell</p>}
    />,
  );
}

/** A turn in which a file was written and a command was run. */
function worked(): void {
  page.happens(
    { type: "turn_started", origin: "user", operation_id: "t1" },
    { type: "user_message", text: "Mend it", operation_id: "t1" },
    {
      type: "complete",
      operation_id: "t1",
      data: { stop_reason: "end_turn", duration_ms: 1200, cost_usd: 0.25 },
    } as never,
  );
}

describe("the inspector", () => {
  test("has the tabs that the session and the login allow", () => {
    inspect("turn");
    expect(tabs()).toEqual(["Changes", "Files", "Turn", "Events", "Session"]);
    Object.assign(page.hub, { mayOpenShells: true, summary: { ...SESSION, worktree: { repository: "/r", branch: "b", base: "main" } } });
    page.hub.changed.emit();
    inspect("turn");
    expect(tabs()).toEqual(["Changes", "Files", "Shell", "Worktree", "Turn", "Events", "Session"]);
    Object.assign(page.hub, { mayControl: false });
    inspect("shell");
    expect(tabs()).toEqual(["Changes", "Worktree", "Turn", "Events", "Session"]);
    expect(document.querySelector("[role=tab][aria-selected=true]")?.textContent).toBe("Changes");
  });

  test("says which tab is chosen, and leaves an event for the next one", () => {
    const onTab = vi.fn();
    const onSeq = vi.fn();
    inspect("session", { onTab, onSeq });
    expect(panel().getAttribute("aria-labelledby")).toBe("tab-session");
    document.querySelector<HTMLElement>("#tab-turn")?.click();
    expect(onTab).toHaveBeenCalledWith("turn");
    expect(onSeq).toHaveBeenCalledWith(undefined);
  });

  test("shows a shell where shells are allowed", () => {
    Object.assign(page.hub, { mayOpenShells: true });
    inspect("shell");
    expect(panel().textContent).toBe("a shell");
  });

  test("lists the events, and one of them with its line", async () => {
    worked();
    page.answer = (command: CommandInput) =>
      command.type === "payload.get" ? { event: { type: "user_message", text: "Mend it" }, raw: '{"line": 2}' } : null;
    inspect("events", { seq: 2 });
    await vi.waitFor(() => expect(panel().textContent).toContain("Event 2"));
    await vi.waitFor(() => expect(panel().textContent).toContain('"line": 2'));
    expect(panel().querySelector("input[type=search], input")?.getAttribute("aria-label")).toBe("Search events");
  });

  test("tells the facts of a session and its deeds, none of which a click does at once", () => {
    page.hub.summary = { ...SESSION, model: "sonnet", policy: "supervised" };
    inspect("session");
    const facts = new Map(
      [...panel().querySelectorAll("dl > div")].map((row) => [nameOf(row.children[0] as Element), nameOf(row.children[1] as Element)]),
    );
    expect(facts.get("Model")).toBe("sonnet");
    expect(facts.get("Folder")).toBe("/srv/red");
    expect(buttons()).toEqual(
      expect.arrayContaining(["Export as Markdown", "Export as HTML", "Fork", "Retry last turn", "Close", "Delete"]),
    );
    // A deciding button does nothing until it has stood still for a second.
    button("Fork").click();
    expect(page.sent).toEqual([]);
  });

  test("offers to resume a session that has ended, and not to close it", () => {
    page.hub.summary = { ...SESSION, state: "exited" };
    inspect("session");
    expect(buttons()).toContain("Resume");
    expect(buttons()).not.toContain("Close");
  });

  test("lets who only watches change nothing", () => {
    Object.assign(page.hub, { mayControl: false });
    inspect("session");
    expect(buttons()).not.toContain("Delete");
    expect(buttons()).toContain("Export as Markdown");
  });
});

describe("the files of the workspace", () => {
  beforeEach(() => {
    page.answer = (command: CommandInput) => {
      if (command.type === "workspace.list")
        return command.path === ""
          ? {
              entries: [
                { name: "src", kind: "folder", size: null },
                { name: "pipe", kind: "other", size: null },
                { name: "a\u202eb.txt", kind: "file", size: 2048 },
              ],
              complete: false,
            }
          : { entries: [], complete: true };
      if (command.type === "workspace.read") return { size: 4, text: "one\ntwo\n", media_type: null, base64: null, cut: false };
      return { files: [], base: null, complete: true };
    };
  });

  test("are a tree whose folders say whether they are open", async () => {
    inspect("files");
    await vi.waitFor(() => expect(buttons().some((name) => name.startsWith("src"))).toBe(true));
    const folder = [...document.querySelectorAll("button.entry")].find((node) => nameOf(node).startsWith("src")) as HTMLButtonElement;
    expect(folder.getAttribute("aria-expanded")).toBe("false");
    folder.click();
    await vi.waitFor(() => expect(folder.getAttribute("aria-expanded")).toBe("true"));
    await vi.waitFor(() => expect(panel().textContent).toContain("Empty"));
    expect(panel().textContent).toContain("pipe or device");
    expect(panel().textContent).toContain("There are more than are listed here.");
    expect(panel().textContent).not.toContain("\u202e");
  });

  test("are read by a click, and the way back has the focus", async () => {
    inspect("files");
    await vi.waitFor(() => expect(document.querySelectorAll("button.entry").length).toBe(2));
    (document.querySelectorAll("button.entry")[1] as HTMLButtonElement).click();
    await vi.waitFor(() => expect([...panel().querySelectorAll("td.line")].map((cell) => cell.textContent)).toEqual(["one", "two"]));
    expect(nameOf(document.activeElement as Element)).toBe("All files");
  });
});

describe("the head of a session", () => {
  const head = () =>
    page.show(<SessionHead onMenu={() => undefined} onPanel={() => undefined} panel={false} notify={false} onNotify={() => undefined} />);

  test.each([
    ["idle", "idle"],
    ["exited", "ended"],
    ["unreachable", "unreachable"],
    ["dreaming", "dreaming"],
  ])("says of a session that is %s: %s", (state, said) => {
    page.hub.summary = { ...SESSION, state } as typeof SESSION;
    head();
    expect(document.querySelector("[role=status]")?.textContent).toBe(said);
    expect(document.querySelector("h1")?.textContent).toBe("Mend the door");
  });

  test("renames by the keyboard, and Escape leaves the name", async () => {
    head();
    button("Change the name").click();
    await vi.waitFor(() => expect(document.querySelector("input")).not.toBeNull());
    const field = document.querySelector("input") as HTMLInputElement;
    press(field, "Escape");
    await vi.waitFor(() => expect(document.querySelector("input")).toBeNull());
    expect(page.sent).toEqual([]);
    button("Change the name").click();
    await vi.waitFor(() => expect(document.querySelector("input")).not.toBeNull());
    write(document.querySelector("input") as HTMLInputElement, "  The red door ");
    await vi.waitFor(() => expect(document.querySelector("input")?.value).toBe("  The red door "));
    document.querySelector("form")?.dispatchEvent(new Event("submit", { bubbles: true, cancelable: true }));
    expect(page.sent).toEqual([{ type: "session.rename", session: "s", title: "The red door" }]);
  });

  test("warns of a policy that asks nobody, and of events that are not kept", () => {
    page.hub.summary = { ...SESSION, policy: "autonomous", trouble: "the disk is full" };
    head();
    expect(document.querySelector(".policy-in-force")?.textContent).toBe("Approve everything");
    expect(document.querySelector("[role=alert]")?.textContent).toBe("events are not kept");
  });
});

describe("the palette", () => {
  test("finds by words, moves by arrows and does what is chosen", async () => {
    const ran: string[] = [];
    const onClose = vi.fn();
    const command = (name: string) => ({ name, hint: "", run: () => void ran.push(name) });
    page.show(<Palette commands={[command("Changes"), command("Usage")]} onClose={onClose} />);
    const options = () => [...document.querySelectorAll("[role=option]")].map((one) => one.querySelector(".title")?.textContent);
    expect(options()).toEqual(["Mend the door", "Changes", "Usage"]);
    const field = document.querySelector("[role=combobox]") as HTMLInputElement;
    press(field, "ArrowUp");
    await vi.waitFor(() => expect(document.querySelector("[aria-selected=true] .title")?.textContent).toBe("Usage"));
    press(field, "Enter");
    expect([ran, onClose.mock.calls.length]).toEqual([["Usage"], 1]);
    write(field, "chan");
    await vi.waitFor(() => expect(options()).toEqual(["Changes"]));
  });

  test("opens a session", () => {
    page.show(<Palette commands={[]} onClose={() => undefined} />);
    document.querySelector<HTMLElement>("[role=option]")?.click();
    expect(page.hub.select).toHaveBeenCalledWith("s");
  });

  test("the keys are a list of what each does", () => {
    page.show(<Keys onClose={() => undefined} />);
    const rows = [...document.querySelectorAll("dl.keys > div")];
    expect(rows.length).toBeGreaterThan(8);
    for (const row of rows) expect(row.querySelector("kbd")?.textContent && row.querySelector("dd")?.textContent).toBeTruthy();
  });
});

test("a hub that says nothing of shells has no tab for them", () => {
  page.hub.welcome = { version: "1" } as unknown as Welcome;
  inspect("files");
  expect(tabs()).not.toContain("Shell");
});

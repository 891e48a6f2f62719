// @vitest-environment happy-dom
/** What changes a session or its files for good: each says what it will do, waits for its second, and sends what was agreed to. */
import { render } from "preact";
import type { AgentEvent, CommandInput, JsonValue, SessionSummary } from "turnwire-client";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ModePicker } from "../src/composer/modes.js";
import { GitChanges } from "../src/inspector/git_changes.js";
import { SessionFacts } from "../src/inspector/session_facts.js";
import { Worktree } from "../src/inspector/worktree.js";
import { Worktrees } from "../src/library/worktrees.js";
import { drafts } from "../src/state/own_drafts.js";
import { FromHere } from "../src/view/from_here.js";
import { layOut, pass, tap } from "./layout.js";
import { button, buttons, clear, Page, SESSION, write } from "./page.js";

let page: Page;
/** What the hub answers, by the types of commands. */
let answers: Record<string, (command: CommandInput) => JsonValue | undefined>;

beforeEach(() => {
  vi.useFakeTimers();
  layOut();
  page = new Page();
  Object.assign(page.hub, { deselect: vi.fn() });
  answers = {};
  page.answer = (command) => (answers[command.type] ?? (() => null))(command);
});
afterEach(async () => {
  render(null, document.body);
  await pass(1000);
  clear();
  vi.useRealTimers();
});

async function show(view: preact.ComponentChild): Promise<void> {
  page.show(view);
  await pass(1500);
}
const text = () => document.body.textContent ?? "";
const able = (abilities: object, more: Partial<SessionSummary> = {}) => {
  page.hub.summary = { ...SESSION, ...more, abilities } as unknown as SessionSummary;
};

describe("the permission mode", () => {
  beforeEach(() => page.happens({ type: "session_mode", current_mode_id: "default" }));

  test("that asks as much is set at once, and one that asks less in a second step that says so", async () => {
    able({ modes: ["default", "plan", "bypassPermissions"] });
    await show(<ModePicker />);
    await tap(buttons().find((name) => name.startsWith("Plan")) as string);
    expect(page.sent).toEqual([{ type: "set_permission_mode", session: "s", mode: "plan" }]);
    page.sent.length = 0;
    await pass(1500);
    await tap(buttons().find((name) => name.startsWith("Ask nothing")) as string);
    expect(page.sent).toEqual([]);
    expect(document.querySelector(".wrong")?.textContent).toContain("It holds until you change it.");
    await pass(1500);
    await tap("Change to Ask nothing");
    expect(page.sent).toEqual([{ type: "set_permission_mode", session: "s", mode: "bypassPermissions" }]);
  });

  test("that would ask less can be thought better of, and the one that holds cannot be chosen", async () => {
    able({ modes: ["default", "bypassPermissions"] });
    await show(<ModePicker />);
    await tap(buttons().find((name) => name.startsWith("Ask")) as string);
    await tap(buttons().find((name) => name.startsWith("Ask nothing")) as string);
    button("Back").click();
    await pass(1500);
    expect(page.sent).toEqual([]);
    expect(buttons().length).toBe(2);
    expect(document.querySelector("[aria-current=true]")?.textContent).toContain("Ask");
  });

  test("is no choice where the agent has none", async () => {
    able({ modes: [] });
    await show(<ModePicker />);
    expect(text()).toBe("");
  });
});

describe("a message", () => {
  const row = () => {
    page.happens(
      { type: "turn_started", origin: "user", operation_id: "t1" },
      { type: "user_message", text: "First", uuid: "u1", operation_id: "t1" },
      { type: "complete", operation_id: "t1", data: { outcome: "completed", is_error: false, resume_token: "r1" } } as AgentEvent,
      { type: "turn_started", origin: "user", operation_id: "t2" },
      { type: "user_message", text: "Second", uuid: "u2", operation_id: "t2" },
    );
    const found = page.live.conversation.rows.filter((one) => one.kind === "user").at(-1);
    if (found?.kind !== "user") throw new Error("no message");
    return found;
  };

  test("is branched off from: the branch is shown, with the message in its field", async () => {
    able({ rewind: true, fork: true });
    answers["session.fork"] = () => ({ session: "branch" });
    await show(<FromHere row={row()} />);
    await tap("Fork from here");
    expect(page.sent).toEqual([{ type: "session.fork", session: "s", at: "r1" }]);
    expect(page.hub.select).toHaveBeenCalledWith("branch");
    expect(drafts.of("branch")).toBe("Second");
  });

  test("is gone back to in a second step, which says what is lost", async () => {
    able({ rewind: true, fork: false });
    await show(<FromHere row={row()} />);
    expect(buttons()).toEqual(["Go back to here"]);
    button("Go back to here").click();
    await pass(100);
    expect(text()).toContain("the agent knows it no more");
    await tap("Go back");
    expect(page.sent).toEqual([]);
    await pass(1500);
    await tap("Go back");
    expect(page.sent).toEqual([{ type: "session.resume", session: "s", at: "r1" }]);
  });

  test("is only read by who may only watch, and where the agent cannot go back", async () => {
    able({ rewind: false, fork: true });
    await show(<FromHere row={row()} />);
    expect(text()).toBe("");
    able({ rewind: true, fork: true });
    page.hub.mayControl = false;
    await show(<FromHere key="again" row={row()} />);
    expect(text()).toBe("");
  });
});

describe("a session", () => {
  test("is deleted in a second step that names what goes, and then left", async () => {
    await show(<SessionFacts />);
    await tap("Delete");
    expect(text()).toContain("Forget this session and all its events?");
    await tap("Delete it");
    expect(page.sent).toEqual([]);
    await pass(1500);
    await tap("Delete it");
    expect(page.sent).toEqual([{ type: "session.delete", session: "s" }]);
    expect((page.hub as unknown as { deselect: () => void }).deselect).toHaveBeenCalledOnce();
  });

  test("that could not be deleted stays on screen", async () => {
    answers["session.delete"] = () => undefined;
    await show(<SessionFacts />);
    await tap("Delete");
    await pass(1500);
    await tap("Delete it");
    expect(page.sent.length).toBe(1);
    expect((page.hub as unknown as { deselect: () => void }).deselect).not.toHaveBeenCalled();
  });

  test("is forked once, and the fork is shown", async () => {
    answers["session.fork"] = () => ({ session: "f" });
    await show(<SessionFacts />);
    await tap("Fork");
    expect(page.sent).toEqual([{ type: "session.fork", session: "s" }]);
    expect(page.hub.select).toHaveBeenCalledWith("f");
  });

  test.each([
    ["runs", { state: "idle" }, {}, ["Fork", "Retry last turn", "Close", "Delete"]],
    ["has ended", { state: "exited" }, {}, ["Resume", "Fork", "Retry last turn", "Delete"]],
    ["has ended and cannot be gone on with", { state: "exited" }, { resume: false, fork: false }, ["Retry last turn", "Delete"]],
  ])("that %s can be dealt with as its agent can", async (_, more, abilities, deeds) => {
    able(abilities, more as Partial<SessionSummary>);
    await show(<SessionFacts />);
    expect(buttons().filter((name) => !name.startsWith("Export") && name !== "Rename")).toEqual(deeds);
  });

  test("is renamed to what is written, without blanks around it", async () => {
    await show(<SessionFacts />);
    expect(button("Rename").disabled).toBe(true);
    write(document.querySelector("input[aria-label=Title]") as HTMLInputElement, "  The roof ");
    await pass(0);
    document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await pass(0);
    expect(page.sent).toEqual([{ type: "session.rename", session: "s", title: "The roof" }]);
  });

  test("is only told of to who may only watch", async () => {
    page.hub.mayControl = false;
    await show(<SessionFacts />);
    expect(buttons()).toEqual(["Export as Markdown", "Export as HTML"]);
    expect(text()).toContain("/srv/red");
  });
});

describe("the worktree of a session", () => {
  const status = (more: object = {}) => ({
    path: "/w/x", repository: "/srv/red", branch: "turnwire/x", base: "main", ahead: 2, behind: 1, uncommitted: [], conflicts: [],
    remote: "origin", pushed: false, ...more,
  }); // biome-ignore format: one line a thought
  const facts = () =>
    Object.fromEntries([...document.querySelectorAll("dl > div")].map((one) => [...one.children].map((part) => part.textContent?.trim())));

  test("says how it stands", async () => {
    answers["worktree.status"] = () => status({ uncommitted: ["a.txt", "b.txt"], conflicts: ["a.txt"] });
    await show(<Worktree />);
    expect(facts()).toMatchObject({
      Branch: "turnwire/x",
      Base: "main",
      Ahead: "2 commits that the base does not have",
      Behind: "1 commit of the base is missing",
      Pushed: "not all, to origin",
    });
    expect(text()).toContain("2 files not committed");
    expect(text()).toContain("A merge cannot join a.txt.");
  });

  test("is discarded by the plan that was shown, with its warnings, and says what is kept", async () => {
    answers["worktree.status"] = () => status();
    answers["worktree.act"] = (command) =>
      "plan" in command
        ? { done: ["The worktree is gone."], backup: "refs/turnwire/x" }
        : { plan: "p1", does: ["Removes /w/x."], commands: ["git worktree remove /w/x"], warnings: ["2 commits are in no branch."] };
    await show(<Worktree />);
    button("Discard …").click();
    await pass(300);
    const step = document.querySelector("section.step");
    expect(step?.getAttribute("aria-label")).toBe("Discard");
    expect(step?.textContent).toContain("Removes /w/x.");
    expect(step?.querySelector(".wrong")?.textContent).toBe("2 commits are in no branch.");
    expect(step?.textContent).toContain("git worktree remove /w/x");
    await tap("Discard the worktree");
    expect(page.sent.length).toBe(1);
    await pass(1500);
    await tap("Discard the worktree");
    expect(page.sent[1]).toEqual({ type: "worktree.act", session: "s", action: "discard", plan: "p1" });
    expect(document.querySelector("[role=status]")?.textContent).toContain("The worktree is gone.");
    expect(document.querySelector("[role=status]")?.textContent).toContain("The state before is kept as refs/turnwire/x.");
  });

  test("that has changed since is looked at anew, and its second begins again", async () => {
    let plan = 1;
    answers["worktree.status"] = () => status();
    answers["worktree.act"] = (command) => ("plan" in command ? undefined : { plan: `p${plan++}`, does: [`Look ${plan}`] });
    await show(<Worktree />);
    button("Merge …").click();
    await pass(1500);
    await tap("Merge");
    await pass(100);
    expect(text()).toContain("Look 3");
    await tap("Merge");
    expect(page.sent.map((command) => "plan" in command && command.plan)).toEqual([false, "p1", false]);
    await pass(1500);
    await tap("Merge");
    expect(page.sent.at(-2)).toMatchObject({ plan: "p2" });
  });

  test("takes a commit with its message alone, and nothing that is refused", async () => {
    answers["worktree.status"] = () => status();
    answers["worktree.act"] = () => ({ refusal: "Nothing is to be committed.", plan: "p" });
    await show(<Worktree />);
    button("Commit …").click();
    await pass(0);
    expect(page.sent).toEqual([]);
    expect(button("Show what it will do").disabled).toBe(true);
    write(document.querySelector("textarea") as HTMLTextAreaElement, " Mend it ");
    await pass(0);
    document.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await pass(1500);
    expect(page.sent).toEqual([{ type: "worktree.act", session: "s", action: "commit", message: "Mend it" }]);
    expect(document.querySelector("[role=alert]")?.textContent).toBe("Nothing is to be committed.");
    expect(buttons()).not.toContain("Commit");
  });

  test("that git cannot read says why", async () => {
    page.hub.client.command = async () => {
      throw new Error("The folder is gone.");
    };
    await show(<Worktree />);
    expect(document.querySelector("[role=alert]")?.textContent).toBe("The folder is gone.");
    expect(buttons()).toEqual([]);
  });
});

describe("worktrees of the machine", () => {
  const one = (more: object) => ({
    path: "/w/x",
    branch: "x",
    sessions: [],
    unsaved: [],
    ignored: [],
    keeps: [],
    removable: true,
    ...more,
  });

  test("are removed where nobody uses them, and say what goes with them", async () => {
    let worktrees = [
      one({ keeps: ["Keeps 1 file (5 bytes) that git ignores below /state: .env.", "node_modules/ is not kept."] }),
      one({ path: "/w/y", branch: "y", sessions: ["s"], unsaved: ["1 commit is in no other branch."], removable: false }),
    ];
    answers["worktree.list"] = () => ({ worktrees });
    await show(<Worktrees />);
    expect([...document.querySelectorAll("li")].map((node) => node.querySelector(".quiet")?.textContent)).toEqual([
      "no session · /w/x",
      "1 session · /w/y",
    ]);
    expect(text()).toContain("Keeps 1 file (5 bytes) that git ignores below /state: .env.");
    expect(text()).toContain("node_modules/ is not kept.");
    expect(document.querySelector(".wrong")?.textContent).toBe("1 commit is in no other branch.");
    worktrees = worktrees.slice(1);
    answers["worktree.remove"] = () => ({ path: "/w/x", branch: "x", backup: "/state/x-1", left: "Some files stay." });
    await tap("Remove");
    await pass(100);
    expect(page.sent).toEqual([{ type: "worktree.remove", path: "/w/x" }]);
    expect([...document.querySelectorAll("[role=status]")].map((node) => node.textContent)).toEqual([
      "Files that git ignored in /w/x are kept in /state/x-1",
      "Some files stay.",
    ]);
    expect(buttons()).toEqual([]);
  });

  test("are not spoken of where there are none", async () => {
    answers["worktree.list"] = () => ({ worktrees: [] });
    await show(<Worktrees />);
    expect(text()).toBe("");
  });
});

describe("changes that git sees", () => {
  const PATCH = "@@ -1,2 +1,2 @@\n-old\n+new\n same\n@@ -9,2 +9,2 @@\n-late\n+later\n same\n";
  const listed = (...files: object[]) => {
    answers["workspace.diff"] = (command) => ("path" in command ? { patch: PATCH } : { files, complete: true }) as JsonValue;
  };
  const open = async () => {
    await show(<GitChanges filter={null} against="commit" />);
    (document.querySelector(".file .fold-head") as HTMLElement).click();
    await pass(1500);
  };

  test("of a part are taken back in a second step, and say how to write them again", async () => {
    listed({ path: "a.txt", status: "modified", added: 2, removed: 2, version: "v1" });
    answers["workspace.revert"] = () => ({ restore: "git apply /tmp/x" });
    await open();
    const parts = [...document.querySelectorAll("button")].filter((node) => node.textContent === "Revert this part …");
    expect(parts.length).toBe(2);
    parts[1]?.click();
    await pass(100);
    await tap("Revert this part");
    expect(page.sent.filter(({ type }) => type === "workspace.revert")).toEqual([]);
    await pass(1500);
    await tap("Revert this part");
    expect(page.sent.filter(({ type }) => type === "workspace.revert")).toEqual([
      { type: "workspace.revert", session: "s", path: "a.txt", version: "v1", hunk: "@@ -9,2 +9,2 @@\n-late\n+later\n same\n" },
    ]);
    expect(document.querySelector("[role=status]")?.textContent).toContain(
      "Changes of a.txt were reverted. This writes them again: git apply /tmp/x",
    );
  });

  test("of a file that was renamed are taken back with both its names", async () => {
    listed({ path: "b.txt", old_path: "a.txt", status: "renamed", added: 1, removed: 1 });
    await open();
    expect(text()).toContain("was a.txt");
    button("Revert the file …").click();
    await pass(1500);
    button("Keep it").click();
    await pass(100);
    button("Revert the file …").click();
    await pass(1500);
    await tap("Revert the file");
    expect(page.sent.filter(({ type }) => type === "workspace.revert")).toEqual([
      { type: "workspace.revert", session: "s", path: "b.txt", old_path: "a.txt" },
    ]);
  });

  test("against the base can be read alone", async () => {
    listed({ path: "a.txt", status: "modified", added: 2, removed: 2 });
    await show(<GitChanges filter={null} against="base" />);
    (document.querySelector(".file .fold-head") as HTMLElement).click();
    await pass(1500);
    expect(text()).toContain("later");
    expect(buttons().filter((name) => name.startsWith("Revert"))).toEqual([]);
  });

  test("that are none say so", async () => {
    listed();
    await show(<GitChanges filter={null} against="commit" />);
    expect(text()).toContain("Nothing differs from the last commit.");
  });
});

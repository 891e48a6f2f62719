/** Sessions in the order in which they want somebody: who waits, who runs, then the recent ones by folder. Pure. */
import type { SessionSummary } from "turnwire-client";
import { namedPath } from "../text/path.js";

export interface Group {
  readonly kind: "waiting" | "running" | "folder";
  readonly title: string;
  /** The whole path of a folder. */
  readonly path: string;
  readonly sessions: readonly SessionSummary[];
}

const RUNNING = new Set<SessionSummary["state"]>(["starting", "running", "stopping", "replaying"]);

function fits(summary: SessionSummary, words: readonly string[]): boolean {
  const text = [summary.title, summary.session, summary.workspace, summary.agent, summary.model].join("\n").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Groups what the hub lists, oldest first, newest first. */
export function inbox(sessions: readonly SessionSummary[], query = ""): Group[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = sessions.filter((summary) => fits(summary, words)).reverse();
  const waiting = found.filter(({ pending, state }) => pending > 0 || state === "waiting");
  const running = found.filter((summary) => !waiting.includes(summary) && RUNNING.has(summary.state));
  const folders = new Map<string, SessionSummary[]>();
  const taken = new Set([...waiting, ...running]);
  for (const summary of found) {
    if (taken.has(summary)) continue;
    // A worktree stands with the repository that it is of.
    const path = summary.worktree?.repository ?? summary.workspace ?? "";
    const inside = folders.get(path);
    if (inside) inside.push(summary);
    else folders.set(path, [summary]);
  }
  const groups: Group[] = [...folders].map(([path, inside]) => ({
    kind: "folder",
    title: namedPath(path).name || "Elsewhere",
    path,
    sessions: inside,
  }));
  if (running.length > 0) groups.unshift({ kind: "running", title: "Running", path: "", sessions: running });
  if (waiting.length > 0) groups.unshift({ kind: "waiting", title: "Waits for you", path: "", sessions: waiting });
  return groups;
}

/** Folders that sessions are in, the one used last first. */
export function recentFolders(sessions: readonly SessionSummary[]): string[] {
  return [...new Set(sessions.flatMap(({ workspace, worktree }) => worktree?.repository ?? workspace ?? []).reverse())];
}

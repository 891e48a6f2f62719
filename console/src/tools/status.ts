/** What has become of a call, in a word: it runs only once nobody is asked about it, and it is done only if it says so. */

import type { ToolRow } from "../model/rows.js";
import { isAsked } from "../model/tool_row.js";
import type { Tone } from "../parts/parts.js";
import { known } from "../text/format.js";
import { visibleCode } from "../text/visible.js";

const REASONS: Record<string, string> = {
  failed: "failed",
  denied: "denied",
  interrupted: "interrupted",
  process_exited: "the agent exited",
  no_result: "no result",
};

/** States of tasks in the background, by what they mean; another one is of a newer hub. */
const TASKS: Record<string, Tone> = {
  running: "plain",
  pending: "plain",
  completed: "plain",
  failed: "bad",
  stopped: "plain",
  killed: "plain",
};

export interface Status {
  readonly tone: Tone;
  readonly text: string;
}

export function statusOf(row: ToolRow): Status {
  if (isAsked(row)) return { tone: "warn", text: "waits for you" };
  if (row.update?.background && row.status !== "error") {
    const task = row.task?.task_status;
    return task === undefined
      ? { tone: "plain", text: "in the background" }
      : { tone: known(TASKS, task) ?? "warn", text: visibleCode(task) };
  }
  if (row.status === "running") {
    if (row.request?.resolved?.behavior === "deny") return { tone: "bad", text: "denied" };
    return row.behind ? { tone: "plain", text: "not begun" } : { tone: "busy", text: "running" };
  }
  if (row.status === "error") {
    const reason = row.update?.reason ?? "failed";
    return { tone: "bad", text: known(REASONS, reason) ?? visibleCode(reason) };
  }
  if (row.status === "complete") return { tone: "good", text: "done" };
  // A word of a newer hub: what it means is not known here.
  return { tone: "warn", text: visibleCode(String(row.status)) };
}

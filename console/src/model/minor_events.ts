/** Quiet events as one line each. */
import type {
  Consolidation,
  History,
  HookActivity,
  Injected,
  Notice,
  ProcessStatus,
  Queued,
  RateLimit,
  SessionMode,
  SessionStatus,
  TaskUpdate,
  Withdrawn,
} from "turnwire-client";

import { known } from "../text/format.js";
import { limitText, spaced } from "../text/words.js";
import { modeOf } from "./modes.js";

/** Events that may be quiet. */
type QuietEvent =
  | SessionStatus
  | SessionMode
  | HookActivity
  | Queued
  | Injected
  | Withdrawn
  | TaskUpdate
  | Consolidation
  | History
  | Notice
  | ProcessStatus
  | RateLimit;

const STATUSES = { new: "A new conversation", resumed: "The conversation goes on" };

const join = (...parts: Array<string | undefined>) => parts.filter(Boolean).join(" · ");

/** The line that tells of an event; undefined when it is to be told louder, or elsewhere. */
export function minorEvent(event: QuietEvent): { label: string; text: string } | undefined {
  switch (event.type) {
    case "session_status":
      return { label: "session", text: known(STATUSES, event.data.session_status) ?? `The conversation: ${event.data.session_status}` };
    case "session_mode":
      return { label: "mode", text: `Permission mode is now “${modeOf(event.current_mode_id).name}”` };
    case "hook_activity": {
      // What the sidecar was asked and answered stands at the tool or the request it was about.
      if (event.phase === "callback" || event.phase === "answered") return undefined;
      const what = join(event.hook_event, event.hook_name !== event.hook_event ? event.hook_name : undefined, event.tool_name);
      const outcome = join(event.outcome, event.exit_code ? `exit ${event.exit_code}` : undefined, event.output ?? event.stderr);
      return { label: `hook ${event.phase}`, text: join(what, outcome) };
    }
    case "queued":
      if (event.prompt !== undefined) return undefined; // It is listed above the field.
      return { label: "queue", text: `A prompt waits${event.position ? `, place ${event.position}` : ""}` };
    case "injected":
      return { label: "queue", text: `${event.message_count} waiting prompt${event.message_count === 1 ? "" : "s"} joined this turn` };
    case "withdrawn":
      return { label: "queue", text: "A waiting prompt was withdrawn" };
    case "task_update":
      return {
        label: `task ${spaced(event.task_status)}`,
        text: join(event.description, event.summary, event.last_tool_name) || event.task_id,
      };
    case "consolidation":
      return { label: "memory", text: `${event.entries_created} new, ${event.entries_updated} changed` };
    case "notice":
      return event.level === "info" ? { label: spaced(event.kind), text: event.text } : undefined;
    case "history":
      return { label: "history", text: event.text };
    case "process_status":
      if (event.state === "started") return { label: "process", text: "The agent started" };
      if (event.state === "resumed") return { label: "process", text: "The agent speaks again" };
      return undefined;
    case "rate_limit":
      return event.status === "allowed" ? { label: "rate limit", text: limitText(event.rate_limit_message) } : undefined;
    default:
      event satisfies never;
      return undefined;
  }
}

/**
 * The line an event came from. The events of one line follow each other, and the log keeps the line with the first of
 * them; so for the others one goes back. What the sidecar says by itself has no line.
 */
import type { AgentEvent, JsonValue } from "turnwire-client";
import type { ConsoleState } from "../state/console_state.js";
import type { LiveSession } from "../state/live.js";

export interface Whole {
  readonly event: JsonValue;
  /** Undefined when there is none. */
  readonly line: string | undefined;
  /** The event the line is kept with. */
  readonly seq: number;
}

const OWN = new Set<AgentEvent["type"]>(["process_status", "permission_resolved"]);
/** One line makes no more events than this before the one that is asked for. */
const FURTHEST = 12;

async function get(hub: ConsoleState, session: string, seq: number): Promise<{ event: JsonValue; raw: JsonValue } | undefined> {
  const result = await hub.run({ type: "payload.get", session, seq });
  if (typeof result !== "object" || result === null || Array.isArray(result)) return undefined;
  return { event: result.event ?? null, raw: result.raw ?? null };
}

export async function wholeOf(hub: ConsoleState, live: LiveSession, seq: number): Promise<Whole | undefined> {
  const asked = await get(hub, live.id, seq);
  if (!asked) return undefined;
  const { log } = live.conversation;
  const first = log[0]?.seq ?? 1;
  let at = seq;
  let raw = asked.raw;
  while (typeof raw !== "string" && at > first && seq - at < FURTHEST && !OWN.has(log[at - first]?.event.type ?? "process_status")) {
    at -= 1;
    raw = (await get(hub, live.id, at))?.raw ?? null;
  }
  return { event: asked.event, line: typeof raw === "string" ? raw : undefined, seq: at };
}

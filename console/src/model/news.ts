/** What happened in sessions between two lists of them, worth telling somebody who does not look. Pure. */
import type { SessionSummary } from "turnwire-client";

export interface News {
  readonly session: string;
  readonly title: string;
  readonly what: "asks you" | "has finished" | "has exited";
}

const BUSY = new Set<SessionSummary["state"]>(["running", "waiting", "starting", "stopping"]);

export function news(before: readonly SessionSummary[], after: readonly SessionSummary[]): News[] {
  const known = new Map(before.map((summary) => [summary.session, summary]));
  return after.flatMap((summary): News[] => {
    const { session, state, pending } = summary;
    const past = known.get(session);
    if (!past) return pending > 0 && before.length > 0 ? [{ session, title: summary.title ?? session, what: "asks you" }] : [];
    const title = summary.title ?? session;
    if (pending > past.pending) return [{ session, title, what: "asks you" }];
    if (state === "exited" && BUSY.has(past.state)) return [{ session, title, what: "has exited" }];
    if (state === "idle" && (past.state === "running" || past.state === "waiting")) return [{ session, title, what: "has finished" }];
    return [];
  });
}

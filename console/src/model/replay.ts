import type { SessionSummary } from "turnwire-client";

/** A recording that is played: nobody is there to be told anything. */
export function isReplay(summary: SessionSummary | undefined): boolean {
  return summary !== undefined && (summary.state === "replaying" || summary.position !== undefined);
}

/** What the agent does at this moment, as far as its events tell. */
import type { Conversation } from "./conversation.js";
import type { Row, ToolRow } from "./rows.js";
import { isAsked } from "./tool_row.js";

export type Activity =
  | { readonly kind: "tool"; readonly row: ToolRow; readonly more: number }
  | { readonly kind: "thinking" | "writing" | "retrying" | "waiting" };

/** How far back a call that still runs is looked for. */
const NEAR = 40;

/** Whether it runs: nobody is asked about it, nobody has denied it, and it does not wait behind a call that was asked about. */
const runs = (row: ToolRow) =>
  row.status === "running" && !row.update?.background && !row.behind && !isAsked(row) && row.request?.resolved?.behavior !== "deny";

export function activity({ rows }: Pick<Conversation, "rows">): Activity {
  let newest: ToolRow | undefined;
  let running = 0;
  for (let at = rows.length - 1; at >= Math.max(0, rows.length - NEAR); at -= 1) {
    const row = rows[at] as Row;
    if (row.kind === "turn") break;
    if (row.kind === "tool" && runs(row)) {
      newest ??= row;
      running += 1;
    }
  }
  if (newest) return { kind: "tool", row: newest, more: running - 1 };
  const last = rows.at(-1);
  if (last?.kind === "reasoning" && last.live) return { kind: "thinking" };
  if (last?.kind === "text" && last.live) return { kind: "writing" };
  if (last?.kind === "fact" && last.event.type === "api_retry" && !last.over) return { kind: "retrying" };
  return { kind: "waiting" };
}

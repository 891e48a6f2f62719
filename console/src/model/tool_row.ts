import type { ToolCall, ToolUpdate } from "turnwire-client";
import type { NewRow, ToolRow } from "./rows.js";

type NewToolRow = Extract<NewRow, { kind: "tool" }>;

/** A tool's row as its first event makes it; an update without a call makes one too, so that nothing is lost. */
export function newTool(id: string, event: ToolCall | ToolUpdate): NewToolRow {
  return {
    kind: "tool",
    id,
    name: event.tool_name ?? "",
    title: event.tool_title ?? event.tool_name ?? id,
    status: "running",
    payload: event.normalized,
    update: undefined,
    plan: undefined,
    task: undefined,
    children: [],
    edited: false,
    group: [],
    over: false,
    leader: undefined,
    message: event.message_id,
    behind: false,
    request: undefined,
    truncated: event.truncated,
    span: undefined,
  };
}

/** A call that is asked about has not begun. */
export const isAsked = ({ request }: ToolRow) => request !== undefined && !request.resolved && !request.cancelled;

/** What a request asks, in a few words. */
import type { PermissionRequest, SessionSummary } from "turnwire-client";
import { known } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { pathOf } from "./cards.js";
import type { RequestRow } from "./rows.js";

const ACTIONS: Record<PermissionRequest["action_type"], string> & Record<string, string | undefined> = {
  command: "May the agent run this command?",
  file_write: "May the agent change this file?",
  file_read: "May the agent read this?",
  network: "May the agent reach the network?",
  mcp_tool: "May the agent use this tool?",
  other: "May the agent do this?",
};

/** What a session is called: by people or its agent, else by its first prompt. Before that the hub gives its folder, which is no name. */
export function sessionTitle({ title, session, workspace, agent }: SessionSummary): string {
  if (title === undefined) return visibleCode(session);
  const isFolder = workspace !== undefined && (title === workspace || title === namedPath(workspace).name);
  return isFolder ? `New session${agent === undefined ? "" : ` with ${visibleCode(agent)}`}` : visibleCode(title);
}

export function requestTitle(row: RequestRow): string {
  const { request } = row;
  if (request.type === "permission_request")
    return isPlan(row)
      ? "The agent’s plan waits for your approval"
      : (known(ACTIONS, request.action_type) ?? `May the agent do this? (${request.action_type})`);
  if (request.kind === "ask_user") return request.questions?.length === 1 ? "The agent has a question" : "The agent has questions";
  return request.mcp_server ? `${request.mcp_server} asks you` : "You are asked";
}

export function isPlan(row: RequestRow): boolean {
  return (
    row.request.type === "permission_request" && (row.request.tool_name === "ExitPlanMode" || row.request.normalized?.kind === "show_plan")
  );
}

/** What stands below the title, always in sight: a path, or what else the request names. */
export function subjectOf(row: RequestRow): { path: string } | { text: string } | undefined {
  const { request } = row;
  if (request.type !== "permission_request" || isPlan(row)) return undefined;
  const payload = request.normalized ?? row.tool?.payload;
  const path = pathOf(payload);
  if (path !== undefined) return { path };
  // A command is shown below, all of it: its first line here would look like the whole.
  if (payload?.kind === "shell_exec" && payload.shell_exec.command) return undefined;
  return request.permission_title ? { text: request.permission_title } : undefined;
}

/** What a tool card says in one line: an icon, a verb, and what it concerns. */
import type { NormalizedPayload, TodoItem } from "turnwire-client";
import type { ToolRow } from "../model/rows.js";
import type { IconName } from "../parts/icons.js";
import { count, duration, known, plural } from "../text/format.js";

export interface Head {
  readonly icon: IconName;
  readonly verb: string;
  readonly subject: string;
  /** The subject is code, a path or an address. */
  readonly mono: boolean;
  /** The subject is a path. */
  readonly path?: boolean;
  /** What came of it, in a few words. */
  readonly facts: string[];
}

const CHANGES: Record<string, string | undefined> = {
  create: "Create",
  overwrite: "Overwrite",
  edit: "Edit",
  insert: "Insert",
  delete: "Delete",
};
const OPERATIONS = { run: "Run", read: "Read output", stop: "Stop" };
const defined = (...facts: Array<string | undefined | false>) => facts.filter((fact): fact is string => Boolean(fact));

/** What becomes of one to-do. */
function changesOf(item: TodoItem | undefined): string[] {
  const after = item?.blocked_by ?? [];
  return defined(item?.status.replace("_", " "), after.length > 0 && `after ${after.join(", ")}`);
}

function ofPayload(payload: NormalizedPayload): Head | undefined {
  switch (payload.kind) {
    case "read_file": {
      const { file_path: subject, output } = payload.read_file;
      const lines = output?.line_count;
      return {
        icon: "file",
        verb: "Read",
        subject,
        mono: true,
        path: true,
        facts: defined(lines !== undefined && plural(lines, "line"), output?.truncated && "more in the file"),
      };
    }
    case "modify_file": {
      const { file_path: subject, mutations, output } = payload.modify_file;
      const added = output?.added_lines;
      const removed = output?.removed_lines;
      return {
        icon: "edit",
        verb: known(CHANGES, mutations[0]?.type ?? "edit") ?? `Change (${mutations[0]?.type})`,
        subject,
        mono: true,
        path: true,
        facts: defined(
          added !== undefined && `+${added}`,
          removed !== undefined && `−${removed}`,
          output?.user_modified && "changed by a human",
        ),
      };
    }
    case "shell_exec": {
      const { command, task_id, operation, background, output } = payload.shell_exec;
      const verb = known(OPERATIONS, operation ?? "run") ?? `Shell (${operation})`;
      const exit = output?.exit_code;
      return {
        icon: "terminal",
        verb,
        subject: command || task_id || "",
        mono: true,
        facts: defined(
          exit !== undefined && exit !== 0 && `exit ${exit}`,
          output?.timed_out && "timed out",
          output?.interrupted && "interrupted",
          background && "in the background",
        ),
      };
    }
    case "code_search": {
      const { query, pattern, path, glob, output } = payload.code_search;
      const where = defined(path && `in ${path}`, glob !== pattern && glob).join(" ");
      const files = output?.file_count;
      const matches = output?.match_count;
      return {
        icon: "search",
        verb: "Search",
        subject: [query ?? pattern ?? "", where].join(" ").trim(),
        mono: true,
        facts: defined(
          matches !== undefined && plural(matches, "match").replace("matchs", "matches"),
          files !== undefined && plural(files, "file"),
          output?.truncated && "more found",
        ),
      };
    }
    case "http_request": {
      const { url, query, status } = payload.http_request;
      return {
        icon: "globe",
        verb: query === undefined ? "Fetch" : "Search the web",
        subject: url ?? query ?? "",
        mono: url !== undefined,
        facts: defined(status !== undefined && `HTTP ${status}`),
      };
    }
    case "subagent_task": {
      const { description, subagent_type, background, output } = payload.subagent_task;
      return {
        icon: "agent",
        verb: subagent_type ? `Agent ${subagent_type}` : "Agent",
        subject: description,
        mono: false,
        facts: defined(
          background && "in the background",
          output?.tool_use_count !== undefined && plural(output.tool_use_count, "tool"),
          output?.total_tokens !== undefined && `${count(output.total_tokens)} tokens`,
          output?.duration_ms !== undefined && duration(output.duration_ms),
        ),
      };
    }
    case "create_task":
      return { icon: "list", verb: "New task", subject: payload.create_task.title, mono: false, facts: [] };
    case "manage_todos": {
      const { items, operation } = payload.manage_todos;
      const done = items.filter((item) => item.status === "completed").length;
      return {
        icon: "list",
        verb: "To do",
        subject: operation === "get" || operation === "update" ? (items[0]?.description ?? "") : "",
        mono: false,
        facts:
          operation === "get" || operation === "update" ? changesOf(items[0]) : items.length > 0 ? [`${done} of ${items.length} done`] : [],
      };
    }
    case "show_plan": {
      const { operation, approved, file_path } = payload.show_plan;
      return {
        icon: "plan",
        verb: operation === "enter" ? "Enter plan mode" : operation === "exit" ? "Plan" : `Plan (${operation})`,
        subject: file_path ?? "",
        mono: true,
        facts: defined(approved === true && "approved", approved === false && "not approved"),
      };
    }
    case "ask_user":
      return {
        icon: "ask",
        verb: "Question",
        subject: payload.ask_user.questions.map((q) => q.header ?? q.question).join(", "),
        mono: false,
        facts: payload.ask_user.answers ? ["answered"] : [],
      };
    case "mcp_tool":
      return { icon: "plug", verb: payload.mcp_tool.server, subject: payload.mcp_tool.tool, mono: true, facts: [] };
    case "generic":
      return { icon: "tool", verb: payload.generic.name, subject: "", mono: false, facts: [] };
    case "misc":
      return { icon: "tool", verb: payload.misc.label, subject: "", mono: false, facts: [] };
    default:
      payload satisfies never; // Of a newer hub.
      return undefined;
  }
}

export function toolHead(row: ToolRow): Head {
  const head = row.payload && ofPayload(row.payload);
  if (!head) return { icon: "tool", verb: row.name || "Tool", subject: row.title === row.name ? "" : row.title, mono: false, facts: [] };
  const list = row.payload?.kind === "manage_todos" ? row.payload.manage_todos : undefined;
  return head.subject === "" &&
    (!list || (list.operation === "get" && list.items.length === 0)) &&
    row.payload?.kind !== "show_plan" &&
    row.title !== head.verb &&
    row.title !== row.name
    ? { ...head, subject: row.title, mono: false }
    : head;
}

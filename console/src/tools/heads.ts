/** What a tool card says in one line: an icon, a verb, and what it concerns. */
import type { NormalizedPayload, TodoItem } from "turnwire-client";
import { cardOf, type Kind, type Payload } from "../model/cards.js";
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

const HEADS: { readonly [K in Kind]: (payload: Payload<K>) => Head } = {
  read_file: (payload) => {
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
  },
  modify_file: (payload) => {
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
  },
  shell_exec: (payload) => {
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
  },
  code_search: (payload) => {
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
  },
  http_request: (payload) => {
    const { url, query, status } = payload.http_request;
    return {
      icon: "globe",
      verb: query === undefined ? "Fetch" : "Search the web",
      subject: url ?? query ?? "",
      mono: url !== undefined,
      facts: defined(status !== undefined && `HTTP ${status}`),
    };
  },
  subagent_task: (payload) => {
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
  },
  create_task: (payload) => ({ icon: "list", verb: "New task", subject: payload.create_task.title, mono: false, facts: [] }),
  manage_todos: (payload) => {
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
  },
  show_plan: (payload) => {
    const { operation, approved, file_path } = payload.show_plan;
    return {
      icon: "plan",
      verb: operation === "enter" ? "Enter plan mode" : operation === "exit" ? "Plan" : `Plan (${operation})`,
      subject: file_path ?? "",
      mono: true,
      facts: defined(approved === true && "approved", approved === false && "not approved"),
    };
  },
  ask_user: (payload) => ({
    icon: "ask",
    verb: "Question",
    subject: payload.ask_user.questions.map((q) => q.header ?? q.question).join(", "),
    mono: false,
    facts: payload.ask_user.answers ? ["answered"] : [],
  }),
  mcp_tool: (payload) => ({ icon: "plug", verb: payload.mcp_tool.server, subject: payload.mcp_tool.tool, mono: true, facts: [] }),
  generic: (payload) => ({ icon: "tool", verb: payload.generic.name, subject: "", mono: false, facts: [] }),
  misc: (payload) => ({ icon: "tool", verb: payload.misc.label, subject: "", mono: false, facts: [] }),
};

export function toolHead(row: ToolRow): Head {
  const head =
    row.payload && known(HEADS as Readonly<Record<string, (payload: NormalizedPayload) => Head>>, row.payload.kind)?.(row.payload);
  if (!row.payload || !head)
    return { icon: "tool", verb: row.name || "Tool", subject: row.title === row.name ? "" : row.title, mono: false, facts: [] };
  return head.subject === "" && !cardOf(row.payload)?.isSubjectOwn?.(row.payload) && row.title !== head.verb && row.title !== row.name
    ? { ...head, subject: row.title, mono: false }
    : head;
}

/**
 * What the card of a call is, by the kind of its payload, but for what draws it: heads and bodies are tables by the same `Kind` in tools/.
 * A kind without a row does not compile. Pure.
 */
import type { NormalizedPayload, TodoItem } from "turnwire-client";
import { known } from "../text/format.js";

export type Kind = NormalizedPayload["kind"];
export type Payload<K extends Kind> = Extract<NormalizedPayload, { kind: K }>;

export interface Card<K extends Kind> {
  /** Its body says more than its head, and is short enough to stand open. Absent: it never does. */
  readonly opens?: (payload: Payload<K>) => boolean;
  /** Calls one after another that have this in common share a row. */
  readonly shares?: "looks" | "todos" | "commands";
  /** What a shared row names of the call. */
  readonly names?: (payload: Payload<K>) => string[];
  /** The file that the call is about. */
  readonly path?: (payload: Payload<K>) => string;
  /** The to-dos that the call tells. */
  readonly todos?: (payload: Payload<K>) => readonly TodoItem[];
  /** The head may have no subject: the agent's title does not take its place. */
  readonly isSubjectOwn?: (payload: Payload<K>) => boolean;
  /** The body shows the plan that belongs to the call. */
  readonly showsPlan?: true;
  /** What a subagent was asked. */
  readonly task?: (payload: Payload<K>) => string;
  /** What a subagent answered. */
  readonly report?: (payload: Payload<K>) => string | undefined;
  /** The texts that the view of a request shows whole; home: the session's folder. Absent: the request has no view of its own. */
  readonly shows?: (payload: Payload<K>, home: string) => unknown[];
  /** The body shows this error already. */
  readonly showsError?: (payload: Payload<K>, error: string) => boolean;
  /** Pixels that the card is taken for before it is drawn. Absent: as any call. */
  readonly height?: number;
}

const contains = (error: string, text: string | undefined) => text !== undefined && text !== "" && error.includes(text.trim());

const CARDS: { readonly [K in Kind]: Card<K> } = {
  read_file: { shares: "looks", path: ({ read_file }) => read_file.file_path },
  modify_file: {
    opens: () => true,
    path: ({ modify_file }) => modify_file.file_path,
    shows: ({ modify_file: { file_path: path, mutations } }) => [
      path,
      ...mutations.flatMap((one) => [one.file_path, one.content, one.old_content, one.new_content, one.diff, one.cell_id]),
    ],
    showsError: ({ modify_file }, error) => modify_file.output?.message?.trim() === error.trim(),
  },
  shell_exec: {
    opens: () => true,
    shares: "commands",
    names: ({ shell_exec }) => [shell_exec.command.split("\n")[0] ?? ""],
    // The session's own folder stands at the top of the page; where else a command runs is an argument like others.
    shows: ({ shell_exec }, home) => [shell_exec.command, shell_exec.description, home],
    showsError: ({ shell_exec: { output } }, error) => contains(error, output?.stdout) || contains(error, output?.stderr),
    height: 150,
  },
  code_search: { shares: "looks" },
  http_request: { showsError: ({ http_request }, error) => http_request.response?.trim() === error.trim() },
  subagent_task: {
    task: ({ subagent_task }) => subagent_task.prompt,
    report: ({ subagent_task }) => subagent_task.output?.text,
    shows: ({ subagent_task }) => [subagent_task.prompt],
  },
  create_task: { shares: "todos", names: ({ create_task }) => [create_task.title] },
  manage_todos: {
    // Of a list the whole of it; what becomes of one entry its head says already.
    opens: ({ manage_todos }) => manage_todos.items.length > 1,
    shares: "todos",
    names: ({ manage_todos }) => manage_todos.items.map(({ description }) => description),
    todos: ({ manage_todos }) => manage_todos.items,
    isSubjectOwn: ({ manage_todos }) => manage_todos.operation !== "get" || manage_todos.items.length > 0,
  },
  show_plan: { isSubjectOwn: () => true, showsPlan: true },
  ask_user: {},
  mcp_tool: { showsError: ({ mcp_tool }, error) => mcp_tool.output?.some(({ text }) => contains(error, text?.trim())) ?? false },
  generic: { showsError: ({ generic }, error) => generic.output === error },
  misc: {},
};

/** Undefined without a payload, and of a kind that a newer hub has. The row's functions take that payload alone. */
export const cardOf = (payload: NormalizedPayload | undefined): Card<Kind> | undefined =>
  known(CARDS as Readonly<Record<string, Card<Kind>>>, payload?.kind);

/** The file that a call is about. */
export const pathOf = (payload: NormalizedPayload | undefined): string | undefined => payload && cardOf(payload)?.path?.(payload);

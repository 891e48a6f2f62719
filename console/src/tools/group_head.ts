/** What a group of calls says in one line. */
import type { ToolRow } from "../model/rows.js";
import type { IconName } from "../parts/icons.js";
import { plural } from "../text/format.js";
import { namedPath } from "../text/path.js";

/** Names told beside the number. */
const NAMED = 12;

interface GroupHead {
  readonly icon: IconName;
  readonly verb: string;
  readonly names: string;
  /** What came of it, in a few words. */
  readonly facts?: string | undefined;
}

/** Names of to-dos that a call tells. */
function todos({ payload }: ToolRow): string[] {
  if (payload?.kind === "create_task") return [payload.create_task.title];
  return payload?.kind === "manage_todos" ? payload.manage_todos.items.map(({ description }) => description) : [];
}

/** How far the list is by the last call that tells all of it. */
function progress(calls: readonly ToolRow[]): string | undefined {
  const items = calls.findLast(({ payload }) => payload?.kind === "manage_todos" && payload.manage_todos.items.length > 1)?.payload;
  if (items?.kind !== "manage_todos") return undefined;
  const all = items.manage_todos.items.filter(({ status }) => status !== "deleted");
  return `${all.filter(({ status }) => status === "completed").length} of ${all.length} done`;
}

const named = (names: readonly string[]) => [...new Set(names)].slice(0, NAMED).join(", ");

export function groupHead(calls: readonly ToolRow[]): GroupHead {
  if (calls.some(({ payload }) => payload?.kind === "create_task" || payload?.kind === "manage_todos"))
    return { icon: "list", verb: `To-do list changed ${calls.length}×`, names: named(calls.flatMap(todos)), facts: progress(calls) };
  if (calls[0]?.payload?.kind === "shell_exec")
    return {
      icon: "terminal",
      verb: `Ran ${calls.length} commands`,
      names: named(
        calls.flatMap(({ payload }) => (payload?.kind === "shell_exec" ? [payload.shell_exec.command.split("\n")[0] ?? ""] : [])),
      ),
    };
  const reads = calls.flatMap(({ payload }) => (payload?.kind === "read_file" ? [payload.read_file.file_path] : []));
  const files = new Set(reads).size;
  const searches = calls.length - reads.length;
  const verb = [files > 0 && `Read ${plural(files, "file")}`, searches > 0 && `${files > 0 ? "searched" : "Searched"} ${searches}×`];
  return {
    icon: files > 0 ? "file" : "search",
    verb: verb.filter(Boolean).join(", "),
    names: named(reads.map((path) => namedPath(path).name)),
  };
}

/** What a group of calls says in one line. */
import { type Card, cardOf, type Kind, pathOf } from "../model/cards.js";
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

/** How far the list is by the last call that tells all of it. */
function progress(calls: readonly ToolRow[]): string | undefined {
  const lists = calls.map(({ payload }) => (payload && cardOf(payload)?.todos?.(payload)) ?? []);
  const all = lists.findLast((items) => items.length > 1)?.filter(({ status }) => status !== "deleted");
  return all && `${all.filter(({ status }) => status === "completed").length} of ${all.length} done`;
}

const unique = (names: readonly string[]) => [...new Set(names)].slice(0, NAMED).join(", ");
const namesOf = (calls: readonly ToolRow[]) => unique(calls.flatMap(({ payload }) => (payload && cardOf(payload)?.names?.(payload)) ?? []));

function looks(calls: readonly ToolRow[]): GroupHead {
  const reads = calls.flatMap(({ payload }) => pathOf(payload) ?? []);
  const files = new Set(reads).size;
  const searches = calls.length - reads.length;
  const verb = [files > 0 && `Read ${plural(files, "file")}`, searches > 0 && `${files > 0 ? "searched" : "Searched"} ${searches}×`];
  return {
    icon: files > 0 ? "file" : "search",
    verb: verb.filter(Boolean).join(", "),
    names: unique(reads.map((path) => namedPath(path).name)),
  };
}

const HEADS: Record<NonNullable<Card<Kind>["shares"]>, (calls: readonly ToolRow[]) => GroupHead> = {
  todos: (calls) => ({ icon: "list", verb: `To-do list changed ${calls.length}×`, names: namesOf(calls), facts: progress(calls) }),
  commands: (calls) => ({ icon: "terminal", verb: `Ran ${calls.length} commands`, names: namesOf(calls) }),
  looks,
};

/** `calls` share a row, so all share the same. */
export function groupHead(calls: readonly ToolRow[]): GroupHead {
  return HEADS[cardOf(calls[0]?.payload)?.shares ?? "looks"](calls);
}

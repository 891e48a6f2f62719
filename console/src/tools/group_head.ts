/** What a group of calls says in one line. */
import type { ToolRow } from "../model/rows.js";
import { plural } from "../text/format.js";
import { namedPath } from "../text/path.js";

/** Names told beside the number. */
const NAMED = 12;

export function groupHead(calls: readonly ToolRow[]): { verb: string; names: string } {
  const reads = calls.flatMap(({ payload }) => (payload?.kind === "read_file" ? [payload.read_file.file_path] : []));
  const files = new Set(reads).size;
  const searches = calls.length - reads.length;
  const verb = [files > 0 && `Read ${plural(files, "file")}`, searches > 0 && `${files > 0 ? "searched" : "Searched"} ${searches}×`];
  const names = [...new Set(reads)].slice(0, NAMED).map((path) => namedPath(path).name);
  return { verb: verb.filter(Boolean).join(", "), names: names.join(", ") };
}

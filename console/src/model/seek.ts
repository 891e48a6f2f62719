/** Finds the row that a hit of a search names: by its place in the log, its message, or its words. Pure. */
import type { Row } from "./rows.js";

/** What is known of a place in a conversation. */
export interface Sought {
  /** The event that began it, in the log of this session. */
  readonly seq?: number;
  /** The UUID of its message. */
  readonly message?: string;
  /** What stands there, letter for letter; its words by themselves where it is spread over several rows. */
  readonly text?: string;
  readonly words?: readonly string[];
  /** What it is: prompt, text, command or path. */
  readonly kind?: string;
}

/** Rows that have such a text; any that is said, of a kind that a newer hub names. */
const ROWS = new Map<string, ReadonlyArray<Row["kind"]>>([
  ["prompt", ["user", "tool"]],
  ["text", ["text"]],
  ["command", ["tool"]],
  ["path", ["tool"]],
]);

/** A row, and where it stands: the row of the main thread that shows it, by its index. */
export interface Place {
  readonly row: Row;
  readonly index: number;
}

function* walk(rows: readonly Row[]): Generator<Row> {
  for (const row of rows) {
    yield row;
    if (row.kind === "tool") yield* walk(row.children);
  }
}

function said(row: Row): string {
  if (row.kind === "user" || row.kind === "text") return row.text;
  return row.kind === "tool" ? JSON.stringify(row.payload ?? "") : "";
}

/** A text as `said` has it, which tells of a tool as JSON. */
function has(row: Row, text: string): boolean {
  return said(row).includes(row.kind === "tool" ? JSON.stringify(text).slice(1, -1) : text);
}

export function seek(rows: readonly Row[], { seq, message, text, words = [], kind = "" }: Sought): Place | undefined {
  const fits = (row: Row) => ROWS.get(kind)?.includes(row.kind) ?? true;
  const tests: Array<(row: Row) => boolean> = [];
  if (seq !== undefined) tests.push((row) => row.seq === seq);
  if (message !== undefined) tests.push((row) => row.kind === "user" && row.uuid === message);
  if (text) tests.push((row) => fits(row) && has(row, text));
  if (words.length > 0) tests.push((row) => fits(row) && words.every((word) => has(row, word)));
  for (const test of tests) {
    for (const row of walk(rows)) {
      if (!test(row)) continue;
      let shown = row;
      while (shown.parent) shown = shown.parent;
      if (shown.kind === "tool" && shown.leader) shown = shown.leader;
      return { row, index: rows.indexOf(shown) };
    }
  }
  return undefined;
}

/** Opens what hides a row: the tool calls it stands under, and the group it is shown with. */
export function uncover(row: Row): void {
  if (row.kind === "tool" && row.leader) row.leader.view.grouped = true;
  for (let outer = row.parent; outer; outer = outer.parent) {
    outer.view.open = true;
    if (outer.leader) outer.leader.view.grouped = true;
  }
}

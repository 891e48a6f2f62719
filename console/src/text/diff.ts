/** Unified diffs as numbered lines; made from two passages where the agent gave no diff. */
import { diffWordsWithSpace, parsePatch, type StructuredPatchHunk, structuredPatch } from "diff";
import type { Mutation } from "turnwire-client";
import type { Range } from "./tokens.js";

export interface DiffLine {
  readonly sign: "+" | "-" | " ";
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly text: string;
}

export interface Hunk {
  readonly title: string;
  readonly lines: DiffLine[];
}

function numbered(hunk: StructuredPatchHunk): Hunk {
  let before = hunk.oldStart;
  let after = hunk.newStart;
  const lines: DiffLine[] = [];
  for (const line of hunk.lines) {
    const text = line.slice(1);
    if (line.startsWith("+")) lines.push({ sign: "+", before: undefined, after: after++, text });
    else if (line.startsWith("-")) lines.push({ sign: "-", before: before++, after: undefined, text });
    else if (!line.startsWith("\\")) lines.push({ sign: " ", before: before++, after: after++, text });
  }
  return { title: `Lines ${hunk.newStart} to ${hunk.newStart + Math.max(hunk.newLines, 1) - 1}`, lines };
}

/** Undefined when the text is no unified diff. */
export function fromUnified(text: string): Hunk[] | undefined {
  try {
    const hunks = parsePatch(text).flatMap((patch) => patch.hunks.map(numbered));
    return hunks.length > 0 ? hunks : undefined;
  } catch {
    return undefined;
  }
}

/** Lines added and removed beyond which two passages are not compared: the work grows with their square. */
const LONGEST_EDIT = 500;

/** Undefined when the passages differ too much to be compared; that is a matter of their lines, never of the clock. */
export function fromPassages(before: string, after: string): Hunk[] | undefined {
  return structuredPatch("", "", before, after, "", "", { context: 3, maxEditLength: LONGEST_EDIT })?.hunks.map(numbered);
}

/** What a change does to its file, line by line; undefined where it tells no lines. */
export function hunksOf(mutation: Mutation): Hunk[] | undefined {
  const { diff, old_content: before, new_content: after, content } = mutation;
  const found =
    diff !== undefined ? fromUnified(diff) : before !== undefined && after !== undefined ? fromPassages(before, after) : undefined;
  const isWhole = mutation.type === "create" || (mutation.type === "overwrite" && before === undefined);
  if (found || diff !== undefined || !isWhole || content === undefined) return found;
  const lines = content.replace(/\n$/, "").split("\n");
  return [{ title: "", lines: lines.map((text, index) => ({ sign: "+", before: undefined, after: index + 1, text })) }];
}

/** Lines added and removed. */
export function counted(hunks: readonly Hunk[]): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const { lines } of hunks) {
    for (const { sign } of lines) {
      if (sign === "+") added += 1;
      if (sign === "-") removed += 1;
    }
  }
  return { added, removed };
}

/** A line of the file before beside one of the file after it; either may be missing. */
export type Pair = readonly [DiffLine | undefined, DiffLine | undefined];

/** Puts what was removed beside what came in its place. */
export function sideBySide(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as DiffLine;
    if (line.sign === " ") {
      pairs.push([line, line]);
      at += 1;
      continue;
    }
    const until = (sign: string, from: number) => {
      let end = from;
      while (lines[end]?.sign === sign) end += 1;
      return end;
    };
    const middle = until("-", at);
    const end = until("+", middle);
    for (let i = 0; i < Math.max(middle - at, end - middle); i += 1) {
      pairs.push([at + i < middle ? lines[at + i] : undefined, middle + i < end ? lines[middle + i] : undefined]);
    }
    at = end;
  }
  return pairs;
}

/** Longer lines, and more of them, are not compared word by word. */
const LONGEST_MARKED = 400;
const MOST_MARKED = 300;

/** Of lines that took the place of others: the columns in which the two differ. */
export function wordMarks(lines: readonly DiffLine[]): Map<DiffLine, Range[]> {
  const marks = new Map<DiffLine, Range[]>();
  for (const [before, after] of sideBySide(lines)) {
    if (!before || !after || before === after || marks.size >= MOST_MARKED) continue;
    if (before.text.length > LONGEST_MARKED || after.text.length > LONGEST_MARKED) continue;
    const [gone, come]: [Range[], Range[]] = [[], []];
    let [left, right, same] = [0, 0, 0];
    for (const part of diffWordsWithSpace(before.text, after.text)) {
      const { length } = part.value;
      if (part.removed) gone.push([left, left + length]);
      else if (part.added) come.push([right, right + length]);
      else same += part.value.trim().length;
      if (!part.added) left += length;
      if (!part.removed) right += length;
    }
    // Of lines that have next to nothing in common the whole is new.
    if (same * 3 < Math.min(before.text.trim().length, after.text.trim().length)) continue;
    marks.set(before, gone).set(after, come);
  }
  return marks;
}

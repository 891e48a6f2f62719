/** Unified diffs as numbered lines; made from two passages where the agent gave no diff. */
import { parsePatch, type StructuredPatchHunk, structuredPatch } from "diff";

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

/** Undefined when the passages differ too much to be compared in time. */
export function fromPassages(before: string, after: string): Hunk[] | undefined {
  return structuredPatch("", "", before, after, "", "", { context: 3, timeout: 50 })?.hunks.map(numbered);
}

/** A diff with the numbers of both sides, in the colours of its language, in one column or two. */
import { useMemo, useState } from "preact/hooks";
import type { Mutation } from "turnwire-client";
import { type DiffLine, type Hunk, hunksOf, sideBySide, wordMarks } from "../text/diff.js";
import { languageOf } from "../text/languages.js";
import { marked, type Token, tokenLines } from "../text/tokens.js";
import { visibleCode } from "../text/visible.js";
import { Code } from "../view/text.js";

const LINES = 300;
const LONGEST_LINE = 2000;
const NAMES = { "+": "added", "-": "removed", " ": "same" } as const;

/** How lines are drawn: in pieces with colours and marks; those that are not in it are drawn plain. */
type Painted = Map<DiffLine, preact.ComponentChildren>;

function paint(lines: readonly DiffLine[], language: string): Painted {
  const painted: Painted = new Map();
  const tokens = new Map<DiffLine, Token[]>();
  for (const side of ["-", "+"]) {
    const there = lines.filter(({ sign }) => sign === " " || sign === side);
    const coloured = tokenLines(there.map(({ text }) => text).join("\n"), language);
    there.forEach((line, index) => {
      const found = coloured?.[index];
      if (found) tokens.set(line, found);
    });
  }
  const marks = wordMarks(lines);
  for (const line of lines) {
    const pieces = tokens.get(line);
    const ranges = marks.get(line);
    if (!pieces && !ranges) continue;
    painted.set(
      line,
      marked(pieces ?? [{ text: line.text, className: "" }], ranges ?? []).map(({ text, className, mark }, index) =>
        mark ? (
          <mark key={index} class={className}>
            {visibleCode(text)}
          </mark>
        ) : (
          <span key={index} class={className}>
            {visibleCode(text)}
          </span>
        ),
      ),
    );
  }
  return painted;
}

function Text({ line, painted }: { line: DiffLine | undefined; painted: Painted }) {
  if (!line) return null;
  if (line.text.length > LONGEST_LINE) return `${visibleCode(line.text.slice(0, LONGEST_LINE))} …`;
  return painted.get(line) ?? visibleCode(line.text);
}

interface TableProps {
  hunks: readonly Hunk[];
  numbers: boolean;
  label: string;
  language: string;
  split?: boolean;
}

export function DiffTable({ hunks, numbers, label, language, split = false }: TableProps) {
  const [shown, setShown] = useState(LINES);
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const parts = useMemo(() => {
    let left = shown;
    return hunks.flatMap(({ title, lines }) => {
      const taken = lines.slice(0, Math.max(0, left));
      left -= taken.length;
      return taken.length === 0 ? [] : [{ title, lines: taken, painted: paint(taken, language) }];
    });
  }, [hunks, shown, language]);
  return (
    <div class={`pane diff ${split ? "split" : ""}`} tabIndex={0} role="group" aria-label={label}>
      <table>
        {parts.map(({ title, lines, painted }, index) => (
          <tbody key={index}>
            {index > 0 && numbers && title && (
              <tr class="hunk">
                <td colSpan={4}>{title}</td>
              </tr>
            )}
            {split
              ? sideBySide(lines).map(([before, after], at) => (
                  <tr key={at}>
                    <td class="number">{numbers && before?.before}</td>
                    <td class={`line ${before?.sign === "-" ? "removed" : before ? "" : "none"}`} dir="auto">
                      <Text line={before} painted={painted} />
                    </td>
                    <td class="number">{numbers && after?.after}</td>
                    <td class={`line ${after?.sign === "+" ? "added" : after ? "" : "none"}`} dir="auto">
                      <Text line={after} painted={painted} />
                    </td>
                  </tr>
                ))
              : lines.map((line, at) => (
                  <tr key={at} class={NAMES[line.sign]}>
                    <td class="number">{numbers && line.before}</td>
                    <td class="number">{numbers && line.after}</td>
                    <td class="sign">{line.sign}</td>
                    <td class="line">
                      <Text line={line} painted={painted} />
                    </td>
                  </tr>
                ))}
          </tbody>
        ))}
      </table>
      {total > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + 2 * LINES)}>
          Show more ({shown} of {total} lines shown)
        </button>
      )}
    </div>
  );
}

export function MutationView({ mutation, path, split = false }: { mutation: Mutation; path: string; split?: boolean }) {
  const hunks = useMemo(() => hunksOf(mutation), [mutation]);
  if (hunks)
    return (
      <DiffTable
        hunks={hunks}
        numbers={mutation.relative !== true && (mutation.diff !== undefined || mutation.content !== undefined)}
        label={`Change of ${path}`}
        language={languageOf(path)}
        split={split}
      />
    );
  const text = mutation.content ?? mutation.new_content ?? mutation.diff;
  if (text === undefined)
    return (
      <p class="quiet">
        {mutation.type}
        {mutation.cell_id && ` cell ${mutation.cell_id}`}
      </p>
    );
  return <Code text={text} language={languageOf(path)} start={1} label={`New content of ${path}`} />;
}

/** A diff with the numbers of both sides. */
import { useMemo, useState } from "preact/hooks";
import type { Mutation } from "turnwire-client";
import { fromPassages, fromUnified, type Hunk } from "../text/diff.js";
import { languageOf } from "../text/highlight.js";
import { visibleCode } from "../text/visible.js";
import { Code } from "../view/text.js";

const LINES = 300;
const LONGEST_LINE = 2000;
const NAMES = { "+": "added", "-": "removed", " ": "same" } as const;

function DiffTable({ hunks, numbers, label }: { hunks: Hunk[]; numbers: boolean; label: string }) {
  const [shown, setShown] = useState(LINES);
  let left = shown;
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  return (
    <div class="pane diff" tabIndex={0} role="group" aria-label={label}>
      <table>
        {hunks.map((hunk, index) => {
          const lines = hunk.lines.slice(0, Math.max(0, left));
          left -= lines.length;
          return lines.length === 0 ? null : (
            <tbody key={index}>
              {index > 0 && numbers && (
                <tr class="hunk">
                  <td colSpan={4}>{hunk.title}</td>
                </tr>
              )}
              {lines.map((line, at) => (
                <tr key={at} class={NAMES[line.sign]}>
                  <td class="number">{numbers && line.before}</td>
                  <td class="number">{numbers && line.after}</td>
                  <td class="sign">{line.sign}</td>
                  <td class="line">
                    {visibleCode(line.text.slice(0, LONGEST_LINE))}
                    {line.text.length > LONGEST_LINE && " …"}
                  </td>
                </tr>
              ))}
            </tbody>
          );
        })}
      </table>
      {total > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + 2 * LINES)}>
          Show more ({shown} of {total} lines shown)
        </button>
      )}
    </div>
  );
}

export function MutationView({ mutation, path }: { mutation: Mutation; path: string }) {
  const hunks = useMemo(() => {
    if (mutation.diff !== undefined) return fromUnified(mutation.diff);
    const { old_content: before, new_content: after } = mutation;
    return before === undefined || after === undefined ? undefined : fromPassages(before, after);
  }, [mutation]);
  if (hunks)
    return <DiffTable hunks={hunks} numbers={mutation.relative !== true && mutation.diff !== undefined} label={`Change of ${path}`} />;
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

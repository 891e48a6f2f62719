/** A diff with the numbers of both sides, in the colours of its language, in one column or two. */
import { Fragment } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import type { Mutation } from "turnwire-client";
import { isReplay } from "../model/replay.js";
import { useCut, useLimit } from "../parts/cuts.js";
import { Code } from "../parts/text.js";
import { coloured } from "../state/coloured.js";
import { useLive, usePage } from "../state/context.js";
import { cutQuote, type Place } from "../state/remarks.js";
import { useSource } from "../state/source.js";
import { type DiffLine, type Hunk, hunksOf, sideBySide, wordMarks } from "../text/diff.js";
import { count } from "../text/format.js";
import { languageOf } from "../text/languages.js";
import { marked, type Token, tokenLines } from "../text/tokens.js";
import { orderedCode } from "../text/visible.js";
import { RemarkForm, RemarkView } from "./remarks.js";

const LINES = 300;
const LONGEST_LINE = 2000;
/** The same where the change is decided on. */
const LINES_DECIDED = 5000;
const LONGEST_LINE_DECIDED = 200_000;
const NAMES = { "+": "added", "-": "removed", " ": "same" } as const;

/** How lines are drawn: in pieces with colours and marks; those that are not in it are drawn plain. */
type Painted = Map<DiffLine, preact.ComponentChildren>;

/** Tabs are told from blanks; both are copied as they are. */
function blanks(text: string): preact.ComponentChildren {
  if (!text.includes("\t")) return orderedCode(text);
  return text.split(/(\t)/).map((part, index) =>
    part === "\t" ? (
      <span key={index} class="tab">
        {"\t"}
      </span>
    ) : (
      orderedCode(part)
    ),
  );
}

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
            {blanks(text)}
          </mark>
        ) : (
          <span key={index} class={className}>
            {blanks(text)}
          </span>
        ),
      ),
    );
  }
  return painted;
}

/** Says in place how much of a line is not shown. */
function CutMark({ left }: { left: number }) {
  useCut();
  return <span class="cut-mark">{` … ${count(left)} more characters are not shown`}</span>;
}

function Text({ line, painted }: { line: DiffLine | undefined; painted: Painted }) {
  const longest = useLimit(LONGEST_LINE, LONGEST_LINE_DECIDED);
  if (!line) return null;
  if (line.text.length > longest)
    return (
      <>
        {orderedCode(line.text.slice(0, longest))}
        <CutMark left={line.text.length - longest} />
      </>
    );
  return <>{painted.get(line) ?? blanks(line.text)}</>;
}

function MoreLines({ shown, total, onMore }: { shown: number; total: number; onMore: () => void }) {
  useCut();
  return (
    <button type="button" class="more" onClick={onMore}>
      Show more ({shown} of {total} lines shown)
    </button>
  );
}

/** What lines are of, to be commented on: a file by its path, or words for what was said. */
export type LinesOf = Pick<Place, "source" | "file">;

interface TableProps {
  hunks: readonly Hunk[];
  numbers: boolean;
  label: string;
  language: string;
  split?: boolean;
  source?: LinesOf | undefined;
  /** What can be done with a hunk, by its index. */
  underTitle?: (hunk: number) => preact.ComponentChildren;
}

function placeOf(of: LinesOf, numbers: boolean, { sign, before, after, text }: DiffLine): Place {
  const line = numbers ? (sign === "-" ? before : after) : undefined;
  return { ...of, ...(line !== undefined && { line }), ...(sign === "-" && { before: true }), quote: cutQuote(text) };
}

/** Where lines from one to another stand, in whatever order they were chosen: on the side of the last one. */
function placeOfRange(of: LinesOf, numbers: boolean, all: readonly DiffLine[], one: DiffLine, other: DiffLine): Place {
  const [start = 0, end = 0] = [all.indexOf(one), all.indexOf(other)].sort((a, b) => a - b);
  const side = other.sign === "-" ? "+" : "-";
  const lines = all.slice(Math.max(0, start), end + 1).filter(({ sign }) => sign !== side);
  const [first, last] = [lines[0], lines.at(-1)];
  if (!first || !last || first === last) return placeOf(of, numbers, other);
  const through = placeOf(of, numbers, last).line;
  // A line that is as it was counts on the side that the comment is about.
  const line = numbers ? (other.sign === "-" ? first.before : first.after) : undefined;
  return {
    ...placeOf(of, numbers, last),
    ...(line !== undefined && { line }),
    ...(through !== undefined && { through }),
    quote: cutQuote(lines.map(({ text }) => text).join("\n")),
  };
}

/** Comments of lines: which line is being commented on, and how that begins, by a click on its number or by the keyboard. */
function useRemarking(source: LinesOf | undefined, numbers: boolean, all: readonly DiffLine[]) {
  const { hub } = usePage();
  const { remarks } = useLive();
  useSource(remarks.changed);
  const pane = useRef<HTMLDivElement>(null);
  const [at, comment] = useState<DiffLine | undefined>(undefined);
  /** Where a comment on several lines begins. */
  const [from, begin] = useState<DiffLine | undefined>(undefined);
  const on = hub.mayControl && !isReplay(hub.summary) ? source : undefined;
  const some = on !== undefined && remarks.all.some((one) => one.source === on.source);
  const row = (node: EventTarget | null) => (node instanceof Element ? node.closest<HTMLElement>("tr[data-at]") : null);

  function onKeyDown(event: KeyboardEvent): void {
    const { target, key } = event;
    if (!pane.current || event.ctrlKey || event.metaKey || event.altKey || (target !== pane.current && target !== row(target))) return;
    const rows = [...pane.current.querySelectorAll<HTMLElement>("tr[data-at]")];
    const current = row(target);
    if (key.toLowerCase() === "c" || (key === "Enter" && current)) {
      const top = pane.current.getBoundingClientRect().top;
      const first = rows.find((one) => one.getBoundingClientRect().top >= top) ?? rows[0];
      const number = current && [...current.querySelectorAll<HTMLElement>("[data-line]")].at(-1);
      // With Shift up to this line, from the one whose comment is being written.
      if (number) number.dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: event.shiftKey }));
      else first?.focus();
    } else if (current && (key === "ArrowDown" || key === "ArrowUp")) rows[rows.indexOf(current) + (key === "ArrowDown" ? 1 : -1)]?.focus();
    else if (current && key === "Escape") pane.current.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    pane,
    /** What the numbers of a line do. */
    starts: (line: DiffLine | undefined) =>
      on && line
        ? {
            "data-line": "",
            onClick: ({ shiftKey }: MouseEvent) => {
              begin(shiftKey ? (from ?? at) : undefined);
              comment(line);
            },
            title: "Comment on this line (c); with Shift on all lines from the one before",
          }
        : {},
    rows: on ? { tabIndex: -1, "data-at": "" } : {},
    ...(on && { onKeyDown }),
    under: (lines: ReadonlyArray<DiffLine | undefined>) => {
      if (!on || (!some && at === undefined)) return null;
      const shown = [...new Set(lines)].flatMap((line) => (line ? [{ line, place: placeOf(on, numbers, line) }] : []));
      const found = shown.flatMap(({ place }) => remarks.of(place));
      const begun = shown.find(({ line }) => line === at);
      const place = begun && from ? placeOfRange(on, numbers, all, from, begun.line) : begun?.place;
      if (found.length === 0 && !place) return null;
      return (
        <tr class="remarks">
          <td colSpan={4}>
            {found.map((remark, index) => (
              <RemarkView key={index} remark={remark} />
            ))}
            {place && (
              <RemarkForm
                place={place}
                onDone={() => {
                  comment(undefined);
                  begin(undefined);
                  pane.current?.focus({ preventScroll: true });
                }}
              />
            )}
          </td>
        </tr>
      );
    },
  };
}

export function DiffTable({ hunks, numbers, label, language, split = false, source, underTitle }: TableProps) {
  const [shown, setShown] = useState(useLimit(LINES, LINES_DECIDED));
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const all = useMemo(() => hunks.flatMap(({ lines }) => lines), [hunks]);
  const remarking = useRemarking(source, numbers, all);
  useSource(coloured);
  const parts = useMemo(() => {
    let left = shown;
    return hunks.flatMap(({ title, lines }) => {
      const taken = lines.slice(0, Math.max(0, left));
      left -= taken.length;
      return taken.length === 0 ? [] : [{ title, lines: taken, painted: paint(taken, language) }];
    });
  }, [hunks, shown, language, coloured.version]);
  return (
    <div
      class={`pane diff ${split ? "split" : ""} ${source?.file === false ? "said-lines" : ""} ${remarking.onKeyDown ? "remarkable" : ""}`}
      tabIndex={0}
      role="group"
      aria-label={label}
      ref={remarking.pane}
      onKeyDown={remarking.onKeyDown}
    >
      <table>
        {parts.map(({ title, lines, painted }, index) => (
          <tbody key={index}>
            {(index > 0 || underTitle) && numbers && title && (
              <tr class="hunk">
                <td colSpan={4}>
                  {title} {underTitle?.(index)}
                </td>
              </tr>
            )}
            {split
              ? sideBySide(lines).map(([before, after], at) => (
                  <Fragment key={at}>
                    <tr {...remarking.rows}>
                      <td class="number" {...remarking.starts(before)}>
                        {numbers && before?.before}
                      </td>
                      <td class={`line ${before?.sign === "-" ? "removed" : before ? "" : "none"}`} dir="ltr">
                        <Text line={before} painted={painted} />
                      </td>
                      <td class="number" {...remarking.starts(after)}>
                        {numbers && after?.after}
                      </td>
                      <td class={`line ${after?.sign === "+" ? "added" : after ? "" : "none"}`} dir="ltr">
                        <Text line={after} painted={painted} />
                      </td>
                    </tr>
                    {remarking.under([before, after])}
                  </Fragment>
                ))
              : lines.map((line, at) => (
                  <Fragment key={at}>
                    <tr class={NAMES[line.sign]} {...remarking.rows}>
                      <td class="number" {...remarking.starts(line)}>
                        {numbers && line.before}
                      </td>
                      <td class="number" {...remarking.starts(line)}>
                        {numbers && line.after}
                      </td>
                      <td class="sign">{line.sign}</td>
                      <td class="line" dir="ltr">
                        <Text line={line} painted={painted} />
                      </td>
                    </tr>
                    {remarking.under([line])}
                  </Fragment>
                ))}
          </tbody>
        ))}
      </table>
      {total > shown && <MoreLines shown={shown} total={total} onMore={() => setShown(2 * shown)} />}
    </div>
  );
}

interface MutationProps {
  mutation: Mutation;
  path: string;
  /** The file that is told above: another one is named here. */
  of?: string;
  split?: boolean;
}

export function MutationView({ mutation, path, of = path, split = false }: MutationProps) {
  const hunks = useMemo(() => hunksOf(mutation), [mutation]);
  const { old_content: before, cell_id: cell } = mutation;
  const text = mutation.content ?? mutation.new_content ?? mutation.diff;
  const what = [text === undefined && !hunks && mutation.type, cell && `cell ${cell}`, mutation.replace_all && "every occurrence"].filter(
    Boolean,
  );
  return (
    <>
      {path !== of && <p class="other-file">{orderedCode(path)}</p>}
      {what.length > 0 && <p class="quiet">{orderedCode(what.join(", "))}</p>}
      {hunks ? (
        <DiffTable
          hunks={hunks}
          numbers={mutation.relative !== true && (mutation.diff !== undefined || mutation.content !== undefined)}
          label={`Change of ${path}`}
          language={languageOf(path)}
          split={split}
          source={{ source: path, file: true }}
        />
      ) : (
        <>
          {before && <p class="quiet">This goes:</p>}
          {before && <Code text={before} language={languageOf(path)} label={`Old content of ${path}`} />}
          {before && text && <p class="quiet">This comes in its place:</p>}
          {text && <Code text={text} language={languageOf(path)} start={1} label={`New content of ${path}`} />}
        </>
      )}
    </>
  );
}

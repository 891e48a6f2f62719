/** A tool call as a card: one line, and what is behind it. Subagents hold the rows of their own thread. */
import { useState } from "preact/hooks";
import { cardOf } from "../model/cards.js";
import type { Row, ToolRow } from "../model/rows.js";
import { isAsked } from "../model/tool_row.js";
import { took } from "../model/turns.js";
import { Icon } from "../parts/icons.js";
import { Badge, Fold } from "../parts/parts.js";
import { Path } from "../parts/path.js";
import { Prose, Terminal } from "../parts/text.js";
import { usePage } from "../state/context.js";
import { useOpened } from "../state/opened.js";
import { bytes, duration } from "../text/format.js";
import { orderedCode, visibleCode } from "../text/visible.js";
import { HEAD, Todos, ToolBody } from "./bodies.js";
import { toolHead } from "./heads.js";
import type { RowPart } from "./row_part.js";
import { statusOf } from "./status.js";
import { RequestOutcome } from "./verdict.js";

const CHILDREN = 30;

/** A subagent's first words repeat its task, which stands above them. */
function repeatsTask({ payload }: ToolRow, child: Row): boolean {
  return payload !== undefined && child.kind === "user" && child.text === cardOf(payload)?.task?.(payload);
}

/** A subagent's report, unless it stands as its last words or as its error already. */
function report({ payload, children, update }: ToolRow): string | undefined {
  const text = payload && cardOf(payload)?.report?.(payload);
  if (text?.trim() === update?.error?.trim()) return undefined;
  return children.some((child) => child.kind === "text" && child.text.trim() === text?.trim()) ? undefined : text;
}

function Children({ row, Nested }: { row: ToolRow; Nested: RowPart }) {
  const [shown, setShown] = useState(CHILDREN);
  const children = row.children.filter((child) => !repeatsTask(row, child));
  const hidden = children.length - shown;
  return (
    <div class="children">
      {hidden > 0 && (
        <button type="button" class="more" onClick={() => setShown(shown + 4 * CHILDREN)}>
          Show {hidden} earlier steps
        </button>
      )}
      {children.slice(-shown).map((child) => (
        <Nested key={child.key} row={child} />
      ))}
    </div>
  );
}

function Cut({ row }: { row: ToolRow }) {
  const { inspect } = usePage();
  if (!row.truncated) return null;
  const size = Math.max(...Object.values(row.truncated));
  return (
    <button type="button" class="more" onClick={() => inspect(row.lastSeq)}>
      Cut for size: {bytes(size)} in full in the inspector
    </button>
  );
}

export function ToolCard({ row, Nested }: { row: ToolRow; Nested: RowPart }) {
  const head = toolHead(row);
  const { tone, text } = statusOf(row);
  const { request } = row;
  const over = request?.resolved !== undefined || request?.cancelled !== undefined;
  const asked = isAsked(row);
  const card = cardOf(row.payload);
  const opens = row.payload !== undefined && card?.opens?.(row.payload) === true;
  const [open, toggle] = useOpened(row, (row.parent === undefined && opens && !asked) || (row.status === "error" && !died(row)));
  const words = report(row);
  const { payload, update } = row;
  const error = update?.error && payload && card?.showsError?.(payload, update.error) ? undefined : update?.error;
  const ms = row.span?.end === undefined ? undefined : took(row.span, row.span.end);
  return (
    <article class={`card tool ${tone}`} aria-label={`${head.verb} ${head.subject}`.trim().slice(0, 120)}>
      <Fold
        open={open}
        onToggle={toggle}
        head={
          <>
            <Icon name={head.icon} />
            <span class="verb">{visibleCode(head.verb)}</span>
            <span class={`subject ${head.mono ? "mono" : ""}`}>
              {head.path ? (
                <Path path={head.subject} />
              ) : head.mono ? (
                orderedCode(head.subject.slice(0, HEAD))
              ) : (
                visibleCode(head.subject.slice(0, 300))
              )}
            </span>
            <span class="facts">
              {row.edited && <span>edited before it ran</span>}
              {head.facts.map((fact) => (
                <span key={fact}>{fact}</span>
              ))}
              {ms !== undefined && ms >= 1000 && <span>{duration(ms)}</span>}
            </span>
            {tone !== "good" && <Badge tone={tone}>{text}</Badge>}
          </>
        }
      >
        <div class="card-body">
          {row.payload && <ToolBody payload={row.payload} />}
          {row.plan && !card?.showsPlan && (row.plan.items ? <Todos items={row.plan.items} /> : <Prose text={row.plan.plan_content} />)}
          {error && !died(row) && !isRefusal(row) && <Terminal text={error} label="Error" error />}
          {row.children.length > 0 && <Children row={row} Nested={Nested} />}
          {words !== undefined && (
            <div class="report">
              <Prose text={words} />
            </div>
          )}
          <Cut row={row} />
        </div>
      </Fold>
      {request && over && row.parent === undefined && <RequestOutcome row={request} inCard />}
    </article>
  );
}

/** Its agent's process has ended: the end of the turn says so, and how. */
function died({ update }: ToolRow): boolean {
  return update?.reason === "process_exited";
}

/** Who denied it, and why, stands below the card: the agent's own words for it say no more. */
function isRefusal({ request, update }: ToolRow): boolean {
  return request?.resolved?.behavior === "deny" && update?.reason === "denied";
}

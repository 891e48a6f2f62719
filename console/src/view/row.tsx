/** One row of the conversation: watches its own changes, and chooses the view of its kind. */
import { useEffect, useReducer, useRef } from "preact/hooks";
import type { Row } from "../model/rows.js";
import { Boundary } from "../parts/boundary.js";
import { IconButton } from "../parts/parts.js";
import { standsAlone } from "../request/alone.js";
import { useLive, usePage } from "../state/context.js";
import { ToolCard } from "../tools/card.js";
import { ToolGroup } from "../tools/group.js";
import { RequestOutcome } from "../tools/verdict.js";
import { FactView, GapView, MinorEventsView, NoticeView, UnrecognisedView } from "./facts.js";
import { FromHere } from "./from_here.js";
import { PlanView, ReasoningView, TextView, TurnEnd, TurnHead, UserView } from "./speech.js";

/** A part of its own, so that what it throws stays within the boundary around it. */
function Body({ row, nested = false }: { row: Row; nested?: boolean }) {
  switch (row.kind) {
    case "turn":
      return <TurnHead row={row} />;
    case "end":
      return <TurnEnd row={row} />;
    case "user":
      return <UserView row={row} />;
    case "text":
      return <TextView row={row} />;
    case "reasoning":
      return <ReasoningView row={row} />;
    case "tool":
      return nested || row.group.length === 0 ? <ToolCard row={row} Nested={NestedRow} /> : <ToolGroup row={row} Nested={NestedRow} />;
    case "request":
      return <RequestOutcome row={row} />;
    case "plan":
      return <PlanView row={row} />;
    case "minorEvents":
      return <MinorEventsView row={row} />;
    case "notice":
      return <NoticeView row={row} />;
    case "fact":
      return <FactView row={row} />;
    case "unrecognised":
      return <UnrecognisedView row={row} />;
    case "gap":
      return <GapView row={row} />;
    default:
      row satisfies never;
      return null;
  }
}

/** The attributes of a row that was sought: it is marked, and has the focus when it first appears. */
function useFound(row: Row) {
  const live = useLive();
  const node = useRef<HTMLDivElement>(null);
  const found = live.found === row;
  useEffect(() => {
    if (!found || live.focusing !== row) return;
    live.focusing = undefined;
    node.current?.focus({ preventScroll: true });
  }, [found]);
  return found ? { ref: node, tabIndex: -1, "aria-label": "What was found", role: "group" as const } : undefined;
}

function useRow(row: Row): void {
  const live = useLive();
  const [, render] = useReducer((n: number) => n + 1, 0);
  const drawn = row.rev;
  useEffect(() => {
    const unwatch = live.watchRow(row, () => render(undefined));
    // It may have changed between drawing and watching.
    if (row.rev !== drawn) render(undefined);
    return unwatch;
  }, [live, row]);
}

export function RowView({ row }: { row: Row }) {
  useRow(row);
  const { inspect } = usePage();
  const found = useFound(row);
  if ((row.kind === "request" && !standsAlone(row)) || (row.kind === "tool" && row.leader) || (row.kind === "text" && row.told))
    return null;
  return (
    <div
      class={`row row-${row.kind} ${row.withdrawn ? "withdrawn" : ""} ${row.voided ? "voided" : ""} ${found ? "found" : ""}`}
      data-seq={row.seq}
      {...found}
    >
      {row.withdrawn && <p class="quiet">The agent took this back.</p>}
      <Boundary what="this event" seq={row.lastSeq}>
        <Body row={row} />
      </Boundary>
      {row.kind === "user" && <FromHere row={row} />}
      <IconButton icon="code" label={`Inspect event ${row.lastSeq}`} className="inspect" onClick={() => inspect(row.lastSeq)} />
    </div>
  );
}

/** A row of a subagent, inside its tool card. */
export function NestedRow({ row }: { row: Row }) {
  useRow(row);
  const found = useFound(row);
  return (
    <div class={`row nested row-${row.kind} ${row.withdrawn ? "withdrawn" : ""} ${found ? "found" : ""}`} {...found}>
      <Boundary what="this event" seq={row.lastSeq}>
        <Body row={row} nested />
      </Boundary>
    </div>
  );
}

/** The conversation on screen: the virtual list, what waits for you, and the way back to the end. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { cardOf } from "../model/cards.js";
import type { Conversation } from "../model/conversation.js";
import type { Row } from "../model/rows.js";
import { seek, uncover } from "../model/seek.js";
import { Icon } from "../parts/icons.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { count } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { type ListHandle, VirtualList } from "../virtual/list.js";
import { FindBar } from "./find_bar.js";
import { RowView } from "./row.js";
import { outcome } from "./speech.js";

const HEIGHTS: Record<Row["kind"], number> = {
  turn: 50,
  end: 34,
  user: 64,
  text: 90,
  reasoning: 36,
  tool: 48,
  request: 26,
  plan: 200,
  minorEvents: 28,
  notice: 48,
  fact: 48,
  unrecognised: 40,
  gap: 48,
};

function estimate(row: Row): number {
  if (row.kind === "text") return 40 + Math.min(row.text.length / 90, 2000) * 24;
  return (row.kind === "tool" ? cardOf(row.payload)?.height : undefined) ?? HEIGHTS[row.kind];
}

/** Pixels that browsers can scroll through, and room for what is taller than estimated. */
const TALLEST = 8_000_000;

/** How tall what comes before the end of a log will be, if it is as its end. */
function unloadedHeightOf({ rows, log }: Conversation): number {
  const [{ seq: first } = { seq: 1 }] = log;
  if (first === 1) return 0;
  const height = rows.reduce((sum, row) => sum + estimate(row), 0);
  return Math.min(TALLEST, (height / log.length) * (first - 1));
}

/** How much of the log there is. */
function Progress({ done }: { done: number }) {
  const { hub } = usePage();
  const total = Math.max(hub.summary?.last_seq ?? 0, done, 1);
  return (
    <>
      <progress value={done} max={total} aria-label="Events loaded" />
      <p>
        {count(done)} of {count(total)} events
      </p>
    </>
  );
}

/** Stands where the rows before the end of a log will be. */
function Earlier() {
  const live = useLive();
  useSource(live.reading);
  return (
    <div class="earlier">
      <Progress done={live.read} />
    </div>
  );
}

/** Characters of an answer that are read out without being asked for. */
const READ_OUT = 600;

/** Tells those who do not see the page what came of a turn, once it is over: not each piece of it. */
function Spoken() {
  const { conversation } = useLive();
  const [first] = useState(conversation.last);
  const end = conversation.running === undefined ? conversation.rows.findLast((row) => row.kind === "end") : undefined;
  if (end?.kind !== "end" || end.seq <= first) return <p class="heard" role="status" />;
  const over = end.turn;
  const answer = conversation.rows.findLast((row) => row.kind === "text" && row.seq > over.seq);
  const words = answer?.kind === "text" ? `: ${answer.text.slice(0, READ_OUT)}` : "";
  return (
    <p class="heard" role="status">
      {visibleCode(`The turn ${outcome(over).text}${words}`)}
    </p>
  );
}

const keyOf = (row: Row) => row.key;
const renderRow = (row: Row) => <RowView row={row} />;

export function Transcript() {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.grown, live.delivery, live.changed);
  const handle = useRef<ListHandle>(null);
  const [following, setFollowing] = useState(true);
  const { conversation } = live;
  // The end alone may tell too little to be drawn: then the same conversation is the whole one later, with nothing before it.
  const { whole } = live;
  const unloadedHeight = useMemo(() => (whole ? 0 : unloadedHeightOf(conversation)), [conversation, whole]);

  const [finding, find] = useState(false);
  useLayoutEffect(() => live.finding.watch(() => find(true)), [live]);

  function show(row: Row): void {
    let outer = row;
    while (outer.parent) outer = outer.parent;
    if (outer.kind === "tool" && outer.leader) outer = outer.leader;
    uncover(row);
    live.mark(row, false);
    handle.current?.scrollTo(conversation.rows.indexOf(outer));
  }

  // Who sends something wants to see what comes of it.
  useEffect(() => live.sent.watch(() => handle.current?.toEnd()), [live]);

  useEffect(() => {
    const { sought } = live;
    // What was drawn last may have had no rows yet.
    if (!live.caughtUp || !live.whole || sought === undefined || !handle.current) return;
    live.sought = undefined;
    if (Object.keys(sought).length === 0) return;
    const place = seek(conversation.rows, sought);
    if (!place) return hub.toast("What was found is not in the conversation any more.");
    uncover(place.row);
    live.mark(place.row);
    handle.current?.scrollTo(place.index);
  });

  if (live.refused)
    return (
      <div class="empty">
        <p>{live.refused}</p>
      </div>
    );
  if (!live.caughtUp) {
    return (
      <div class="empty" role="status">
        <Progress done={live.read} />
      </div>
    );
  }
  if (conversation.rows.length === 0) {
    return (
      <div class="empty">
        <p>Nothing was said yet. Write below to begin.</p>
      </div>
    );
  }
  return (
    <div class="transcript">
      <h2 class="heard">Conversation</h2>
      <Spoken />
      {finding && (
        <FindBar
          onShow={show}
          onClose={() => {
            find(false);
            handle.current?.focus();
          }}
        />
      )}
      <VirtualList
        items={conversation.rows}
        itemKey={keyOf}
        estimate={estimate}
        render={renderRow}
        label="Conversation"
        unloadedHeight={unloadedHeight}
        leading={<Earlier />}
        follow
        handle={handle}
        onFollow={setFollowing}
      />
      <div class="floating">
        {!following && (
          <button type="button" class="jump" onClick={() => handle.current?.toEnd()}>
            <Icon name="down" /> To the end
          </button>
        )}
      </div>
    </div>
  );
}

/** The conversation on screen: the virtual list, what waits for an answer, and the way back to the end. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Row } from "../model/rows.js";
import { seek, uncover } from "../model/seek.js";
import { useSource } from "../state/source.js";
import { count } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { type ListHandle, VirtualList } from "../virtual/list.js";
import { useLive, usePage } from "./context.js";
import { Icon } from "./icons.js";
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
  asides: 28,
  notice: 48,
  fact: 48,
  odd: 40,
  gap: 48,
};

function estimate(row: Row): number {
  if (row.kind === "text") return 40 + Math.min(row.text.length / 90, 2000) * 24;
  if (row.kind === "tool" && row.payload?.kind === "shell_exec") return 150;
  return HEIGHTS[row.kind];
}

/** Characters of an answer that are read out without being asked for. */
const READ_OUT = 600;

/** Tells those who do not see the page what came of a turn, once it is over: not each piece of it. */
function Spoken() {
  const { conversation } = useLive();
  const over = conversation.running === undefined ? conversation.turns.at(-1) : undefined;
  const [first] = useState(over);
  if (!over || over === first) return <p class="heard" role="status" />;
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

  // Who sends something wants to see what comes of it.
  useEffect(() => live.sent.watch(() => handle.current?.toEnd()), [live]);

  useEffect(() => {
    const { sought } = live;
    // What was drawn last may have had no rows yet.
    if (!live.caughtUp || sought === undefined || !handle.current) return;
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
    const total = hub.summary?.last_seq ?? 0;
    const done = conversation.log.at(-1)?.seq ?? 0;
    return (
      <div class="empty" role="status">
        <progress value={done} max={Math.max(total, done, 1)} aria-label="Events loaded" />
        <p>
          {count(done)} of {count(Math.max(total, done))} events
        </p>
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
      <VirtualList
        items={conversation.rows}
        itemKey={keyOf}
        estimate={estimate}
        render={renderRow}
        label="Conversation"
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

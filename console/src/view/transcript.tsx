/** The conversation on screen: the virtual list, what waits for an answer, and the way back to the end. */
import { useRef, useState } from "preact/hooks";
import type { Row } from "../model/rows.js";
import { useSource } from "../state/source.js";
import { count } from "../text/format.js";
import { type ListHandle, VirtualList } from "../virtual/list.js";
import { useLive, usePage } from "./context.js";
import { Icon } from "./icons.js";
import { RowView } from "./row.js";

const HEIGHTS: Record<Row["kind"], number> = {
  turn: 56,
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

const keyOf = (row: Row) => row.key;
const renderRow = (row: Row) => <RowView row={row} />;

export function Transcript() {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.grown, live.delivery, live.changed);
  const handle = useRef<ListHandle>(null);
  const [following, setFollowing] = useState(true);
  const { conversation } = live;

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

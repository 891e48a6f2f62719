/** Every event of the session: filter, search, and one in full beside the line it came from. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { EventFrame } from "turnwire-client";
import { copy, IconButton } from "../parts/parts.js";
import { Code, Json } from "../parts/text.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { count, time } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { type ListHandle, VirtualList } from "../virtual/list.js";
import { type Whole, wholeOf } from "./line.js";
import { search } from "./search.js";

const keyOf = (frame: EventFrame) => frame.seq;
const height = () => 30;

function gist({ event }: EventFrame): string {
  for (const key of [
    "text",
    "reasoning_text",
    "tool_title",
    "permission_title",
    "rate_limit_message",
    "error",
    "reason",
    "message_type",
    "current_mode_id",
    "state",
  ]) {
    const value = (event as unknown as Record<string, unknown>)[key];
    if (typeof value === "string") return value.slice(0, 120);
  }
  return "";
}

export function Events({ seq, onSeq }: { seq: number | undefined; onSeq: (seq: number | undefined) => void }) {
  const live = useLive();
  useSource(live.grown, live.changed);
  const { log } = live.conversation;
  const [type, setType] = useState("");
  const [words, setWords] = useState("");
  const [hits, setHits] = useState<readonly EventFrame[]>(log);
  const handle = useRef<ListHandle>(null);
  const filtered = type !== "" || words !== "";
  const shown = filtered ? hits : log;
  const frame = seq === undefined ? undefined : log[seq - (log[0]?.seq ?? 1)];

  useEffect(() => (filtered ? search(log, { type, words }, setHits) : undefined), [log, type, words, log.length]);
  useEffect(() => {
    if (seq !== undefined) handle.current?.scrollTo(shown.findIndex((one) => one.seq >= seq));
  }, [seq]);

  const types = [...new Set(log.slice(-5000).map(({ event }) => event.type))].sort();
  return (
    <div class="events">
      <div class="filter">
        <input
          type="search"
          placeholder="Search events"
          aria-label="Search events"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <select aria-label="Type of event" value={type} onChange={(event) => setType(event.currentTarget.value)}>
          <option value="">All types</option>
          {types.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <span class="quiet" role="status">
          {count(shown.length)}
        </span>
      </div>
      <VirtualList
        items={shown}
        itemKey={keyOf}
        estimate={height}
        label="Events"
        handle={handle}
        className="event-list"
        render={(one) => (
          <button type="button" class="event" aria-current={one.seq === seq} onClick={() => onSeq(one.seq)}>
            <span class="seq">{one.seq}</span> <b>{one.event.type}</b> <span class="gist">{visibleCode(gist(one))}</span>
          </button>
        )}
      />
      {frame && <Detail key={frame.seq} frame={frame} onClose={() => onSeq(undefined)} />}
    </div>
  );
}

function Detail({ frame, onClose }: { frame: EventFrame; onClose: () => void }) {
  const { hub } = usePage();
  const live = useLive();
  const [whole, setWhole] = useState<Whole | undefined>(undefined);
  const event = whole?.event ?? frame.event;

  useEffect(() => {
    let shown = true;
    void wholeOf(hub, live, frame.seq).then((found) => shown && setWhole(found));
    return () => {
      shown = false;
    };
  }, [frame]);

  return (
    <section class="detail" aria-label={`Event ${frame.seq}`}>
      <header>
        <h3>Event {frame.seq}</h3>
        <time dateTime={frame.ts} title={frame.ts}>
          {time(frame.ts)}
        </time>
        <span class="spring" />
        <IconButton
          icon="copy"
          label="Copy as JSON"
          onClick={() => void copy(JSON.stringify(event, null, 2)).catch(() => hub.toast("The browser did not allow copying."))}
        />
        <IconButton icon="cross" label="Close this event" onClick={onClose} />
      </header>
      <h4>Event</h4>
      <Json value={event} label="Event as JSON" />
      <h4>Line it came from{whole?.line !== undefined && whole.seq !== frame.seq && `, with event ${whole.seq}`}</h4>
      {whole === undefined ? (
        <p class="quiet">Asking …</p>
      ) : whole.line === undefined ? (
        <p class="quiet">None: turnwire says this itself.</p>
      ) : (
        <Code text={whole.line} language="json" label="Line it came from" />
      )}
    </section>
  );
}

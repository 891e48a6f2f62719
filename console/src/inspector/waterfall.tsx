/** A turn's time as bars: the model, the tools, and the waits for a human. */
import { useEffect, useState } from "preact/hooks";
import type { Span, Turn } from "../model/rows.js";
import { shortLabel, took } from "../model/turns.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { between, duration, time } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { outcome } from "../view/speech.js";
import { wholeOf } from "./line.js";
import { traceAddress, traceId } from "./trace.js";

const MOST = 300;
const NAMES = { model: "Model", tool: "Tool", human: "Wait for a human" } as const;

function Bar({ span, turn, total, end, onPick }: { span: Span; turn: Turn; total: number; end: string; onPick: () => void }) {
  const from = (100 * between(turn.start, span.start)) / total;
  const long = between(span.start, span.end ?? end);
  const own = took(span, end);
  const label = span.kind === "model" ? "Model" : visibleCode(shortLabel(span).slice(0, 80));
  return (
    <li>
      <button
        type="button"
        class={`span ${span.kind} ${span.failed ? "failed" : ""} ${span.nested ? "nested" : ""}`}
        onClick={onPick}
        title={span.kind === "model" ? NAMES.model : `${NAMES[span.kind]}: ${visibleCode(span.label.slice(0, 300))}`}
      >
        <span class="name">{label}</span>
        <span class="track">
          <span
            class="fill"
            style={{ marginLeft: `${Math.min(from, 99)}%`, width: `${Math.max(0.8, Math.min(100 - from, (100 * long) / total))}%` }}
          />
        </span>
        <span class="long">{duration(own)}</span>
      </button>
    </li>
  );
}

function sum(turn: Turn, kind: Span["kind"], end: string): number {
  return turn.spans.reduce((ms, span) => (span.kind === kind && !span.nested ? ms + took(span, end) : ms), 0);
}

function TraceLink({ turn }: { turn: Turn }) {
  const { hub } = usePage();
  const live = useLive();
  const template = hub.welcome?.trace_url;
  const [id, setId] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (!template) return;
    if (turn.trace !== undefined) return setId(turn.trace);
    void wholeOf(hub, live, turn.seq).then(async (whole) => {
      if (whole?.line !== undefined) setId(await traceId(live.id, turn.id, whole.line));
    });
  }, [template, turn]);
  const address = id === undefined ? undefined : traceAddress(template, id);
  return address ? (
    <p>
      <a href={address} target="_blank" rel="noopener noreferrer">
        Trace of this turn
      </a>
    </p>
  ) : null;
}

export function TurnWaterfall({ onSeq }: { onSeq: (seq: number) => void }) {
  const live = useLive();
  useSource(live.grown, live.changed);
  const { turns, log } = live.conversation;
  const [picked, setPicked] = useState<string | undefined>(undefined);
  const turn = turns.find(({ id }) => id === picked) ?? turns.at(-1);
  if (!turn) return <p class="quiet">No turn yet.</p>;
  const end = turn.end ?? log.at(-1)?.ts ?? turn.start;
  const total = Math.max(1, between(turn.start, end));
  return (
    <div class="waterfall">
      <label class="inline">
        <span>Turn</span>
        <select value={turn.id} onChange={(event) => setPicked(event.currentTarget.value)}>
          {turns.slice(-MOST).map(({ id, start }) => (
            <option key={id} value={id}>
              {id} · {time(start)}
            </option>
          ))}
        </select>
      </label>
      <dl class="sums">
        <div>
          <dt>Whole</dt>
          <dd>
            {duration(total)} · {outcome(turn).text}
          </dd>
        </div>
        <div class="model">
          <dt>Model</dt>
          <dd>{duration(sum(turn, "model", end))}</dd>
        </div>
        <div class="tool">
          <dt>Tools</dt>
          <dd>{duration(sum(turn, "tool", end))}</dd>
        </div>
        <div class="human">
          <dt>Human</dt>
          <dd>{duration(sum(turn, "human", end))}</dd>
        </div>
      </dl>
      <ol class="spans">
        {turn.spans.slice(0, MOST).map((span) => (
          <Bar key={`${span.seq}-${span.kind}`} span={span} turn={turn} total={total} end={end} onPick={() => onSeq(span.seq)} />
        ))}
      </ol>
      {turn.spans.length > MOST && (
        <p class="quiet">
          The first {MOST} of {turn.spans.length}.
        </p>
      )}
      <TraceLink key={turn.id} turn={turn} />
    </div>
  );
}

/** One line above the prompt: what the agent does now and for how long, its to-do list, what it changed, its limits. */
import { useEffect, useReducer, useRef } from "preact/hooks";
import { activity } from "../model/activity.js";
import { isReplay } from "../model/replay.js";
import { Path } from "../parts/path.js";
import { Decide } from "../request/decide.js";
import { useLive, usePage } from "../state/context.js";
import type { LiveSession } from "../state/live.js";
import { useSource } from "../state/source.js";
import { between, clockTime, count, known, plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { limitText, resetText } from "../text/words.js";
import { Todos } from "../tools/bodies.js";
import { toolHead } from "../tools/heads.js";

const LIMITS = { rejected: "reached", allowed_warning: "near" };

const WORDS = {
  thinking: "Thinking",
  writing: "Writing",
  retrying: "Trying to reach the API again",
  waiting: "Waiting for the model",
} as const;

/** The time a turn has run, by the log's clock: ours goes on from the newest event. Undefined while its beginning is not known. */
function useElapsed(live: LiveSession): number | undefined {
  const { running, log } = live.conversation;
  const newest = log.at(-1)?.ts ?? "";
  const seen = useRef({ newest, at: performance.now() });
  if (seen.current.newest !== newest) seen.current = { newest, at: performance.now() };
  return running?.start ? between(running.start, newest) + performance.now() - seen.current.at : undefined;
}

function Doing() {
  const { hub } = usePage();
  const live = useLive();
  const [, tick] = useReducer((n: number) => n + 1, 0);
  const elapsed = useElapsed(live);
  const connected = hub.state === "open";
  useEffect(() => {
    if (!connected) return;
    const timer = setInterval(() => tick(undefined), 1000);
    return () => clearInterval(timer);
  }, [connected]);
  if (!connected) return <span>Not known while the connection is lost</span>;
  const now = activity(live.conversation);
  const tokens = live.conversation.state.context?.context_window_used;
  const head = now.kind === "tool" ? toolHead(now.row) : undefined;
  return (
    <>
      <span class="dot busy" aria-hidden="true" />
      <span class="doing">
        {now.kind !== "tool" && WORDS[now.kind]}
        {head && `${visibleCode(head.verb)} `}
        {head &&
          (head.path ? (
            <Path path={head.subject} />
          ) : (
            <span class={head.mono ? "mono" : ""}>{visibleCode(head.subject.slice(0, 120))}</span>
          ))}
      </span>
      {now.kind === "tool" && now.more > 0 && <span>and {now.more} more</span>}
      {elapsed !== undefined && <span class="elapsed">{clockTime(elapsed)}</span>}
      {tokens !== undefined && tokens > 0 && (
        <span class="wide-only" title="What the model has before it">
          {count(tokens)} tokens
        </span>
      )}
      <span class="hint">
        <kbd>Esc</kbd> stops
      </span>
    </>
  );
}

function Pinned() {
  const { todos } = useLive().conversation.state;
  const items = [...todos].filter(([, { status }]) => status !== "deleted");
  const done = items.filter(([, { status }]) => status === "completed").length;
  if (items.length === 0 || done === items.length) return null;
  const [, current] = items.find(([, { status }]) => status === "in_progress") ?? [];
  return (
    <details
      class="pinned"
      onFocusOut={(event) => {
        const { currentTarget, relatedTarget } = event;
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) currentTarget.open = false;
      }}
    >
      <summary>
        {done} of {items.length}
        {current && `: ${visibleCode(current.active ?? current.description)}`}
      </summary>
      <div class="pinned-list">
        <Todos
          items={items.map(([id, { description, status, active }]) => ({
            id,
            description,
            status,
            ...(active && { active_form: active }),
          }))}
        />
      </div>
    </details>
  );
}

function Changed() {
  const { show } = usePage();
  const { files } = useLive().conversation;
  const { added, removed } = files.total;
  return (
    <button type="button" class="more" onClick={() => show("changes")}>
      {plural(files.size, "file")} {added > 0 && `+${added}`} {removed > 0 && `−${removed}`}
    </button>
  );
}

export function ActivityBar() {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed, live.changed, live.grown);
  const { running, state, files, pending } = live.conversation;
  const { rateLimit } = state;
  const limited = rateLimit && rateLimit.status !== "allowed" ? rateLimit : undefined;
  if (!live.caughtUp) return null;
  return (
    <div class="now">
      {running && pending.size === 0 && <Doing />}
      {hub.summary?.followed && <span>Open in a terminal, and shown as it grows there.</span>}
      {hub.mayControl && hub.summary?.state === "exited" && !hub.summary.followed && !isReplay(hub.summary) && (
        <span>
          The agent has exited.{" "}
          {hub.summary.abilities?.resume !== false && (
            <Decide
              className="more"
              meaning={`resume ${live.id}`}
              onDecide={() => void hub.run({ type: "session.resume", session: live.id })}
            >
              Resume
            </Decide>
          )}
        </span>
      )}
      <span class="spring" />
      {live.whole && <Pinned />}
      {limited && (
        <span class="limit" title={visibleCode(limitText(limited.rate_limit_message))}>
          Limit {limited.status === undefined ? "near" : (known(LIMITS, limited.status) ?? visibleCode(limited.status))}
          {resetText(limited) && `, resets on ${resetText(limited)}`}
        </span>
      )}
      {live.whole && files.size > 0 && <Changed />}
    </div>
  );
}

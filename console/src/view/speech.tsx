/** What is said: turn heads, prompts, answers, reasoning, plans. */
import type { TokenSums } from "turnwire-client";
import { isReplay } from "../model/replay.js";
import type { EndRow, PlanRow, TextRow, Turn, TurnRow, UserRow } from "../model/rows.js";
import { Icon } from "../parts/icons.js";
import { Parts } from "../parts/images.js";
import { Fold, type Tone } from "../parts/parts.js";
import { Prose } from "../parts/text.js";
import { Decide } from "../request/decide.js";
import { members } from "../state/ask.js";
import type { ConsoleState } from "../state/console_state.js";
import { useLive, usePage } from "../state/context.js";
import { useOpened } from "../state/opened.js";
import { between, count, duration, known, money, plural, time } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { Todos } from "../tools/bodies.js";
import { Commentable } from "../tools/lines.js";

const ORIGINS: Record<string, string> = {
  user: "Prompt",
  queued: "Queued prompt",
  background: "After a background task",
  autonomous: "Of its own accord",
};
const OUTCOMES: Record<string, { text: string; tone: Tone }> = {
  completed: { text: "completed", tone: "good" },
  interrupted: { text: "interrupted", tone: "warn" },
  error: { text: "failed", tone: "bad" },
  max_turns: { text: "stopped at its limit of rounds", tone: "warn" },
  budget: { text: "stopped at its budget", tone: "warn" },
  max_tokens: { text: "stopped at its limit of tokens", tone: "warn" },
  refusal: { text: "the model refused", tone: "warn" },
  process_exited: { text: "the agent exited", tone: "bad" },
  hung: { text: "given up: the agent hung", tone: "bad" },
};

export function outcome(turn: Turn): { text: string; tone: Tone } {
  if (turn.end === undefined) return { text: "running", tone: "busy" };
  const word = turn.result?.outcome;
  if (word === undefined) return { text: "ended", tone: "plain" };
  // A word of a newer hub is shown as it is: what it means is not known here.
  return known(OUTCOMES, word) ?? { text: visibleCode(word), tone: turn.result?.is_error ? "bad" : "warn" };
}

export function TurnHead({ row }: { row: TurnRow }) {
  const { turn } = row;
  return (
    <header class="turn-head">
      <h2>{known(ORIGINS, turn.origin) ?? visibleCode(turn.origin)}</h2>
      <time dateTime={turn.start}>{time(turn.start)}</time>
      {row.voided && <span class="chip">no longer counts</span>}
      <span class="rule" />
    </header>
  );
}

/** Tokens that were sent, those of caches included. */
function sent(tokens: TokenSums | undefined): number {
  return (tokens?.input_tokens ?? 0) + (tokens?.cache_read_input_tokens ?? 0) + (tokens?.cache_creation_input_tokens ?? 0);
}

/** What came of a turn, where it ended. */
export function TurnEnd({ row }: { row: EndRow }) {
  const { show, hub } = usePage();
  const live = useLive();
  const { turn, files, added, removed } = row;
  const { text, tone } = outcome(turn);
  const result = turn.result;
  const took = result?.duration_ms ?? (turn.end === undefined || turn.start === "" ? undefined : between(turn.start, turn.end));
  const spent = result?.all_tokens ?? result;
  const tokens = sent(spent);
  return (
    <p class={`turn-end ${tone}`}>
      <Icon name={tone === "good" ? "check" : tone === "bad" ? "cross" : "stop"} />
      <b>{text}</b>
      <span class="facts">
        {took !== undefined && <span>{duration(took)}</span>}
        {result?.cost_usd !== undefined && <span>{money(result.cost_usd)}</span>}
        {turn.whole && files > 0 && (
          <button type="button" class="more" onClick={() => show("changes")}>
            {plural(files, "file")} changed {added > 0 && `+${added}`} {removed > 0 && `−${removed}`}
          </button>
        )}
        {turn.whole && turn.tools > 0 && <span>{plural(turn.tools, "tool")}</span>}
        {result && tokens > 0 && (
          <span
            title={`${tokens} tokens in, ${spent?.output_tokens ?? 0} out${result.all_tokens ? `, subagents and helpers included; by itself ${sent(result)} in, ${result.output_tokens ?? 0} out` : ""}`}
          >
            {count(tokens)} in · {count(spent?.output_tokens ?? 0)} out
          </span>
        )}
      </span>
      {tone === "bad" && live.conversation.turns.at(-1) === turn && hub.mayControl && !isReplay(hub.summary) && !hub.summary?.followed && (
        <Decide className="more" meaning={`retry ${turn.id}`} onDecide={() => void retry(hub, live.id)}>
          <Icon name="retry" /> Retry
        </Decide>
      )}
    </p>
  );
}

async function retry(hub: ConsoleState, session: string): Promise<void> {
  const { session: made } = members(await hub.run({ type: "session.retry", session }));
  if (typeof made === "string") hub.select(made);
}

/** What the agent's program adds is rarely read, and can be long. */
const SHORT = 300;

function AddedView({ row }: { row: UserRow }) {
  const [open, toggle] = useOpened(row, false);
  return (
    <Fold
      className="asides"
      open={open}
      onToggle={toggle}
      head={
        <span class="subject">
          Added by the agent’s program{!open && ` · ${visibleCode(row.text.slice(0, 160).replaceAll("\n", " "))}`}
        </span>
      }
    >
      <div class="said synthetic">
        <Prose text={row.text} />
      </div>
    </Fold>
  );
}

export function UserView({ row }: { row: UserRow }) {
  if (row.synthetic && row.text.length > SHORT) return <AddedView row={row} />;
  return (
    <article
      class={`said ${row.synthetic ? "synthetic" : ""}`}
      aria-label={row.synthetic ? "Said by the agent's program" : "What you said"}
    >
      {row.synthetic && <p class="quiet">Added by the agent’s program</p>}
      {row.text.length > 0 &&
        (row.text.length < 20_000 ? (
          <p class="user-text" dir="auto">
            {visibleCode(row.text)}
          </p>
        ) : (
          <Prose text={row.text} />
        ))}
      <Parts parts={row.parts} />
    </article>
  );
}

const SOURCES: Record<string, string> = { local_command: "Output of a command", result: "Result", synthetic: "From the agent’s program" };

export function TextView({ row }: { row: TextRow }) {
  if (row.text === "" && !row.live) return null;
  return (
    <article class={`answer ${row.live ? "live" : ""}`} aria-label="Answer">
      {row.source && <p class="quiet">{known(SOURCES, row.source) ?? visibleCode(row.source)}</p>}
      <Commentable text={row.text} source="Your answer" done={!row.live} />
    </article>
  );
}

/** Closed unless the reader opens it, also while it grows: so it never moves what stands below. */
export function ReasoningView({ row }: { row: TextRow }) {
  const [open, toggle] = useOpened(row, false);
  const words = row.redacted && row.text === "" ? "encrypted" : plural(row.text.split(/\s+/).length, "word");
  return (
    <Fold
      className="reasoning"
      open={open}
      onToggle={toggle}
      head={
        <>
          <Icon name="thought" />
          <span class="verb">{row.live ? "Thinking …" : "Thought"}</span>
          <span class="subject">{!open && visibleCode(row.text.slice(0, 200).replaceAll("\n", " "))}</span>
          <span class="facts">
            <span>{words}</span>
          </span>
        </>
      }
    >
      <div class="card-body">{row.text ? <Prose text={row.text} /> : <p class="quiet">The API encrypted this.</p>}</div>
    </Fold>
  );
}

export function PlanView({ row }: { row: PlanRow }) {
  return (
    <article class="card plan" aria-label="Plan">
      <div class="card-title">
        <Icon name="plan" /> Plan
      </div>
      <div class="card-body">
        {row.plan.items ? <Todos items={row.plan.items} /> : <Commentable text={row.plan.plan_content} source="Your plan" />}
      </div>
    </article>
  );
}

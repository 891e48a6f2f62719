/** Everything that is not said by anyone: notices, retries, limits, the process, lines nobody understands. */
import type { FactRow, GapRow, MinorEventsRow, NoticeRow, UnrecognisedRow } from "../model/rows.js";
import { Icon, type IconName } from "../parts/icons.js";
import { Fold } from "../parts/parts.js";
import { Code, Terminal } from "../parts/text.js";
import { useOpened } from "../state/opened.js";
import { bytes, count, duration, plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { limitText, resetText, spaced } from "../text/words.js";

export function MinorEventsView({ row }: { row: MinorEventsRow }) {
  const [open, toggle] = useOpened(row, false);
  const last = row.entries.at(-1);
  const text = last ? visibleCode(`${last.text || last.label}`.slice(0, 160)) : "";
  if (row.entries.length === 1 && (last?.text.length ?? 0) < 160) return <p class="aside">{text}</p>;
  return (
    <Fold
      className="asides"
      open={open}
      onToggle={toggle}
      head={
        <span>
          {row.entries.length > 1 && `${row.entries.length} events · `}
          {text}
        </span>
      }
    >
      <ul>
        {row.entries.slice(-200).map((entry) => (
          <li key={entry.seq}>
            <b>{visibleCode(entry.label)}</b> {visibleCode(entry.text.slice(0, 2000))}
          </li>
        ))}
      </ul>
    </Fold>
  );
}

function Bar({ tone, icon, children }: { tone: string; icon: IconName; children: preact.ComponentChildren }) {
  return (
    <div class={`bar ${tone}`}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  );
}

export function NoticeView({ row }: { row: NoticeRow }) {
  if (row.label === "cut")
    return (
      <div class="boundary">
        <span>{visibleCode(row.text)}</span>
      </div>
    );
  return (
    <Bar tone={row.level === "error" ? "bad" : row.level === "warning" ? "warn" : "plain"} icon="warning">
      <span class="quoted">{visibleCode(row.text.slice(0, 4000)) || row.label}</span>
    </Bar>
  );
}

function retryText(event: Extract<FactRow["event"], { type: "api_retry" }>): string {
  const attempt = event.max_retries === undefined ? `Attempt ${event.attempt}` : `Attempt ${event.attempt} of ${event.max_retries}`;
  const why = [event.error && event.error !== "unknown" && spaced(event.error), event.status && `HTTP ${event.status}`]
    .filter(Boolean)
    .join(", ");
  const next = event.delay_ms === undefined ? "" : `, the next one starts after ${duration(event.delay_ms)}`;
  return `${attempt} to reach the API failed${why && ` (${why})`}${next}.`;
}

/** What stands there once the model has spoken again. */
function retriedText(event: Extract<FactRow["event"], { type: "api_retry" }>): string {
  const why = [event.error && event.error !== "unknown" && spaced(event.error), event.status && `HTTP ${event.status}`]
    .filter(Boolean)
    .join(", ");
  return `The API was reached again after ${plural(event.attempt, "failed attempt")}${why && ` (${why})`}.`;
}

export function FactView({ row }: { row: FactRow }) {
  const { event } = row;
  switch (event.type) {
    case "api_retry":
      return (
        <Bar tone={row.over ? "plain" : "warn"} icon="clock">
          {visibleCode(row.over ? retriedText(event) : retryText(event))}
        </Bar>
      );
    case "rate_limit": {
      const resets = resetText(event);
      return (
        <Bar tone={event.status === "rejected" ? "bad" : "warn"} icon="clock">
          {visibleCode(limitText(event.rate_limit_message))}
          {resets && ` It resets on ${resets}.`}
        </Bar>
      );
    }
    case "sandbox_denied":
      return (
        <Bar tone="warn" icon="warning">
          The sandbox refused <code>{visibleCode(event.target.slice(0, 400))}</code>: {visibleCode(event.reason.slice(0, 1000))}.
        </Bar>
      );
    case "compact_boundary": {
      const { pre_tokens: before, post_tokens: after } = event;
      const sizes =
        before === undefined ? "" : after === undefined ? ` (${count(before)} tokens)` : ` (${count(before)} to ${count(after)} tokens)`;
      return (
        <div class="boundary">
          <span>The conversation above was replaced by a summary{sizes}</span>
        </div>
      );
    }
    case "error": {
      // What the text says already, and a code that says nothing, is not said again.
      const code = event.code === "process_exited" || event.code === "unknown" ? undefined : event.code;
      const why = [code && spaced(code), event.code !== "process_exited" && event.status && `HTTP ${event.status}`]
        .filter(Boolean)
        .join(" · ");
      return (
        <Bar tone="bad" icon="warning">
          {visibleCode(event.error.slice(0, 4000))}
          {why && <small>{visibleCode(why)}</small>}
          {row.exit?.stderr_tail && <Terminal text={row.exit.stderr_tail} label="The last it said on standard error" error />}
        </Bar>
      );
    }
    case "process_status": {
      if (event.state === "stalled")
        return (
          <Bar tone="warn" icon="clock">
            The agent has been silent for {duration(event.silent_ms ?? 0)}.
          </Bar>
        );
      if (event.state !== "exited")
        return (
          <Bar tone="warn" icon="warning">
            The agent’s process: {visibleCode(event.state)}
          </Bar>
        );
      const how = event.signal ? `by ${event.signal}` : event.exit_code === undefined ? "" : `with code ${event.exit_code}`;
      const bad = event.signal !== undefined || (event.exit_code ?? 0) !== 0;
      return (
        <>
          <Bar tone={bad ? "bad" : "plain"} icon="stop">
            The agent’s process ended {how}
            {event.reason && ` (${visibleCode(event.reason)})`}.
          </Bar>
          {event.stderr_tail && <Terminal text={event.stderr_tail} label="The last it said on standard error" error />}
        </>
      );
    }
    default:
      event satisfies never;
      return null;
  }
}

export function UnrecognisedView({ row }: { row: UnrecognisedRow }) {
  const [open, toggle] = useOpened(row, false);
  const { event } = row;
  const head =
    event.type === "unknown"
      ? `A line of a type that turnwire does not know: “${event.message_type}”`
      : `A malformed line (${bytes(event.size)}): ${event.reason}`;
  return (
    <Fold
      className="odd"
      open={open}
      onToggle={toggle}
      head={
        <>
          <Icon name="warning" /> <span>{visibleCode(head.slice(0, 200))}</span>
        </>
      }
    >
      <Code text={event.raw} language="json" label="The line as it came" />
    </Fold>
  );
}

export function GapView({ row }: { row: GapRow }) {
  const missing = row.to - row.from + 1;
  return (
    <Bar tone="warn" icon="warning">
      {plural(missing, "event")} before this {missing === 1 ? "is" : "are"} no longer kept.
    </Bar>
  );
}

/** Everything that is not said by anyone: notices, retries, limits, the process, lines nobody understands. */
import { useState } from "preact/hooks";
import type { AsidesRow, FactRow, GapRow, NoticeRow, OddRow } from "../model/rows.js";
import { Icon, type IconName } from "../parts/icons.js";
import { Fold } from "../parts/parts.js";
import { Code, Terminal } from "../parts/text.js";
import { bytes, count, duration, moment, plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";

export function AsidesView({ row }: { row: AsidesRow }) {
  const [, render] = useState(0);
  const open = row.view.open ?? false;
  const last = row.entries.at(-1);
  const text = last ? visibleCode(`${last.text || last.label}`.slice(0, 160)) : "";
  if (row.entries.length === 1 && (last?.text.length ?? 0) < 160) return <p class="aside">{text}</p>;
  return (
    <Fold
      className="asides"
      open={open}
      onToggle={() => {
        row.view.open = !open;
        render((n) => n + 1);
      }}
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
      {visibleCode(row.text.slice(0, 4000)) || row.label}
    </Bar>
  );
}

function retryText(event: Extract<FactRow["event"], { type: "api_retry" }>): string {
  const attempt = event.max_retries === undefined ? `Attempt ${event.attempt}` : `Attempt ${event.attempt} of ${event.max_retries}`;
  const why = [event.error, event.status && `HTTP ${event.status}`].filter(Boolean).join(", ");
  const next = event.delay_ms === undefined ? "" : `, the next one starts after ${duration(event.delay_ms)}`;
  return `${attempt} to reach the API failed${why && ` (${why})`}${next}.`;
}

export function FactView({ row }: { row: FactRow }) {
  const { event } = row;
  switch (event.type) {
    case "api_retry":
      return (
        <Bar tone={row.over ? "plain" : "warn"} icon="clock">
          {visibleCode(retryText(event))}
        </Bar>
      );
    case "rate_limit": {
      const resets = event.resets_at === undefined ? "" : ` It resets on ${moment(event.resets_at * 1000)}.`;
      return (
        <Bar tone={event.status === "rejected" ? "bad" : "warn"} icon="clock">
          {visibleCode(event.rate_limit_message.replace(/\.?$/, "."))}
          {resets}
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
      const why = [code, event.code !== "process_exited" && event.status && `HTTP ${event.status}`].filter(Boolean).join(" · ");
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

export function OddView({ row }: { row: OddRow }) {
  const [, render] = useState(0);
  const open = row.view.open ?? false;
  const { event } = row;
  const head =
    event.type === "unknown"
      ? `A line of the unknown type “${event.message_type}”`
      : `A malformed line (${bytes(event.size)}): ${event.reason}`;
  return (
    <Fold
      className="odd"
      open={open}
      onToggle={() => {
        row.view.open = !open;
        render((n) => n + 1);
      }}
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

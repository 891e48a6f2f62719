/** All sessions with their state and cost, and a form for new ones. */
import { useState } from "preact/hooks";
import type { SessionSummary } from "turnwire-client";
import { useSource } from "../state/source.js";
import { money } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { usePage } from "./context.js";
import { Icon } from "./icons.js";
import type { Tone } from "./parts.js";

const TONES: Record<SessionSummary["state"], Tone> = {
  starting: "busy",
  idle: "good",
  running: "busy",
  waiting: "warn",
  stopping: "warn",
  exited: "plain",
  replaying: "busy",
};

export function isScripted(summary: SessionSummary | undefined): boolean {
  return /script|demo/i.test(summary?.agent ?? "");
}

function Entry({ summary, current }: { summary: SessionSummary; current: boolean }) {
  const { hub } = usePage();
  return (
    <li>
      <button type="button" class="session" aria-current={current ? "page" : undefined} onClick={() => hub.select(summary.session)}>
        <span class={`dot ${TONES[summary.state]}`} aria-hidden="true" />
        <span class="title">{visibleCode(summary.title ?? summary.session)}</span>
        <span class="cost">{summary.total_cost_usd !== undefined && money(summary.total_cost_usd)}</span>
        <span class="state">
          {summary.pending > 0 ? `waits for you (${summary.pending})` : summary.state}
          {isScripted(summary) && " · scripted"}
        </span>
      </button>
    </li>
  );
}

function NewSession({ onDone }: { onDone: () => void }) {
  const { hub } = usePage();
  const [prompt, setPrompt] = useState("");
  const [workspace, setWorkspace] = useState("");

  async function create(): Promise<void> {
    const reply = await hub.run({ type: "session.create", ...(prompt && { prompt }), ...(workspace && { workspace }) });
    if (reply === undefined) return;
    if (typeof reply === "object" && reply !== null && !Array.isArray(reply) && typeof reply.session === "string")
      hub.select(reply.session);
    onDone();
  }

  return (
    <form
      class="new-session"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <label>
        First prompt
        <textarea rows={3} value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
      </label>
      <label>
        Folder
        <input type="text" placeholder="The sidecar’s own" value={workspace} onInput={(event) => setWorkspace(event.currentTarget.value)} />
      </label>
      <div class="buttons">
        <button type="submit" class="primary">
          Start
        </button>
        <button type="button" class="quiet-button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

export function Sidebar() {
  const { hub } = usePage();
  useSource(hub.changed, hub.switched);
  const [making, setMaking] = useState(false);
  return (
    <nav class="sidebar" aria-label="Sessions">
      <div class="brand">
        <Icon name="terminal" /> turnwire
      </div>
      <ul>
        {hub.sessions.map((summary) => (
          <Entry key={summary.session} summary={summary} current={summary.session === hub.current?.id} />
        ))}
      </ul>
      {hub.sessions.length === 0 && hub.welcome && <p class="quiet">No session yet.</p>}
      {hub.mayControl &&
        (making ? (
          <NewSession onDone={() => setMaking(false)} />
        ) : (
          <button type="button" class="quiet-button wide" onClick={() => setMaking(true)}>
            <Icon name="plus" /> New session
          </button>
        ))}
      <p class="version">{hub.welcome && `turnwire ${hub.welcome.version}`}</p>
    </nav>
  );
}

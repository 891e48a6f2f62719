/** All sessions, those first that want somebody; and the way to a new one. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionSummary } from "turnwire-client";
import { type Group, inbox } from "../model/inbox.js";
import { sessionTitle } from "../model/titles.js";
import { Boundary } from "../parts/boundary.js";
import { Icon } from "../parts/icons.js";
import type { Tone } from "../parts/parts.js";
import { usePage } from "../state/context.js";
import { inBrowser } from "../state/kept.js";
import { Seen } from "../state/seen.js";
import { useSource } from "../state/source.js";
import { age, known, money } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";

const TONES: Record<SessionSummary["state"], Tone> = {
  starting: "busy",
  idle: "plain",
  running: "busy",
  waiting: "warn",
  stopping: "warn",
  exited: "plain",
  unreachable: "bad",
  replaying: "busy",
};

/** What is said of a state; nothing of one that only waits for a prompt. */
const STATES: Record<SessionSummary["state"], string> = {
  starting: "starting",
  idle: "",
  running: "working",
  waiting: "asks you",
  stopping: "stopping",
  exited: "ended",
  unreachable: "unreachable",
  replaying: "replaying",
};

/** Sessions of a group that are listed without being asked for, and from how many on they can be searched. */
const LISTED = 8;
const SEARCHED = 6;

const PAGES = [
  ["history", "History", "clock"],
  ["usage", "Usage", "chart"],
] as const;

export function isScripted(summary: SessionSummary | undefined): boolean {
  return /script|demo/i.test(summary?.agent ?? "");
}

interface EntryProps {
  summary: SessionSummary;
  kind: Group["kind"];
  current: boolean;
  unread: boolean;
}

function Entry({ summary, kind, current, unread }: EntryProps) {
  const { session, state, pending, workspace, agent, updated, created, total_cost_usd: cost } = summary;
  const since = Date.now() - Date.parse(updated ?? created ?? "");
  const where = kind === "folder" ? "" : visibleCode(namedPath(workspace ?? "").name);
  const how = kind === "waiting" ? (pending > 1 ? `${pending} requests` : "asks you") : (known(STATES, state) ?? visibleCode(state));
  const facts = [how, where, visibleCode(agent ?? ""), Number.isNaN(since) ? "" : age(since)].filter(Boolean);
  return (
    <li>
      <a class="session" href={`#/s/${encodeURIComponent(session)}`} aria-current={current ? "page" : undefined}>
        <span class={`dot ${kind === "waiting" ? "warn" : (known(TONES, state) ?? "warn")}`} aria-hidden="true" />
        <span class="title">
          {sessionTitle(summary)}
          {unread && (
            <span class="unread" role="img" aria-label="unread">
              ●
            </span>
          )}
        </span>
        <span class="cost">{cost !== undefined && money(cost)}</span>
        {facts.length > 0 && <span class="state">{facts.join(" · ")}</span>}
      </a>
    </li>
  );
}

function Listed({ group, seen, all }: { group: Group; seen: Seen; all: boolean }) {
  const { hub } = usePage();
  const [more, setMore] = useState(false);
  const listed = group.sessions.filter((summary, index) => all || more || index < LISTED || summary.session === hub.current?.id);
  const hidden = group.sessions.length - listed.length;
  return (
    <section>
      <h2 class="group" title={visibleCode(group.path)}>
        {visibleCode(group.title)}
      </h2>
      <ul>
        {listed.map((summary) => (
          <Boundary key={summary.session} what={`the session ${summary.session}`} seq={summary.last_seq}>
            <Entry
              summary={summary}
              kind={group.kind}
              current={summary.session === hub.current?.id}
              unread={summary.session !== hub.current?.id && seen.unread(summary)}
            />
          </Boundary>
        ))}
      </ul>
      {hidden > 0 && (
        <button type="button" class="more" onClick={() => setMore(true)}>
          {hidden} more
        </button>
      )}
    </section>
  );
}

export function Sidebar({ onMake, onFind }: { onMake: () => void; onFind: () => void }) {
  const { hub } = usePage();
  useSource(hub.changed, hub.switched);
  const [query, setQuery] = useState("");
  const seen = useMemo(() => new Seen(inBrowser), []);
  const summary = hub.summary;
  useEffect(() => {
    if (summary && !document.hidden) seen.mark(summary.session, summary.last_seq);
  });
  const groups = inbox(hub.sessions, query);
  return (
    <nav class="sidebar" aria-label="Sessions">
      <div class="brand">
        <Icon name="terminal" /> turnwire
        <button type="button" class="quiet-button" title="Go to a session, or do something by its name" onClick={onFind}>
          Find <kbd>Ctrl K</kbd>
        </button>
      </div>
      {hub.mayCreate && (
        <button type="button" class="primary wide" onClick={onMake}>
          <Icon name="plus" /> New session
        </button>
      )}
      <div class="pages">
        {PAGES.map(([name, title, icon]) => (
          <a key={name} href={`#/${name}`} aria-current={hub.view?.name === name ? "page" : undefined}>
            <Icon name={icon} /> {title}
          </a>
        ))}
      </div>
      {hub.sessions.length > SEARCHED && (
        <input
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      {groups.map((group) => (
        <Listed key={`${group.kind} ${group.path}`} group={group} seen={seen} all={query !== ""} />
      ))}
      {hub.sessions.length === 0 && hub.welcome && hub.view && <p class="quiet">No session yet.</p>}
      {query !== "" && groups.length === 0 && <p class="quiet">No session fits.</p>}
      <p class="version">{hub.welcome && `turnwire ${hub.welcome.version}`}</p>
    </nav>
  );
}

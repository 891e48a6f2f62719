/** Old conversations: by folder, or where some words stand in them. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { SessionSummary } from "turnwire-client";
import { Badge } from "../parts/parts.js";
import { type Asked, members, useAnswer } from "../state/ask.js";
import type { ConsoleState } from "../state/console_state.js";
import { usePage } from "../state/context.js";
import { age, plural } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { byFolder, changedList, conversations, type Hit, hits, isComplete, type Kept, missing, next, pushedOut } from "./answers.js";
import { download } from "./download.js";
import { costOf } from "./sums.js";
import { Worktrees } from "./worktrees.js";

/** Shows a conversation as a session, and in it what was sought. */
async function open(hub: ConsoleState, conversation: string, sought?: Hit["sought"]): Promise<void> {
  const { session } = members(await hub.run({ type: "library.open", conversation }));
  if (typeof session === "string") hub.select(session, sought);
}

function ago(at: string | undefined): string {
  const since = Date.now() - Date.parse(at ?? "");
  return Number.isNaN(since) ? "" : age(Math.max(0, since));
}

/** Somebody's own CLI has it open: what has no session of ours, or one that follows it or does not run. */
function elsewhere({ running, session }: Kept, sessions: readonly SessionSummary[]): boolean {
  const own = sessions.find((one) => one.session === session);
  return running && (!own || own.followed === true || own.state === "exited");
}

export function Trouble({ asked }: { asked: Asked }) {
  if (asked.error !== undefined)
    return (
      <p class="wrong" role="alert">
        {visibleCode(asked.error)}
      </p>
    );
  if (asked.answer === undefined)
    return (
      <p class="quiet" role="status">
        Looking …
      </p>
    );
  if (isComplete(asked.answer)) return null;
  const silent = missing(asked.answer);
  return (
    <p class="quiet" role="status">
      {silent.length > 0
        ? `No answer from ${visibleCode(silent.join(", "))}; this is what the others have. `
        : "The folders are still being read; this is what is known so far. "}
      <button type="button" class="more" onClick={asked.again}>
        Look again
      </button>
    </p>
  );
}

function Rename({ one, onDone }: { one: Kept; onDone: (title?: string) => void }) {
  const { hub } = usePage();
  const [text, setText] = useState(one.title);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  async function rename(): Promise<void> {
    const title = text.trim();
    if ((await hub.run({ type: "library.rename", conversation: one.id, title })) !== undefined) onDone(title);
  }
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault();
        void rename();
      }}
    >
      <input
        type="text"
        dir="auto"
        ref={field}
        maxLength={200}
        aria-label="Title"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="secondary" disabled={!text.trim()}>
        Rename
      </button>
      <button type="button" class="quiet-button" onClick={() => onDone()}>
        Cancel
      </button>
    </form>
  );
}

function Entry({ one, redact }: { one: Kept; redact: boolean }) {
  const { hub } = usePage();
  const [naming, name] = useState(false);
  const [given, give] = useState<string>();
  const button = useRef<HTMLButtonElement>(null);
  const title = visibleCode(given ?? one.title);
  const { session } = one;
  const facts = [ago(one.ended), plural(one.turns, "turn"), costOf(one), one.model, one.branch].filter(Boolean);
  return (
    <li class="kept">
      <div>
        {session !== undefined ? (
          <a class="title" href={`#/s/${encodeURIComponent(session)}`}>
            {title}
          </a>
        ) : hub.mayControl ? (
          <button type="button" class="title" onClick={() => void open(hub, one.id)}>
            {title}
          </button>
        ) : (
          <b class="title">{title}</b>
        )}{" "}
        {elsewhere(one, hub.sessions) && <Badge tone="warn">runs elsewhere</Badge>}
        <p class="quiet">{visibleCode(facts.join(" · "))}</p>
      </div>
      <div class="buttons">
        {hub.mayControl && (
          <button type="button" class="more" ref={button} aria-label={`Rename ${title}`} onClick={() => name(true)}>
            Rename
          </button>
        )}
        <button
          type="button"
          class="more"
          aria-label={`Markdown of ${title}`}
          onClick={() => void download(hub, one.id, "markdown", redact)}
        >
          Markdown
        </button>
        <button type="button" class="more" aria-label={`HTML of ${title}`} onClick={() => void download(hub, one.id, "html", redact)}>
          HTML
        </button>
      </div>
      {naming && (
        <Rename
          one={{ ...one, title: given ?? one.title }}
          onDone={(text) => {
            name(false);
            if (text !== undefined) give(text);
            button.current?.focus();
          }}
        />
      )}
    </li>
  );
}

function List() {
  const { hub } = usePage();
  const asked = useAnswer({ type: "library.list" }, changedList);
  const [redact, setRedact] = useState(false);
  const [rest, setRest] = useState<{ kept: Kept[]; after: string | undefined }>();
  const shown = useRef<readonly Kept[]>([]);
  const { answer } = asked;
  useEffect(() => {
    const now = answer === undefined ? [] : conversations(answer);
    setRest((older) => older && { ...older, kept: pushedOut(shown.current, now, older.kept) });
    shown.current = now;
  }, [answer]);
  if (answer === undefined) return <Trouble asked={asked} />;
  const first = conversations(answer);
  const kept = [...first, ...pushedOut([], first, rest?.kept ?? [])];
  const before = rest ? rest.after : next(answer);

  async function more(): Promise<void> {
    const page = await hub.run({ type: "library.list", ...(before !== undefined && { before }) });
    if (page !== undefined) setRest({ kept: [...(rest?.kept ?? []), ...conversations(page)], after: next(page) });
  }

  return (
    <>
      <Trouble asked={asked} />
      {kept.length === 0 && <p class="quiet">No agent has kept a conversation on this machine yet.</p>}
      {kept.length > 0 && (
        <label class="inline quiet">
          <input type="checkbox" checked={redact} onChange={(event) => setRedact(event.currentTarget.checked)} />
          Replace secrets, addresses and home paths in what is exported
        </label>
      )}
      {byFolder(kept).map(([folder, inside]) => (
        <section key={folder}>
          <h2 title={visibleCode(folder)}>
            {visibleCode(namedPath(folder).name || "Elsewhere")} <small>{visibleCode(namedPath(folder).folder)}</small>
          </h2>
          <ul>
            {inside.map((one) => (
              <Entry key={one.id} one={one} redact={redact} />
            ))}
          </ul>
        </section>
      ))}
      {before !== undefined && (
        <button type="button" class="secondary" onClick={() => void more()}>
          Show older ones
        </button>
      )}
    </>
  );
}

function Found({ hit }: { hit: Hit }) {
  const { hub } = usePage();
  const title = visibleCode(hit.title);
  return (
    <li class="kept">
      <div>
        {hit.live || hub.mayControl ? (
          <button
            type="button"
            class="title"
            onClick={() => (hit.live ? hub.select(hit.id, hit.sought) : void open(hub, hit.id, hit.sought))}
          >
            {title}
          </button>
        ) : (
          <b class="title">{title}</b>
        )}
        <p class="snippet" dir="auto">
          {hit.snippet.map((part, index) => (part.hit ? <mark key={index}>{visibleCode(part.text)}</mark> : visibleCode(part.text)))}
        </p>
        <p class="quiet">{visibleCode([hit.kind, namedPath(hit.folder).name, ago(hit.at)].filter(Boolean).join(" · "))}</p>
      </div>
    </li>
  );
}

/** As many as the hub gives at most. */
const MOST = 500;

function Hits({ query }: { query: string }) {
  const [limit, setLimit] = useState(50);
  const asked = useAnswer({ type: "library.search", text: query, limit });
  const found = asked.answer === undefined ? [] : hits(asked.answer);
  return (
    <>
      <Trouble asked={asked} />
      {asked.answer !== undefined && (
        <div role="status">
          <h2>{found.length < limit ? plural(found.length, "hit") : `The best ${found.length} hits`}</h2>
        </div>
      )}
      <ul>
        {found.map((hit, index) => (
          <Found key={index} hit={hit} />
        ))}
      </ul>
      {found.length === limit && limit < MOST && (
        <button type="button" class="secondary" onClick={() => setLimit(MOST)}>
          Show more
        </button>
      )}
    </>
  );
}

/** The address holds the words, so that the way back leads to what was found. */
export function History({ query }: { query: string }) {
  const { hub } = usePage();
  const [text, setText] = useState(query);
  useLayoutEffect(() => setText(query), [query]);
  return (
    <>
      <form
        role="search"
        class="filter"
        onSubmit={(event) => {
          event.preventDefault();
          location.hash = text.trim() === "" ? "#/history" : `#/history/${encodeURIComponent(text.trim())}`;
        }}
      >
        <input
          type="search"
          aria-label="Words in any conversation"
          placeholder='Words, or "a phrase"'
          maxLength={1000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Search
        </button>
        {query !== "" && (
          <a class="more" href="#/history">
            All conversations
          </a>
        )}
      </form>
      {query === "" && hub.mayControl && <Worktrees />}
      {query === "" ? <List /> : <Hits key={query} query={query} />}
    </>
  );
}

/** What is known of the session, and what can be done with it as a whole. */
import { useRef, useState } from "preact/hooks";
import type { CommandInput } from "turnwire-client";
import { modeOf } from "../model/modes.js";
import { isReplay } from "../model/replay.js";
import { useKeyboardKept } from "../parts/keyboard.js";
import { Decide } from "../request/decide.js";
import { members, useResult } from "../state/ask.js";
import type { ConsoleState } from "../state/console_state.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { money } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { policyName } from "../text/words.js";

/** What cannot be undone is asked about first, in these words. */
const ASKED: Record<string, string | undefined> = { "session.delete": "Forget this session and all its events?" };

type Deed = readonly [name: string, command: CommandInput];

/** What can be done with a session. Each button decides: a second click does nothing to what the first one has led to. */
function Deeds({ deeds }: { deeds: readonly Deed[] }) {
  const { hub } = usePage();
  const [asked, ask] = useState<Deed | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const part = useRef<HTMLDivElement>(null);
  useKeyboardKept(part, asked);

  async function carryOut(command: CommandInput): Promise<void> {
    setBusy(true);
    await done(hub, command);
    setBusy(false);
    ask(undefined);
  }

  return (
    <div class="deeds" role="group" aria-label="What can be done with this session" tabIndex={-1} ref={part}>
      {asked && <p class="wrong">{ASKED[asked[1].type]}</p>}
      <div class="buttons">
        {asked ? (
          <>
            <button type="button" class="quiet-button" onClick={() => ask(undefined)}>
              Back
            </button>
            <Decide className="danger" meaning={`sure ${asked[0]}`} blocked={busy} onDecide={() => void carryOut(asked[1])}>
              {asked[0]} it
            </Decide>
          </>
        ) : (
          deeds.map((deed) => {
            const [name, command] = deed;
            const decide = () => (ASKED[command.type] ? ask(deed) : void carryOut(command));
            return (
              <Decide key={name} className="secondary" meaning={name} blocked={busy} onDecide={decide}>
                {name}
              </Decide>
            );
          })
        )}
      </div>
    </div>
  );
}

/** What makes a new session shows it; what removes one shows another. */
async function done(hub: ConsoleState, command: CommandInput): Promise<void> {
  const reply = await hub.run(command);
  if (command.type === "session.delete" && reply !== undefined) hub.deselect();
  if (typeof reply === "object" && reply !== null && !Array.isArray(reply) && typeof reply.session === "string") hub.select(reply.session);
}

/** The whole conversation as a document. */
async function save(hub: ConsoleState, session: string, format: "markdown" | "html"): Promise<void> {
  const { download } = await import("../library/views.js");
  await download(hub, `live:${session}`, format, false);
}

function Title({ session, title }: { session: string; title: string }) {
  const { hub } = usePage();
  const [text, setText] = useState(title);
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault();
        void hub.run({ type: "session.rename", session, title: text.trim() });
      }}
    >
      <input type="text" dir="auto" aria-label="Title" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="submit" class="secondary" disabled={!text.trim() || text.trim() === title}>
        Rename
      </button>
    </form>
  );
}

/** Servers that the agent has started in its sandbox: each on a link that one browser may open once. */
function Ports({ session }: { session: string }) {
  const { hub } = usePage();
  const { answer, error, again } = useResult({ type: "port.list", session });
  const [busy, setBusy] = useState(false);

  async function visit(port: number): Promise<void> {
    // At once: a browser opens no window for what comes later. It is closed to this page before it leads anywhere.
    const page = window.open("about:blank", "_blank");
    setBusy(true);
    const { port: at, path, url } = members(await hub.run({ type: "port.open", session, port }));
    setBusy(false);
    again();
    if (typeof url !== "string" || page === null) return page?.close();
    page.opener = null;
    const isHere = /^(localhost|127\.|\[::1\])/.test(location.hostname);
    page.location.href = isHere ? url : `http://${location.hostname}:${String(at)}${String(path)}`;
  }

  if (error) return <p class="quiet">{visibleCode(error)}</p>;
  if (answer === undefined) return null;
  return (
    <section class="ports" aria-label="Servers in the sandbox">
      <div class="listed">
        <h2>Servers in the sandbox</h2>
        <button type="button" class="more" onClick={again}>
          Look again
        </button>
      </div>
      {answer.ports.length === 0 && <p class="quiet">No server listens.</p>}
      <ul>
        {answer.ports.map(({ port, open }) => (
          <li key={port}>
            <span class="mono">{port}</span>
            {(open || hub.mayControl) && (
              <button type="button" class="secondary small" disabled={busy} onClick={() => void visit(port)}>
                Open port {port}
              </button>
            )}
            {open && hub.mayControl && (
              <button
                type="button"
                class="more"
                disabled={busy}
                onClick={() => void hub.run({ type: "port.close", session, port }).then(again)}
              >
                Close it to browsers
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function SessionFacts() {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed, live.changed);
  const { info, mode, cost } = live.conversation.state;
  const summary = hub.summary;
  const session = live.id;
  const facts: Array<[string, string | undefined]> = [
    ["Session", session],
    ["State", summary?.state],
    ["Agent", summary?.agent],
    ["Model", info?.model ?? summary?.model],
    ["Version", info?.version],
    ["Folder", info?.cwd ?? summary?.workspace],
    ["Permission mode", mode === undefined ? undefined : modeOf(mode).name],
    ["Policy", summary?.policy && policyName(summary.policy)],
    ["Never asks about", summary?.abilities?.never_asks?.join("; ")],
    ["Session of the agent", summary?.cli_session_id],
    ["Events", String(live.conversation.log.at(-1)?.seq ?? 0)],
    ["Cost", cost === undefined ? undefined : money(cost)],
    ["MCP servers", info?.mcp_servers?.map(({ name, status }) => `${name} (${status ?? "?"})`).join(", ")],
    ["Tools", info?.tools?.join(", ")],
    ["Subagents", info?.agents?.join(", ")],
    ["Skills", info?.skills?.join(", ")],
  ];
  const exited = summary?.state === "exited";
  const can = summary?.abilities;
  const deeds: Deed[] = [
    ...(exited && can?.resume !== false ? ([["Resume", { type: "session.resume", session }]] satisfies Deed[]) : []),
    ...(can?.fork === false ? [] : ([["Fork", { type: "session.fork", session }]] satisfies Deed[])),
    ["Retry last turn", { type: "session.retry", session }],
    ...(exited ? [] : ([["Close", { type: "session.close", session }]] satisfies Deed[])),
    ["Delete", { type: "session.delete", session }],
  ];
  const steered = hub.mayControl && !isReplay(summary);
  return (
    <>
      <dl class="session-facts">
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{visibleCode(value)}</dd>
              </div>
            ),
        )}
      </dl>
      {summary?.sandbox === "network" && !exited && <Ports key={`ports of ${session}`} session={session} />}
      <div class="buttons">
        <button type="button" class="secondary" onClick={() => void save(hub, session, "markdown")}>
          Export as Markdown
        </button>
        <button type="button" class="secondary" onClick={() => void save(hub, session, "html")}>
          Export as HTML
        </button>
      </div>
      {steered && <Title key={session} session={session} title={summary?.title ?? ""} />}
      {steered && <Deeds key={`deeds of ${session}`} deeds={deeds} />}
    </>
  );
}

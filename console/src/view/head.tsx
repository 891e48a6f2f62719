/** The session's head: what it is, how it is, how full its context, what it cost. */

import { useEffect, useRef, useState } from "preact/hooks";
import { AUTONOMOUS } from "../model/modes.js";
import { isReplay } from "../model/replay.js";
import { sessionTitle } from "../model/titles.js";
import { Icon } from "../parts/icons.js";
import { Badge, IconButton, type Tone } from "../parts/parts.js";
import { useLive, usePage } from "../state/context.js";
import { useMode } from "../state/mode.js";
import { useSource } from "../state/source.js";
import { count, money } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { isScripted } from "./sidebar.js";
import { toggleTheme } from "./theme.js";

function ContextMeter() {
  const { conversation } = useLive();
  const context = conversation.state.context;
  if (!context) return null;
  const used = count(context.context_window_used);
  if (context.context_window_size === undefined || context.context_efficiency === undefined) {
    return (
      <span class="meter-box" title={`${used} tokens of context used; the size of the window is not known`}>
        {used} tokens
      </span>
    );
  }
  const share = Math.min(100, Math.max(0, context.context_efficiency));
  const tone = share > 90 ? "bad" : share > 75 ? "warn" : "good";
  const text = `${used} of ${count(context.context_window_size)} tokens of context used`;
  return (
    <span class={`meter-box ${tone}`} title={text}>
      <span
        class={`meter ${tone}`}
        role="meter"
        aria-label="Context"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share)}
        aria-valuetext={text}
      >
        <span style={{ width: `${share}%` }} />
      </span>
      <span>context {Math.round(share)} %</span>
    </span>
  );
}

/** Where the agent works, the folder itself first. */
function Folder({ path }: { path: string | undefined }) {
  if (path === undefined) return null;
  const { name, folder } = namedPath(path);
  return (
    <span class="path" title={visibleCode(path)}>
      <bdi class="name">{visibleCode(name)}</bdi>
      {folder && (
        <span class="folder">
          <bdi>{visibleCode(folder)}</bdi>
        </span>
      )}
    </span>
  );
}

/** The session's name, which is changed where it stands. */
function Title() {
  const { hub } = usePage();
  const live = useLive();
  const summary = hub.summary;
  const [name, rename] = useState<string | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const renaming = name !== undefined;
  useEffect(() => field.current?.select(), [renaming]);

  function done(): void {
    rename(undefined);
    // Once the button stands there again.
    setTimeout(() => button.current?.focus());
  }

  const title = summary ? sessionTitle(summary) : visibleCode(live.id);
  if (name === undefined)
    return (
      <div class="title-line">
        <h1 title={title}>{title}</h1>
        {hub.mayControl && summary && !isReplay(summary) && (
          <button
            type="button"
            ref={button}
            class="icon-button rename-title"
            aria-label="Change the name"
            title="Change the name"
            onClick={() => rename(summary.title ?? "")}
          >
            <Icon name="edit" />
          </button>
        )}
      </div>
    );
  return (
    <form
      class="title-line"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim()) void hub.run({ type: "session.rename", session: live.id, title: name.trim() });
        done();
      }}
    >
      <h1 class="heard">{title}</h1>
      <input
        ref={field}
        type="text"
        dir="auto"
        aria-label="Name of this session"
        maxLength={200}
        value={name}
        onInput={(event) => rename(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          done();
        }}
      />
      <button type="submit" class="secondary">
        Rename
      </button>
    </form>
  );
}

/** States of a session without a turn: the hub tells of a turn's end a moment after its events. */
const IDLE: ReadonlySet<string> = new Set(["idle", "running", "waiting"]);

export function SessionHead(props: { onMenu: () => void; onPanel: () => void; panel: boolean; notify: boolean; onNotify: () => void }) {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed, live.changed);
  const summary = hub.summary;
  const { state, pending, running } = live.conversation;
  const mode = useMode();
  const cost = summary?.total_cost_usd ?? (live.whole ? state.cost : undefined);
  const [text, tone]: [string, Tone] =
    summary?.state === "unreachable"
      ? ["unreachable", "bad"]
      : pending.size > 0
        ? ["asks you", "warn"]
        : summary?.state === "replaying"
          ? ["replaying", "busy"]
          : running
            ? ["working", "busy"]
            : state.exited || summary?.state === "exited"
              ? ["ended", "plain"]
              : summary === undefined || IDLE.has(summary.state)
                ? ["idle", "good"]
                : // Between two states, or a word of a newer hub.
                  [visibleCode(summary.state), summary.state === "starting" ? "busy" : "warn"];
  return (
    <header class="session-head">
      <IconButton icon="menu" label="Sessions" className="menu" onClick={props.onMenu} />
      <div class="which">
        <Title key={live.id} />
        <p>
          {summary?.agent && <span class="agent">{visibleCode(summary.agent)}</span>}
          {isScripted(summary) && !/scripted/i.test(summary?.agent ?? "") && <span class="agent">scripted</span>}
          <Folder path={state.info?.cwd ?? summary?.workspace} />
          {summary?.worktree?.branch && (
            <span class="branch" title={`Branch ${visibleCode(summary.worktree.branch)} of a worktree of its own`}>
              <Icon name="branch" /> {visibleCode(summary.worktree.branch)}
            </span>
          )}
        </p>
      </div>
      <span class="states">
        <span role="status">
          <Badge tone={tone}>{text}</Badge>
        </span>
        {!isReplay(summary) && (
          <span class="mode-in-force" title={mode.about}>
            <Badge tone={mode.less ? "bad" : "plain"}>{visibleCode(mode.name)}</Badge>
          </span>
        )}
        {/* Such an agent may well ask: turnwire answers for you. */}
        {summary?.policy === "autonomous" && !mode.less && (
          <span class="policy-in-force" title={AUTONOMOUS.about}>
            <Badge tone="bad">{AUTONOMOUS.name}</Badge>
          </span>
        )}
      </span>
      {summary?.abilities?.never_asks && (
        <span class="never-asks" title={`The agent does this without asking: ${visibleCode(summary.abilities.never_asks.join("; "))}`}>
          <Badge tone="bad">{`never asks: ${visibleCode(summary.abilities.never_asks[0] ?? "")}`}</Badge>
        </span>
      )}
      {summary?.trouble !== undefined && (
        <span role="alert" title={visibleCode(summary.trouble)}>
          <Badge tone="warn">events are not kept</Badge>
        </span>
      )}
      <span class="spring" />
      <ContextMeter />
      {cost !== undefined && (
        <span class="cost" title="Cost of this session">
          {money(cost)}
        </span>
      )}
      <IconButton
        icon="bell"
        label="Notify me of what is asked, finished or failed"
        className="wide-only"
        pressed={props.notify}
        onClick={props.onNotify}
      />
      <IconButton icon="theme" label="Dark or light" className="wide-only" onClick={toggleTheme} />
      <IconButton icon="panel" label="Inspector" pressed={props.panel} onClick={props.onPanel} />
    </header>
  );
}

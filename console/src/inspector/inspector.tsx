/** The panel beside the conversation: where a turn's time went, every event with its line, and the session's facts. */

import type { ComponentChildren } from "preact";
import { isReplay } from "../model/replay.js";
import { IconButton } from "../parts/parts.js";
import { type Tab, useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { ChangedFiles } from "./changes.js";
import { Events } from "./events.js";
import { Files } from "./files.js";
import { SessionFacts } from "./session_facts.js";
import { TurnWaterfall } from "./waterfall.js";
import { Worktree } from "./worktree.js";

const TABS: Record<Tab, string> = {
  changes: "Changes",
  files: "Files",
  shell: "Shell",
  worktree: "Worktree",
  turn: "Turn",
  events: "Events",
  session: "Session",
};

interface Props {
  chosen: Tab;
  onTab: (tab: Tab) => void;
  seq: number | undefined;
  onSeq: (seq: number | undefined) => void;
  onClose: () => void;
  /** The tab with a shell. */
  shell: ComponentChildren;
}

export function Inspector({ chosen, onTab: setTab, seq, onSeq, onClose, shell }: Props) {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.delivery, hub.changed);
  const hasWorktree = hub.summary?.worktree !== undefined;
  const hasFiles = hub.mayControl && !isReplay(hub.summary);
  const hidden = new Set<Tab>();
  if (!hasWorktree) hidden.add("worktree");
  if (!hasFiles) hidden.add("files");
  if (!hasFiles || !hub.mayOpenShells) hidden.add("shell");
  const shown = (Object.keys(TABS) as Tab[]).filter((name) => !hidden.has(name));
  const tab: Tab = seq !== undefined ? "events" : shown.includes(chosen) ? chosen : "changes";

  function choose(next: Tab): void {
    setTab(next);
    onSeq(undefined);
  }

  return (
    <aside class="inspector" aria-label="Inspector">
      <header>
        <div class="tabs" role="tablist" aria-label="Inspector">
          {shown.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={tab === name}
              aria-controls="inspector-panel"
              onClick={() => choose(name)}
            >
              {TABS[name]}
            </button>
          ))}
        </div>
        <IconButton icon="cross" label="Close the inspector" onClick={onClose} />
      </header>
      <div class="inspector-body" role="tabpanel" id="inspector-panel" aria-labelledby={`tab-${tab}`}>
        {!live.whole && tab !== "shell" && (
          <p class="quiet" role="status">
            What came before is still being read …
          </p>
        )}
        {live.whole && tab === "changes" && <ChangedFiles />}
        {live.whole && tab === "files" && <Files key={live.id} />}
        {tab === "shell" && shell}
        {live.whole && tab === "worktree" && <Worktree key={live.id} />}
        {live.whole && tab === "turn" && (
          <TurnWaterfall
            onSeq={(picked) => {
              setTab("events");
              onSeq(picked);
            }}
          />
        )}
        {live.whole && tab === "events" && (
          <Events
            seq={seq}
            onSeq={(picked) => {
              setTab("events");
              onSeq(picked);
            }}
          />
        )}
        {live.whole && tab === "session" && <SessionFacts />}
      </div>
    </aside>
  );
}

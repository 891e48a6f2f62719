/** The panel beside the conversation: where a turn's time went, every event with its line, and the session's facts. */

import { IconButton } from "../parts/parts.js";
import { type Tab, useLive } from "../state/context.js";
import { useSource } from "../state/source.js";
import { ChangedFiles } from "./changes.js";
import { Events } from "./events.js";
import { SessionFacts } from "./session_facts.js";
import { TurnWaterfall } from "./waterfall.js";

const TABS: Record<Tab, string> = { changes: "Changes", turn: "Turn", events: "Events", session: "Session" };

interface Props {
  chosen: Tab;
  onTab: (tab: Tab) => void;
  seq: number | undefined;
  onSeq: (seq: number | undefined) => void;
  onClose: () => void;
}

export function Inspector({ chosen, onTab: setTab, seq, onSeq, onClose }: Props) {
  const tab: Tab = seq === undefined ? chosen : "events";
  const live = useLive();
  useSource(live.delivery);

  function choose(next: Tab): void {
    setTab(next);
    onSeq(undefined);
  }

  return (
    <aside class="inspector" aria-label="Inspector">
      <header>
        <div class="tabs" role="tablist" aria-label="Inspector">
          {(Object.keys(TABS) as Tab[]).map((name) => (
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
        {!live.whole && (
          <p class="quiet" role="status">
            What came before is still being read …
          </p>
        )}
        {live.whole && tab === "changes" && <ChangedFiles />}
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

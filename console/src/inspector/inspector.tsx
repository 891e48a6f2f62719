/** The panel beside the conversation: where a turn's time went, every event with its line, and the session's facts. */
import { useState } from "preact/hooks";
import { IconButton } from "../view/parts.js";
import { Events } from "./events.js";
import { SessionFacts } from "./session_facts.js";
import { TurnWaterfall } from "./waterfall.js";

const TABS = { events: "Events", turn: "Turn", session: "Session" } as const;
type Tab = keyof typeof TABS;

export function Inspector({
  seq,
  onSeq,
  onClose,
}: {
  seq: number | undefined;
  onSeq: (seq: number | undefined) => void;
  onClose: () => void;
}) {
  const [chosen, setTab] = useState<Tab>("turn");
  const tab: Tab = seq === undefined ? chosen : "events";

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
        {tab === "turn" && (
          <TurnWaterfall
            onSeq={(picked) => {
              setTab("events");
              onSeq(picked);
            }}
          />
        )}
        {tab === "events" && (
          <Events
            seq={seq}
            onSeq={(picked) => {
              setTab("events");
              onSeq(picked);
            }}
          />
        )}
        {tab === "session" && <SessionFacts />}
      </div>
    </aside>
  );
}

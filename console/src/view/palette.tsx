/** What can be reached by its name (Ctrl+K): sessions and the page's own commands; and the list of keys (?). */
import { useState } from "preact/hooks";
import { inbox } from "../model/inbox.js";
import { sessionTitle } from "../model/titles.js";
import { Modal } from "../parts/modal.js";
import { usePage } from "../state/context.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";

const MOST = 12;

/** Said so, as the types know such a field with a list of the browser's own alone. */
const COMBOBOX: Record<string, string> = { role: "combobox", "aria-expanded": "true", "aria-controls": "palette" };

export interface PaletteCommand {
  readonly name: string;
  readonly hint: string;
  readonly run: () => void;
}

export function Palette({ commands, onClose }: { commands: readonly PaletteCommand[]; onClose: () => void }) {
  const { hub } = usePage();
  const [query, setQuery] = useState("");
  const [picked, setPicked] = useState(0);
  const words = query.toLowerCase();
  const sessions: PaletteCommand[] = inbox(hub.sessions, query)
    .flatMap((group) => group.sessions)
    .map((summary) => ({
      name: sessionTitle(summary),
      hint: visibleCode(
        [summary.pending > 0 ? "waits for you" : summary.state, namedPath(summary.workspace ?? "").name].filter(Boolean).join(" · "),
      ),
      run: () => hub.select(summary.session),
    }));
  const found = [...sessions.slice(0, MOST), ...commands.filter(({ name }) => name.toLowerCase().includes(words))];
  const at = Math.min(picked, found.length - 1);

  function choose(doing: PaletteCommand | undefined): void {
    if (!doing) return;
    onClose();
    doing.run();
  }

  return (
    <Modal label="Go to" onClose={onClose}>
      <input
        type="search"
        {...COMBOBOX}
        aria-label="Session or action"
        placeholder="Session or action"
        autofocus
        value={query}
        {...(found[at] && { "aria-activedescendant": `palette-${at}` })}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setPicked(0);
        }}
        onKeyDown={(event) => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (step !== 0 && found.length > 0) setPicked((at + step + found.length) % found.length);
          else if (event.key === "Enter") choose(found[at]);
          else return;
          event.preventDefault();
        }}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA allows a list to be a listbox */}
      <ul role="listbox" id="palette" aria-label="Found">
        {found.map((doing, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names its option by aria-activedescendant
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses it
          <li
            key={index}
            id={`palette-${index}`}
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: ARIA allows a list's item to be an option
            role="option"
            aria-selected={index === at}
            onClick={() => choose(doing)}
          >
            <span class="title">{doing.name}</span> <small>{doing.hint}</small>
          </li>
        ))}
      </ul>
    </Modal>
  );
}

const KEYS = [
  ["Ctrl K", "go to a session, or do something by its name"],
  ["Alt F", "find in this conversation"],
  ["Alt C", "to the prompt"],
  ["Alt R", "to the request that waits"],
  ["1 … 9, e", "after Alt R, on the request: its buttons; edit its input"],
  ["Ctrl Enter", "in its fields: allow with the edit, or deny with the note"],
  ["Enter, Shift Enter", "in the prompt: send it; a new line"],
  ["Esc", "in the prompt: stop the turn"],
  ["c", "in a change: to its lines; there arrows, and Enter for a comment"],
  ["Alt I", "open and close the inspector"],
  ["?", "these keys"],
] as const;

export function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Modal label="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="secondary">
          Close
        </button>
      </form>
    </Modal>
  );
}

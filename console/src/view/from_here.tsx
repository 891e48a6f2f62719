/** What can be done from a message on: branch off before it, or go back to before it and say something else. */
import { useRef, useState } from "preact/hooks";
import type { UserRow } from "../model/rows.js";
import { useKeyboardKept } from "../parts/keyboard.js";
import { Decide } from "../request/decide.js";
import { useLive, usePage } from "../state/context.js";
import { drafts } from "../state/own_drafts.js";
import { useSource } from "../state/source.js";

const ASK = "What came after this message stays on the page, but the agent knows it no more. Files stay as they are.";

/** Whether a thing stands in the lower half of what it scrolls in, where a menu below it would be cut off. */
function isLow(node: Element): boolean {
  const box = node.closest(".scroller")?.getBoundingClientRect();
  return box !== undefined && node.getBoundingClientRect().top > (box.top + box.bottom) / 2;
}

export function FromHere({ row }: { row: UserRow }) {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed);
  const menu = useRef<HTMLDetailsElement>(null);
  const can = hub.summary?.abilities;
  const at = row.back;
  const [asking, ask] = useState(false);
  const [low, setLow] = useState(false);
  const choices = useRef<HTMLDivElement>(null);
  useKeyboardKept(choices, asking);
  if (at === undefined || row.voided || !hub.mayControl || !can?.rewind) return null;

  function close(): void {
    ask(false);
    if (menu.current) menu.current.open = false;
  }

  /** The message itself waits in the prompt, to be sent again or changed. */
  function draft(session: string): void {
    if (drafts.of(session) === "") drafts.keep(session, row.text);
  }

  async function fork(from: string): Promise<void> {
    close();
    const reply = await hub.run({ type: "session.fork", session: live.id, at: from });
    if (typeof reply !== "object" || reply === null || Array.isArray(reply) || typeof reply.session !== "string") return;
    draft(reply.session);
    hub.select(reply.session);
  }

  async function back(to: string): Promise<void> {
    close();
    if ((await hub.run({ type: "session.resume", session: live.id, at: to })) === undefined) return;
    draft(live.id);
    live.drafted.emit();
  }

  return (
    <details
      class={`from-here ${low ? "low" : ""}`}
      ref={menu}
      onFocusOut={(event) => {
        if (event.relatedTarget instanceof Node && !menu.current?.contains(event.relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.stopPropagation();
        close();
        menu.current.querySelector("summary")?.focus();
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button, also by the keyboard */}
      <summary onClick={(event) => setLow(isLow(event.currentTarget))}>From here …</summary>
      <div tabIndex={-1} ref={choices}>
        {asking ? (
          <>
            <p class="wrong">{ASK}</p>
            <Decide key="back" className="danger" meaning={`back to ${at}`} onDecide={() => void back(at)}>
              Go back
            </Decide>
          </>
        ) : (
          <>
            {can.fork && (
              <Decide key="fork" className="quiet-button" meaning={`fork ${at}`} onDecide={() => void fork(at)}>
                Fork from here
              </Decide>
            )}
            {!hub.summary?.followed && (
              <button type="button" onClick={() => ask(true)}>
                Go back to here
              </button>
            )}
          </>
        )}
      </div>
    </details>
  );
}

/** What can be done from a message on: branch off before it, or go back to before it and say something else. */
import { useRef } from "preact/hooks";
import { drafts } from "../composer/composer.js";
import type { UserRow } from "../model/rows.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";

const ASK = "Go back to before this message? What came after it stays on the page, but the agent knows it no more. Files stay as they are.";

export function FromHere({ row }: { row: UserRow }) {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed);
  const menu = useRef<HTMLDetailsElement>(null);
  const can = hub.summary?.abilities;
  const at = row.back;
  if (at === undefined || row.voided || !hub.mayControl || !can?.rewind) return null;

  function close(): void {
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
    if (!confirm(ASK) || (await hub.run({ type: "session.resume", session: live.id, at: to })) === undefined) return;
    draft(live.id);
    live.drafted.emit();
  }

  return (
    <details
      class="from-here"
      ref={menu}
      onFocusOut={(event) => {
        if (!(event.relatedTarget instanceof Node) || !menu.current?.contains(event.relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.stopPropagation();
        close();
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary>From here …</summary>
      <div>
        {can.fork && (
          <button type="button" onClick={() => void fork(at)}>
            Fork from here
          </button>
        )}
        {!hub.summary?.followed && (
          <button type="button" onClick={() => void back(at)}>
            Go back to here
          </button>
        )}
      </div>
    </details>
  );
}

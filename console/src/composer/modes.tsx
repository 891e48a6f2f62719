/** The permission mode: which holds, and a menu to change it. A mode that asks less is confirmed in a step of its own. */
import { useEffect, useRef, useState } from "preact/hooks";
import { modeOf } from "../model/modes.js";
import { Icon } from "../parts/icons.js";
import { useKeyboardKept } from "../parts/keyboard.js";
import { Decide } from "../request/decide.js";
import { Late } from "../request/late.js";
import { useLive, usePage } from "../state/context.js";
import { useMode } from "../state/mode.js";
import { visibleCode } from "../text/visible.js";

/** Of a session whose agent has not run here: a replay, which takes no mode. */
const USUAL = ["default", "acceptEdits", "plan", "bypassPermissions"];

export function ModePicker() {
  const { hub } = usePage();
  const live = useLive();
  const current = useMode();
  const menu = useRef<HTMLDetailsElement>(null);
  const [wanted, want] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const { modes: told } = live.conversation.state;
  const abilities = hub.summary?.abilities;
  const offered = abilities?.modes ?? told?.map((mode) => mode.id) ?? (abilities === undefined ? USUAL : []);
  useEffect(() => want(undefined), [current.id]);
  const choices = useRef<HTMLDivElement>(null);
  useKeyboardKept(choices, wanted);
  if (offered.length === 0) return null;
  const modes = [...new Set([...offered, ...(current.id === undefined ? [] : [current.id])])];

  function close(): void {
    const had = menu.current?.matches(":focus-within");
    want(undefined);
    if (menu.current) menu.current.open = false;
    if (had) menu.current?.querySelector("summary")?.focus();
  }

  async function set(mode: string): Promise<void> {
    if (busy) return;
    setBusy(true);
    const reply = await hub.run({ type: "set_permission_mode", session: live.id, mode });
    setBusy(false);
    if (reply !== undefined) close();
  }

  const called = (id: string) => modeOf(id, told?.find((mode) => mode.id === id)?.name);
  const next = wanted === undefined ? undefined : called(wanted);
  return (
    <details
      class={`mode-picker ${current.less ? "less" : ""}`}
      ref={menu}
      onToggle={(event) => {
        if (!event.currentTarget.open) want(undefined);
      }}
      onFocusOut={(event) => {
        if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) close();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        event.stopPropagation();
        close();
      }}
    >
      <summary class="picker" aria-label={`Permission mode: ${visibleCode(current.name)}`} title={current.about}>
        {current.less && <Icon name="shield" />} {visibleCode(current.name)}
      </summary>
      <div class="mode-menu" role="group" aria-label="Permission mode" tabIndex={-1} ref={choices}>
        {next && wanted !== undefined ? (
          <>
            <p class="wrong">
              <b>{visibleCode(next.name)}.</b> {next.about} It holds until you change it.
            </p>
            <div class="buttons">
              <button type="button" class="quiet-button" onClick={() => want(undefined)}>
                Back
              </button>
              <Decide className="danger" meaning={`mode ${wanted}`} blocked={busy} onDecide={() => void set(wanted)}>
                Change to {visibleCode(next.name)}
              </Decide>
            </div>
          </>
        ) : (
          modes.map((id) => {
            const { name, about, less } = called(id);
            return (
              <Decide
                key={id}
                className={`mode ${less ? "less" : ""}`}
                meaning={id}
                current={id === current.id}
                blocked={busy || id === current.id}
                onDecide={() => (less ? want(id) : void set(id))}
              >
                <b>{visibleCode(name)}</b>
                <small>{about}</small>
              </Decide>
            );
          })
        )}
        <Late busy={busy} />
      </div>
    </details>
  );
}

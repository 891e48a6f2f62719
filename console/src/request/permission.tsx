/** A permission request, or a plan to approve: what would happen, the input to edit, and the ways to answer. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JsonValue, PermissionOption, PermissionRequest } from "turnwire-client";
import { modeOf } from "../model/modes.js";
import type { RequestRow } from "../model/rows.js";
import { Cuts, CutsContext } from "../parts/cuts.js";
import { Icon } from "../parts/icons.js";
import { useKeyboardKept } from "../parts/keyboard.js";
import { Sure } from "../parts/sure.js";
import { useLive, usePage } from "../state/context.js";
import { drafts } from "../state/own_drafts.js";
import { formatComments } from "../state/remarks.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { optionName } from "../text/words.js";
import { Decide } from "./decide.js";
import type { Docked } from "./docked.js";
import { useDraft } from "./draft.js";
import { parseInput, startEditing } from "./edit.js";
import { Late } from "./late.js";
import { Proposal, payloadOf, useSeen } from "./proposal.js";
import { Remember } from "./remember.js";

interface Draft {
  editing: boolean;
  text: string;
  message: string;
  mode: string;
}

const MODES = ["", "default", "acceptEdits", "bypassPermissions"];
/** What may hold beyond this one answer, as does an option of a kind that is not known here. */
const remembers = ({ kind }: PermissionOption) => kind !== "allow_once" && kind !== "reject_once";
const rejects = (option: PermissionOption) => option.kind.startsWith("reject");

/** What counts once; a refusal is the second at the latest, however much else is offered. */
function onceFirst(offered: readonly PermissionOption[]): PermissionOption[] {
  const [first, ...others] = offered.filter((option) => !remembers(option));
  if (!first) return [];
  const refusal = rejects(first) ? undefined : others.find(rejects);
  return refusal ? [first, refusal, ...others.filter((option) => option !== refusal)] : [first, ...others];
}

interface Props {
  row: RequestRow;
  request: PermissionRequest;
  plan: boolean;
  docked: Docked;
}

export function PermissionForm({ row, request, plan, docked }: Props) {
  const { hub } = usePage();
  const { id: session, remarks, drafted } = useLive();
  useSource(remarks.changed);
  const [draft, setDraft] = useDraft<Draft>(row, () => ({ editing: false, text: "", message: "", mode: "" }));
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const [busy, setBusy] = useState(false);
  const [arrived, arrive] = useState(false);
  const [wrong, setWrong] = useState("");
  // Once first, then no, then what is remembered: the keys count in the order in which the buttons stand.
  const always = request.permission_options.filter(remembers);
  const options = [...onceFirst(request.permission_options), ...always];
  // What is remembered is confirmed in a step of its own, which has no keys.
  const [remembering, remember] = useState(false);
  const [chosen, choose] = useState<PermissionOption | undefined>(undefined);
  const cuts = useMemo(() => new Cuts(), []);
  const field = useRef<HTMLTextAreaElement>(null);
  // Another content is another object: what a call tells is never changed in place.
  const { end, seen, hidden } = useSeen(cuts, draft.editing ? "edited" : (payloadOf(row, request) ?? request), field);
  const rules = useSeen(
    useMemo(() => new Cuts(), []),
    chosen?.option_id,
  );
  const mode = plan && draft.mode ? modeOf(draft.mode) : undefined;
  const [sure, beSure] = useState(false);
  const unsure = busy || (mode?.less === true && !sure);
  const blocked = unsure || !seen;
  const edited = startEditing(request);
  // What is allowed by who does not read it to its end.
  const unread = remembering ? chosen : options.find((option) => !rejects(option) && !remembers(option));
  const form = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  // Not in the form itself, where a key decides.
  useKeyboardKept(body, remembering);
  const began = useRef(false);

  // What is typed after “e” is the edit.
  useEffect(() => {
    if (draft.editing && began.current) field.current?.focus();
  }, [draft.editing]);

  // The rules stand above what is asked, of which the end may be in view.
  useEffect(() => {
    if (remembering) for (const one of [body.current, form.current]) one?.scrollTo(0, 0);
  }, [remembering]);

  function toggleEditing(editing: boolean): void {
    if (!edited) return;
    began.current = true;
    change({ editing, text: draft.text || edited.text });
  }

  async function answer(option: PermissionOption): Promise<void> {
    if (busy) return;
    let updated: Record<string, JsonValue> | undefined;
    if (draft.editing && !rejects(option)) {
      const parsed = parseInput(request, draft.text);
      if (typeof parsed === "string") return setWrong(parsed);
      updated = parsed;
    }
    setBusy(true);
    docked.answered();
    // What was said of the plan's lines is why it is sent back.
    const comments = plan && rejects(option) ? remarks.take() : [];
    const message = [draft.message, formatComments(comments)].filter(Boolean).join("\n\n");
    const reply = await hub.run({
      type: "permission.respond",
      session,
      pending_id: request.pending_id,
      option_id: option.option_id,
      ...(updated && { updated_input: updated }),
      ...(rejects(option) && message && { message }),
      ...(plan && !rejects(option) && draft.mode && { mode: draft.mode }),
    });
    // Until its event comes the request must not be answered again.
    if (reply !== undefined) {
      arrive(true);
      // An agent hears a reason with a refusal alone: with an approval the note follows as a prompt.
      if (rejects(option) || !message) return;
      if ((await hub.run({ type: "prompt", session, text: message, priority: "next" })) !== undefined) return;
      // The dialog is gone by then: what could not be sent waits in the prompt.
      if (drafts.of(session) === "") drafts.keep(session, message);
      return drafted.emit();
    }
    setBusy(false);
    if (comments.length > 0) remarks.set([...comments, ...remarks.all]);
  }

  /** A key stands for a button, with all that keeps the button from deciding. */
  function press(option: PermissionOption): void {
    form.current?.querySelector<HTMLButtonElement>(`[data-option="${CSS.escape(option.option_id)}"]`)?.click();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const typing =
      event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement;
    if (typing && !event.repeat && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const reject = event.target instanceof HTMLInputElement;
      const option = options.find((candidate) => rejects(candidate) === reject);
      event.preventDefault();
      if (option) press(option);
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !docked.mayAnswer(event)) return;
    const option = options[Number(event.key) - 1];
    if (option && !remembers(option) && !remembering) press(option);
    else if (event.key === "e" && edited) toggleEditing(true);
    else return;
    event.preventDefault();
  }

  const then = mode && `, then: ${mode.name}`;
  const button = (option: PermissionOption, index: number) => (
    <Decide
      key={option.option_id}
      option={option.option_id}
      meaning={`${request.pending_id} ${option.option_id} ${draft.editing ? "edited" : "as asked"} ${seen} ${draft.mode}`}
      blocked={rejects(option) ? busy : blocked}
      className={option.kind === "allow_once" ? "primary" : rejects(option) ? "danger" : "secondary"}
      onDecide={() => void answer(option)}
    >
      <span class="name" title={option.effect && visibleCode(option.effect)}>
        {visibleCode(optionName(option))}
        {!rejects(option) && then}
      </span>{" "}
      {index < 9 && <kbd>{index + 1}</kbd>}
    </Decide>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: digits choose what the buttons in it offer
    <div class="request-form" tabIndex={-1} onKeyDown={onKeyDown} ref={form}>
      <div class="request-body" tabIndex={0} role="group" aria-label={plan ? "Plan" : "What would happen"} ref={body}>
        {request.reason && <p>{visibleCode(request.reason)}</p>}
        {request.agent_id && <p class="quiet">Asked by subagent {visibleCode(request.agent_id)}</p>}
        {remembering && <Remember options={always} chosen={chosen} onChoose={choose} end={rules.end} />}
        {draft.editing && edited ? (
          <label class="edit">
            <span>{edited.label}</span>
            <textarea
              ref={field}
              spellcheck={false}
              value={draft.text}
              onInput={(event) => change({ text: event.currentTarget.value })}
              rows={Math.min(14, draft.text.split("\n").length + 1)}
              aria-invalid={wrong !== ""}
            />
            {wrong && (
              <span class="wrong" role="alert">
                {wrong}
              </span>
            )}
          </label>
        ) : (
          <CutsContext.Provider value={cuts}>
            <Proposal row={row} request={request} />
          </CutsContext.Provider>
        )}
        <div ref={end} class="end" />
      </div>
      <div class="request-foot">
        {plan && (
          <label class="inline">
            <span>Permissions while it is carried out:</span>
            <select
              value={draft.mode}
              onChange={(event) => {
                beSure(false);
                change({ mode: event.currentTarget.value });
              }}
            >
              {MODES.map((one) => (
                <option key={one} value={one}>
                  {one === "" ? "As before planning" : modeOf(one).name}
                </option>
              ))}
            </select>
          </label>
        )}
        {mode?.less && <Sure about={mode.about} sure={sure} onSure={beSure} />}
        {hidden && !busy && (
          <p class="unseen" role="status">
            {cuts.count > 0 ? "Not all of this is shown." : "You have not seen the end of this."}{" "}
            <button
              type="button"
              class="more"
              onClick={() => {
                field.current?.scrollTo(0, field.current.scrollHeight);
                end.current?.scrollIntoView({ block: "end" });
                // Once the end is seen this button goes.
                body.current?.focus({ preventScroll: true });
              }}
            >
              Go to the end
            </button>
            {unread && !rejects(unread) && (
              <Decide
                className="more"
                meaning={`${request.pending_id} ${unread.option_id} unseen ${draft.editing ? "edited" : "as asked"} ${draft.mode}`}
                blocked={unsure || (remembering && !rules.seen)}
                onDecide={() => void answer(unread)}
              >
                Allow unseen{remembering && ", and remember it"}
                {then}
              </Decide>
            )}
          </p>
        )}
        {chosen && rules.hidden && (
          <p class="unseen" role="status">
            You have not seen all that is remembered.{" "}
            <button type="button" class="more" onClick={() => rules.end.current?.scrollIntoView({ block: "end" })}>
              Go to the rules
            </button>
          </p>
        )}
        {!remembering && (
          <input
            class="message"
            type="text"
            dir="auto"
            aria-label={plan ? "What should be different?" : "A note for the agent"}
            placeholder={plan ? "What should be different?" : "A note for the agent, with either answer"}
            value={draft.message}
            onInput={(event) => change({ message: event.currentTarget.value })}
          />
        )}
        {plan && remarks.all.length > 0 && <p class="quiet">{plural(remarks.all.length, "comment")} will go with a denial.</p>}
        {remembering ? (
          <div class="buttons confirm" key="confirm">
            <button
              type="button"
              class="quiet-button"
              onClick={() => {
                choose(undefined);
                remember(false);
              }}
            >
              Back
            </button>
            {chosen && (
              <Decide
                option={chosen.option_id}
                meaning={`${request.pending_id} ${chosen.option_id}`}
                blocked={rejects(chosen) ? busy : blocked || !rules.seen}
                className={rejects(chosen) ? "danger" : "primary"}
                onDecide={() => void answer(chosen)}
              >
                {rejects(chosen) ? "Deny, and remember it" : "Allow, and remember it"}
              </Decide>
            )}
          </div>
        ) : (
          <div class="buttons" key="choose">
            {options.slice(0, options.length - always.length).map(button)}
            {edited && (
              <button type="button" class="quiet-button" onClick={() => toggleEditing(!draft.editing)}>
                {draft.editing ? "Keep the original" : "Edit input"} {!draft.editing && <kbd>e</kbd>}
              </button>
            )}
            {always.length > 0 && (
              <button
                type="button"
                class="quiet-button"
                onClick={() => {
                  choose(undefined);
                  remember(true);
                }}
              >
                Always … <Icon name="chevron" />
              </button>
            )}
          </div>
        )}
        <Late busy={busy && !arrived} />
      </div>
    </div>
  );
}

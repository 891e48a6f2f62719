/** Leave to call a tool, or to carry out a plan: what would happen, the input to edit, and the ways to answer. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { JsonValue, PermissionOption, PermissionRequest } from "turnwire-client";
import type { RequestRow } from "../model/rows.js";
import { Icon } from "../parts/icons.js";
import { Code, Json } from "../parts/text.js";
import { useLive, usePage } from "../state/context.js";
import { told } from "../state/remarks.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { ToolBody } from "../tools/bodies.js";
import { Commentable } from "../tools/lines.js";
import type { Docked } from "./docked.js";
import { parseInput, startEditing } from "./edit.js";

interface Draft {
  editing: boolean;
  text: string;
  message: string;
  destination: string;
  mode: string;
}

const DESTINATIONS = {
  session: "for this session",
  localSettings: "in this project, for me",
  projectSettings: "in this project, for all",
  userSettings: "everywhere, for me",
};
const MODES = { "": "as before planning", default: "ask for each tool", acceptEdits: "accept edits", bypassPermissions: "ask nothing" };
/** Characters above which a name may be cut where it stands. */
const LONG_NAME = 60;
const remembers = (option: PermissionOption) => option.kind.endsWith("_always");
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
  const { id: session, remarks } = useLive();
  useSource(remarks.changed);
  const [draft, setState] = useState<Draft>(
    (row.view.draft as Draft | undefined) ?? { editing: false, text: "", message: "", destination: "session", mode: "" },
  );
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  // Once first, then no, then what is remembered: the keys count in the order in which the buttons stand.
  const always = request.permission_options.filter(remembers);
  const options = [...onceFirst(request.permission_options), ...always];
  const open = options.some(
    (option) => option.kind === "allow_always" && option.destination === undefined && !option.option_id.includes(":"),
  );
  // What is remembered must be read before it is chosen, so it is asked for first; until then no key stands for it.
  const [remembering, remember] = useState(false);
  const edited = startEditing(request);
  const field = useRef<HTMLTextAreaElement>(null);
  const began = useRef(false);

  // What is typed after “e” is the edit.
  useEffect(() => {
    if (draft.editing && began.current) field.current?.focus();
  }, [draft.editing]);

  function change(part: Partial<Draft>): void {
    const next = { ...draft, ...part };
    row.view.draft = next;
    setState(next);
  }

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
    const message = [draft.message, told(comments)].filter(Boolean).join("\n\n");
    const reply = await hub.run({
      type: "permission.respond",
      session,
      pending_id: request.pending_id,
      option_id: option.option_id,
      ...(updated && { updated_input: updated }),
      ...(rejects(option) && message && { message }),
      ...(open && option.kind === "allow_always" && { destination: draft.destination }),
      ...(plan && !rejects(option) && draft.mode && { mode: draft.mode }),
    });
    // Until its event comes the request must not be answered again.
    if (reply !== undefined) return;
    setBusy(false);
    if (comments.length > 0) remarks.set([...comments, ...remarks.all]);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const typing =
      event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement;
    if (typing && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const reject = event.target instanceof HTMLInputElement;
      const option = options.find((candidate) => rejects(candidate) === reject);
      event.preventDefault();
      if (option) void answer(option);
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !docked.mayAnswer(event)) return;
    const option = options[Number(event.key) - 1];
    if (option && (remembering || !remembers(option))) void answer(option);
    else if (event.key === "e" && edited) toggleEditing(true);
    else return;
    event.preventDefault();
  }

  const button = (option: PermissionOption, index: number) => (
    <button
      key={option.option_id}
      type="button"
      disabled={busy || !docked.armed}
      data-option={option.option_id}
      class={option.kind === "allow_once" ? "primary" : rejects(option) ? "danger" : "secondary"}
      onClick={() => void answer(option)}
    >
      <span class="name" title={option.name.length > LONG_NAME ? visibleCode(option.name) : undefined}>
        {visibleCode(option.name)}
      </span>{" "}
      {index < 9 && <kbd>{index + 1}</kbd>}
    </button>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: digits choose what the buttons in it offer
    <div class={`request-form ${docked.armed ? "" : "arming"}`} tabIndex={-1} onKeyDown={onKeyDown}>
      <div class="request-body" tabIndex={0} role="group" aria-label={plan ? "Plan" : "What would happen"}>
        {request.reason && <p>{visibleCode(request.reason)}</p>}
        {request.agent_id && <p class="quiet">Asked by subagent {visibleCode(request.agent_id)}</p>}
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
          <Proposal row={row} request={request} />
        )}
      </div>
      <div class="request-foot">
        {plan && (
          <label class="inline">
            <span>Permissions while it is carried out:</span>
            <select value={draft.mode} onChange={(event) => change({ mode: event.currentTarget.value })}>
              {Object.entries(MODES).map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        )}
        <input
          class="message"
          type="text"
          dir="auto"
          aria-label={plan ? "What should be different?" : "What to tell the agent when you deny"}
          placeholder={plan ? "What should be different?" : "What to tell the agent when you deny"}
          value={draft.message}
          onInput={(event) => change({ message: event.currentTarget.value })}
        />
        {plan && remarks.all.length > 0 && <p class="quiet">{plural(remarks.all.length, "comment")} will go with a rejection.</p>}
        <div class="buttons">
          {options.slice(0, options.length - always.length).map(button)}
          {edited && (
            <button type="button" class="quiet-button" onClick={() => toggleEditing(!draft.editing)}>
              {draft.editing ? "Keep the original" : "Edit input"} {!draft.editing && <kbd>e</kbd>}
            </button>
          )}
          {always.length > 0 && (
            <button type="button" class="quiet-button" aria-expanded={remembering} onClick={() => remember(!remembering)}>
              Always … <Icon name="chevron" />
            </button>
          )}
        </div>
        {remembering && (
          <div class="buttons remembered">
            {open && (
              <label class="inline">
                <span>“Always” is remembered</span>
                <select value={draft.destination} onChange={(event) => change({ destination: event.currentTarget.value })}>
                  {Object.entries(DESTINATIONS).map(([value, text]) => (
                    <option key={value} value={value}>
                      {text}
                    </option>
                  ))}
                </select>
              </label>
            )}
            {always.map((option, index) => button(option, options.length - always.length + index))}
          </div>
        )}
      </div>
    </div>
  );
}

function Proposal({ row, request }: { row: RequestRow; request: PermissionRequest }) {
  const payload = request.normalized ?? row.tool?.payload;
  if (payload?.kind === "show_plan")
    return (
      <div>
        <Commentable text={payload.show_plan.plan ?? row.tool?.plan?.plan_content ?? ""} source="Your plan" />
      </div>
    );
  if (payload?.kind === "shell_exec" && payload.shell_exec.command) {
    return (
      <>
        <Code text={payload.shell_exec.command} language="bash" label="Command to run" />
        {payload.shell_exec.description && <p class="quiet">{visibleCode(payload.shell_exec.description)}</p>}
      </>
    );
  }
  if (payload && payload.kind !== "read_file" && payload.kind !== "code_search") return <ToolBody payload={payload} />;
  const input = request.tool_input ?? request.action_details;
  return input ? <Json value={input} label="Input of the tool" /> : null;
}

/** The dialog for a new session: what to do, which agent, where, and what else it is started with. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CommandOf } from "turnwire-client";
import { AttachedFiles } from "../composer/attached_files.js";
import { type Attached, attach } from "../composer/attachments.js";
import { AUTONOMOUS, modeOf } from "../model/modes.js";
import { Icon } from "../parts/icons.js";
import { Modal } from "../parts/modal.js";
import { Sure } from "../parts/sure.js";
import { members, useAnswer } from "../state/ask.js";
import type { Attempt } from "../state/attempt.js";
import { usePage } from "../state/context.js";
import { modelsOf } from "../state/models.js";
import { drafts } from "../state/own_drafts.js";
import { visibleCode } from "../text/visible.js";
import { ABOUT_MODE, ABOUT_POLICY, policyName } from "../text/words.js";
import { FolderPicker } from "./folder_picker.js";
import { marked, type Wrong, WrongAt, wrongOf } from "./wrong.js";

/** Fields of the command that the dialog has. */
const FIELDS: ReadonlySet<string | undefined> = new Set(["workspace", "worktree", "agent", "worker", "model", "permission_mode", "policy"]);

const POLICIES = ["supervised", "autonomous", "plan"];

/** The draft of a first prompt is kept as that of a session is; no session has such a name. */
const DRAFT = " new session";

export function NewSession({ onClose }: { onClose: () => void }) {
  const { hub } = usePage();
  const agents = hub.welcome?.agents ?? [];
  const workers = hub.welcome?.workers ?? [];
  const labels = [...new Set(workers.flatMap((one) => one.labels))].sort();
  const [values, setValues] = useState({ workspace: "", worker: "", agent: "", model: "", policy: "", permission_mode: "" });
  const [prompt, setPrompt] = useState(drafts.of(DRAFT));
  const [attached, setAttached] = useState<readonly Attached[]>([]);
  const chosen = agents.find(({ agent }) => agent === values.agent) ?? agents[0];
  const models = modelsOf(hub.sessions, chosen?.agent);
  const attempt = useRef<Attempt>({});
  const sending = useRef(false);
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState<Wrong | undefined>(undefined);
  const form = useRef<HTMLFormElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const first = useRef<HTMLTextAreaElement>(null);
  const mode = values.permission_mode === "" ? undefined : modeOf(values.permission_mode);
  const [sure, beSure] = useState(false);
  // Refused where the setting is off.
  const apart = members(useAnswer({ type: "worktree.list" }).answer).worktrees !== undefined;
  const [worktree, setWorktree] = useState<{ branch: string; base: string } | undefined>(undefined);
  useLayoutEffect(() => first.current?.focus(), []);
  // To the field that is wrong, also where it is folded away.
  useLayoutEffect(() => {
    const fold = form.current?.querySelector(".wrong[id]")?.closest("details");
    if (fold) fold.open = true;
    form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [wrong]);
  const set = (part: Partial<typeof values>) => {
    attempt.current = {};
    setWrong(undefined);
    // Consent is to what stood there when it was given.
    if ("permission_mode" in part || "policy" in part) beSure(false);
    setValues({ ...values, ...part });
  };

  function write(text: string): void {
    attempt.current = {};
    drafts.keep(DRAFT, text);
    setPrompt(text);
  }

  async function take(files: readonly File[]): Promise<void> {
    for (const one of files) {
      try {
        const made = await attach(one);
        setAttached((before) => [...before, made]);
      } catch (error) {
        setWrong({ field: undefined, text: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  async function create(): Promise<void> {
    if (sending.current) return;
    sending.current = true;
    setWrong(undefined);
    setBusy(true);
    await begin();
    sending.current = false;
    setBusy(false);
  }

  async function begin(): Promise<void> {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    const attachments = attached.map(({ name, media_type, base64 }) => ({ name, media_type, base64 }));
    // Images go with a prompt of their own: a session begins with words alone.
    const words = prompt.trim() !== "" && attachments.length === 0 ? { prompt } : {};
    const own = worktree && {
      worktree: {
        ...(worktree.branch.trim() && { branch: worktree.branch.trim() }),
        ...(worktree.base.trim() && { base: worktree.base.trim() }),
      },
    };
    const command = { type: "session.create", ...given, ...words, ...own } as CommandOf<"session.create"> & { type: "session.create" };
    const fail = (error: unknown) => {
      const found = wrongOf(error);
      setWrong(FIELDS.has(found.field) ? found : { ...found, field: undefined });
    };
    const reply = await hub.run(command, attempt.current, fail);
    if (reply === undefined) return;
    const { session } = members(reply);
    drafts.keep(DRAFT, "");
    onClose();
    if (typeof session !== "string") return;
    hub.select(session);
    if (attachments.length === 0) return;
    // What could not be sent waits in the session's own field.
    if ((await hub.run({ type: "prompt", session, text: prompt, attachments })) === undefined) drafts.keep(session, prompt);
  }

  return (
    <Modal label="New session" onClose={onClose} byBackdrop={false}>
      <form
        class="new-session"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void take([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <h2>New session</h2>
        <label>
          First prompt
          <textarea
            ref={first}
            rows={4}
            dir="auto"
            placeholder="What should the agent do? You can also say it later."
            value={prompt}
            onInput={(event) => write(event.currentTarget.value)}
            onPaste={(event) => {
              const files = [...(event.clipboardData?.files ?? [])];
              if (files.length === 0) return;
              event.preventDefault();
              void take(files);
            }}
          />
        </label>
        <AttachedFiles files={attached} onRemove={(one) => setAttached(attached.filter((other) => other !== one))} />
        {chosen?.capabilities.includes("images") && (
          <div>
            <input
              ref={file}
              type="file"
              multiple
              hidden
              onChange={(event) => {
                // A copy: emptying the field empties its list.
                void take([...(event.currentTarget.files ?? [])]);
                event.currentTarget.value = "";
              }}
            />
            <button type="button" class="quiet-button" onClick={() => file.current?.click()}>
              <Icon name="image" /> Attach images
            </button>
          </div>
        )}
        {agents.length > 1 && (
          <label>
            Agent
            <select
              value={values.agent}
              {...marked(wrong, "agent")}
              onChange={(event) => set({ agent: event.currentTarget.value, permission_mode: "", model: "" })}
            >
              <option value="">{visibleCode(agents[0]?.title ?? "As configured")}, as configured</option>
              {agents.slice(1).map(({ agent, title }) => (
                <option key={agent} value={agent}>
                  {visibleCode(title)}
                </option>
              ))}
            </select>
          </label>
        )}
        <WrongAt wrong={wrong} field="agent" />
        {workers.length > 0 && (
          <label>
            Machine
            <select value={values.worker} {...marked(wrong, "worker")} onChange={(event) => set({ worker: event.currentTarget.value })}>
              <option value="">The one with most room</option>
              {workers.map(({ worker }) => (
                <option key={worker} value={worker}>
                  {visibleCode(worker)}
                </option>
              ))}
              {labels.length > 0 && (
                <optgroup label="Any with the label">
                  {labels.map((label) => (
                    <option key={label} value={label}>
                      {visibleCode(label)}
                    </option>
                  ))}
                </optgroup>
              )}
            </select>
          </label>
        )}
        <WrongAt wrong={wrong} field="worker" />
        <FolderPicker value={values.workspace} onPick={(workspace) => set({ workspace })} browses={workers.length === 0} wrong={wrong} />
        {apart && (
          <fieldset class="apart">
            <label class="inline">
              <input
                type="checkbox"
                checked={worktree !== undefined}
                {...marked(wrong, "worktree")}
                onChange={(event) => {
                  attempt.current = {};
                  setWorktree(event.currentTarget.checked ? { branch: "", base: "" } : undefined);
                }}
              />
              <span>In a new git worktree, apart from the folder’s own files</span>
            </label>
            {worktree && (
              <>
                <label>
                  Branch
                  <input
                    type="text"
                    spellcheck={false}
                    placeholder="A name of turnwire’s choice"
                    value={worktree.branch}
                    onInput={(event) => setWorktree({ ...worktree, branch: event.currentTarget.value })}
                  />
                </label>
                <label>
                  Base
                  <input
                    type="text"
                    spellcheck={false}
                    placeholder="What the folder has checked out"
                    value={worktree.base}
                    onInput={(event) => setWorktree({ ...worktree, base: event.currentTarget.value })}
                  />
                </label>
              </>
            )}
            <WrongAt wrong={wrong} field="worktree" />
          </fieldset>
        )}
        <details>
          <summary>Model, mode, policy</summary>
          <label>
            Model
            <input
              type="text"
              list="known-models"
              placeholder="As configured"
              value={values.model}
              {...marked(wrong, "model")}
              onInput={(event) => set({ model: event.currentTarget.value })}
            />
            <datalist id="known-models">
              {models.map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </datalist>
          </label>
          <WrongAt wrong={wrong} field="model" />
          {chosen && chosen.permission_modes.length > 0 && (
            <label>
              Permission mode
              <select
                value={values.permission_mode}
                {...marked(wrong, "permission_mode")}
                onChange={(event) => set({ permission_mode: event.currentTarget.value })}
              >
                <option value="">As configured</option>
                {chosen.permission_modes.map((one) => (
                  <option key={one} value={one}>
                    {visibleCode(modeOf(one).name)}
                  </option>
                ))}
              </select>
              <small>{mode ? mode.about : ABOUT_MODE}</small>
            </label>
          )}
          <WrongAt wrong={wrong} field="permission_mode" />
          <label>
            Policy
            <select value={values.policy} {...marked(wrong, "policy")} onChange={(event) => set({ policy: event.currentTarget.value })}>
              <option value="">As configured</option>
              {POLICIES.map((policy) => (
                <option key={policy} value={policy}>
                  {policyName(policy)}
                </option>
              ))}
            </select>
            <small>{ABOUT_POLICY}</small>
          </label>
          <WrongAt wrong={wrong} field="policy" />
        </details>
        {(mode?.less || values.policy === "autonomous") && (
          <Sure
            about={[mode?.less && mode.about, values.policy === "autonomous" && AUTONOMOUS.about].filter(Boolean).join(" ")}
            sure={sure}
            onSure={beSure}
          />
        )}
        <WrongAt wrong={wrong} field={undefined} />
        <div class="buttons">
          <button type="submit" class="primary" disabled={busy}>
            {busy ? "Starting …" : "Start"}
          </button>
          <button type="button" class="quiet-button" onClick={(event) => event.currentTarget.closest("dialog")?.close()}>
            Cancel
          </button>
        </div>
      </form>
    </Modal>
  );
}

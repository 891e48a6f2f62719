/** The form for a new session: which agent, where, and what it begins with. */
import { useRef, useState } from "preact/hooks";
import type { CommandOf } from "turnwire-client";
import { recentFolders } from "../model/inbox.js";
import { AUTONOMOUS, modeOf } from "../model/modes.js";
import { Sure } from "../parts/sure.js";
import { usePage } from "../state/context.js";
import type { Attempt } from "../state/hub.js";
import { visibleCode } from "../text/visible.js";

const POLICIES = { "": "As configured", supervised: "Ask me", autonomous: AUTONOMOUS.name, plan: "Plan only" } as const;

export function NewSession({ onDone }: { onDone: () => void }) {
  const { hub } = usePage();
  const agents = hub.welcome?.agents ?? [];
  const workers = hub.welcome?.workers ?? [];
  const labels = [...new Set(workers.flatMap((one) => one.labels))].sort();
  const folders = recentFolders(hub.sessions);
  const [values, setValues] = useState({ prompt: "", workspace: "", worker: "", agent: "", model: "", policy: "", permission_mode: "" });
  const chosen = agents.find(({ agent }) => agent === values.agent) ?? agents[0];
  const attempt = useRef<Attempt>({});
  const [busy, setBusy] = useState(false);
  const mode = values.permission_mode === "" ? undefined : modeOf(values.permission_mode);
  const [sure, beSure] = useState(false);
  const set = (part: Partial<typeof values>) => {
    attempt.current = {};
    // Consent is to what stood there when it was given.
    if ("permission_mode" in part || "policy" in part) beSure(false);
    setValues({ ...values, ...part });
  };

  async function create(): Promise<void> {
    setBusy(true);
    await begin();
    setBusy(false);
  }

  async function begin(): Promise<void> {
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    const command = { type: "session.create", ...given } as CommandOf<"session.create"> & { type: "session.create" };
    const reply = await hub.run(command, attempt.current);
    if (reply === undefined) return;
    if (typeof reply === "object" && reply !== null && !Array.isArray(reply) && typeof reply.session === "string")
      hub.select(reply.session);
    onDone();
  }

  return (
    <form
      class="new-session"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      {agents.length > 1 && (
        <label>
          Agent
          <select value={values.agent} onChange={(event) => set({ agent: event.currentTarget.value, permission_mode: "", model: "" })}>
            <option value="">As configured</option>
            {agents.map(({ agent, title }) => (
              <option key={agent} value={agent}>
                {visibleCode(title)}
              </option>
            ))}
          </select>
        </label>
      )}
      {workers.length > 0 && (
        <label>
          Machine
          <select value={values.worker} onChange={(event) => set({ worker: event.currentTarget.value })}>
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
      <label>
        Folder
        <input
          type="text"
          list="recent-folders"
          placeholder="Where turnwire was started"
          value={values.workspace}
          onInput={(event) => set({ workspace: event.currentTarget.value })}
        />
        <datalist id="recent-folders">
          {folders.slice(0, 30).map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
      </label>
      <label>
        First prompt
        <textarea rows={3} dir="auto" value={values.prompt} onInput={(event) => set({ prompt: event.currentTarget.value })} />
      </label>
      <details>
        <summary>Model, mode, policy</summary>
        <label>
          Model
          <input
            type="text"
            placeholder="As configured"
            value={values.model}
            onInput={(event) => set({ model: event.currentTarget.value })}
          />
        </label>
        {chosen && chosen.permission_modes.length > 0 && (
          <label>
            Permission mode
            <select value={values.permission_mode} onChange={(event) => set({ permission_mode: event.currentTarget.value })}>
              <option value="">As configured</option>
              {chosen.permission_modes.map((mode) => (
                <option key={mode} value={mode}>
                  {visibleCode(mode)}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Policy
          <select value={values.policy} onChange={(event) => set({ policy: event.currentTarget.value })}>
            {Object.entries(POLICIES).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </details>
      {(mode?.less || values.policy === "autonomous") && (
        <Sure
          about={[mode?.less && mode.about, values.policy === "autonomous" && AUTONOMOUS.about].filter(Boolean).join(" ")}
          sure={sure}
          onSure={beSure}
        />
      )}
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          {busy ? "Starting …" : "Start"}
        </button>
        <button type="button" class="quiet-button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}

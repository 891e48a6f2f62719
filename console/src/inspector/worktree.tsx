/** The git worktree of a session: how it stands, and what can become of its changes. Each step says what it will do before it does it. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { CommandOf, JsonValue } from "turnwire-client";
import { Copy } from "../parts/copy.js";
import { useKeyboardKept } from "../parts/keyboard.js";
import { Fold } from "../parts/parts.js";
import { Terminal } from "../parts/text.js";
import { Decide } from "../request/decide.js";
import { members, useAnswer } from "../state/ask.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";

type Action = CommandOf<"worktree.act">["action"];

const ACTIONS: Record<Action, { name: string; confirm: string; danger?: boolean }> = {
  commit: { name: "Commit …", confirm: "Commit" },
  rebase: { name: "Rebase …", confirm: "Rebase" },
  merge: { name: "Merge …", confirm: "Merge" },
  push: { name: "Push …", confirm: "Push" },
  pull_request: { name: "Pull request …", confirm: "" },
  discard: { name: "Discard …", confirm: "Discard the worktree", danger: true },
};

export const texts = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
const text = (value: JsonValue | undefined) => (typeof value === "string" ? value : undefined);

function Sentences({ of, className = "" }: { of: readonly string[]; className?: string }) {
  return of.length === 0 ? null : (
    <ul class={`sentences ${className}`}>
      {of.map((one) => (
        <li key={one}>{visibleCode(one)}</li>
      ))}
    </ul>
  );
}

/** Says what an action would do, and does it once that was read. */
function Step({ action, onDone }: { action: Action; onDone: (result: JsonValue | undefined) => void }) {
  const { hub } = usePage();
  const live = useLive();
  const [message, setMessage] = useState("");
  const [preview, show] = useState<JsonValue | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const says = action === "commit" || action === "pull_request";
  const command = { type: "worktree.act" as const, session: live.id, action, ...(says && message.trim() && { message: message.trim() }) };

  async function look(): Promise<void> {
    setBusy(true);
    show(await hub.run(command));
    setBusy(false);
  }

  // A commit is looked at once it has its message.
  useEffect(() => {
    if (action !== "commit") void look();
  }, [action]);

  async function act(plan: string): Promise<void> {
    setBusy(true);
    const result = await hub.run({ ...command, plan });
    setBusy(false);
    // Refused: it has changed since, and is looked at anew.
    if (result === undefined) return void look();
    onDone(result);
  }

  // What it will do, and the button below it, are to be seen.
  const end = useRef<HTMLElement>(null);
  useEffect(() => {
    if (preview !== undefined) end.current?.scrollIntoView({ block: "end" });
  }, [preview]);

  const { plan, does, commands, warnings, refusal } = members(preview);
  const lines = texts(commands).join("\n");
  const { confirm, danger } = ACTIONS[action];
  return (
    <section class="step" ref={end} aria-label={ACTIONS[action].name.replace(" …", "")}>
      {says && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void look();
          }}
        >
          <label>
            {action === "commit" ? "Message of the commit" : "Title"}
            <textarea
              rows={action === "commit" ? 3 : 1}
              dir="auto"
              value={message}
              onInput={(event) => {
                setMessage(event.currentTarget.value);
                // What was looked at was another one.
                show(undefined);
              }}
            />
          </label>
          <button type="submit" class="secondary" disabled={busy || (action === "commit" && message.trim() === "")}>
            Show what it will do
          </button>
        </form>
      )}
      {preview !== undefined && text(refusal) !== undefined && (
        <p class="wrong" role="alert">
          {visibleCode(text(refusal) ?? "")}
        </p>
      )}
      {preview !== undefined && (
        <>
          <Sentences of={texts(does)} />
          <Sentences of={texts(warnings)} className="wrong" />
          {lines !== "" && <Terminal text={lines} label="Commands" />}
          {text(refusal) === undefined && text(plan) !== undefined && confirm !== "" && (
            <Decide
              className={danger ? "danger" : "primary"}
              meaning={`${action} ${text(plan)}`}
              blocked={busy}
              onDecide={() => void act(text(plan) ?? "")}
            >
              {confirm}
            </Decide>
          )}
        </>
      )}
    </section>
  );
}

export function Worktree() {
  const { hub } = usePage();
  const live = useLive();
  useSource(hub.changed, live.changed);
  const { answer, error, again } = useAnswer({ type: "worktree.status", session: live.id });
  const { turns, running } = live.conversation;
  const [action, choose] = useState<Action | undefined>(undefined);
  const [result, show] = useState<JsonValue | undefined>(undefined);
  const [open, setOpen] = useState(false);
  const part = useRef<HTMLDivElement>(null);
  useKeyboardKept(part, action);
  // A turn may have changed anything.
  useEffect(() => {
    if (answer !== undefined && !running) again();
  }, [turns.length, running]);
  if (error !== undefined)
    return (
      <p class="wrong" role="alert">
        {visibleCode(error)}
      </p>
    );
  if (answer === undefined) return <p class="quiet">Asking git …</p>;
  const { path, repository, branch, base, ahead, behind, uncommitted, conflicts, remote, pushed } = members(answer);
  const changed = texts(uncommitted);
  const clash = texts(conflicts);
  const commits = (value: JsonValue | undefined) => plural(typeof value === "number" ? value : 0, "commit");
  const facts: Array<[string, string | undefined]> = [
    ["Folder", text(path)],
    ["Repository", text(repository)],
    ["Branch", text(branch)],
    ["Base", text(base) ?? "a commit, no branch"],
    ["Ahead", `${commits(ahead)} that the base does not have`],
    ["Behind", `${commits(behind)} of the base ${behind === 1 ? "is" : "are"} missing`],
    [
      "Pushed",
      text(remote) === undefined ? "there is no remote" : pushed === true ? `all, to ${text(remote)}` : `not all, to ${text(remote)}`,
    ],
  ];
  const done = members(result);
  return (
    <div class="worktree" tabIndex={-1} ref={part}>
      <dl class="session-facts">
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  {visibleCode(value)} {name === "Folder" && <Copy text={value} what="the path" />}
                </dd>
              </div>
            ),
        )}
      </dl>
      {changed.length > 0 && (
        <Fold
          open={open}
          onToggle={() => setOpen(!open)}
          head={<span class="subject">{plural(changed.length, "file")} not committed</span>}
        >
          <ul class="files">
            {changed.map((one) => (
              <li key={one}>{visibleCode(one)}</li>
            ))}
          </ul>
        </Fold>
      )}
      {clash.length > 0 && <p class="wrong">A merge cannot join {clash.map(visibleCode).join(", ")}.</p>}
      {result !== undefined && (
        <div role="status" class="step">
          <Sentences of={texts(done.done)} />
          {text(done.backup) !== undefined && <p class="quiet">The state before is kept as {visibleCode(text(done.backup) ?? "")}.</p>}
          {text(done.output) && <Terminal text={text(done.output) ?? ""} label="What git said" />}
        </div>
      )}
      {hub.mayControl && (
        <div class="buttons">
          {(Object.keys(ACTIONS) as Action[]).map((one) => (
            <button
              key={one}
              type="button"
              class="secondary"
              aria-pressed={one === action}
              onClick={() => {
                show(undefined);
                choose(one === action ? undefined : one);
              }}
            >
              {ACTIONS[one].name}
            </button>
          ))}
          <button type="button" class="more" onClick={again}>
            Look again
          </button>
        </div>
      )}
      {action !== undefined && (
        <Step
          key={action}
          action={action}
          onDone={(next) => {
            show(next);
            choose(undefined);
            again();
          }}
        />
      )}
    </div>
  );
}

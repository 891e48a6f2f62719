/** The worktrees that turnwire made on this machine: what is in them, and the removal of those that nobody uses. */
import { Decide } from "../request/decide.js";
import { useResult } from "../state/ask.js";
import { usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";

/** Ignored files that are named. */
const NAMED = 8;

export function Worktrees() {
  const { hub } = usePage();
  useSource(hub.changed);
  const { answer, error, again } = useResult({ type: "worktree.list" });
  // Most have the setting off: nothing is said of what is not there.
  if (error !== undefined || answer === undefined) return null;
  const found = answer.worktrees;
  if (found.length === 0) return null;

  async function remove(path: string): Promise<void> {
    await hub.run({ type: "worktree.remove", path });
    again();
  }

  return (
    <section aria-label="Worktrees">
      <h2>Worktrees</h2>
      <ul>
        {found.map(({ path, branch, sessions, unsaved, ignored, removable }) => (
          <li key={path} class="kept">
            <div>
              <b class="title">{visibleCode(branch ?? "no branch")}</b>{" "}
              <span class="quiet">
                {sessions.length > 0 ? plural(sessions.length, "session") : "no session"} · {visibleCode(path)}
              </span>
              {unsaved.map((one) => (
                <p key={one} class="wrong">
                  {visibleCode(one)}
                </p>
              ))}
              {removable && ignored.length > 0 && (
                <p class="quiet">
                  Git ignores these, and they go with it: {visibleCode(ignored.slice(0, NAMED).join(", "))}
                  {ignored.length > NAMED && ` and ${ignored.length - NAMED} more`}
                </p>
              )}
            </div>
            {removable && (
              <div class="buttons">
                <Decide className="danger" meaning={`remove ${path}`} onDecide={() => void remove(path)}>
                  Remove
                </Decide>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The worktrees that turnwire made on this machine: what is in them, and the removal of those that nobody uses. */
import { useState } from "preact/hooks";
import { Decide } from "../request/decide.js";
import { members, useResult } from "../state/ask.js";
import { usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";

export function Worktrees() {
  const { hub } = usePage();
  useSource(hub.changed);
  const { answer, error, again } = useResult({ type: "worktree.list" });
  const [kept, show] = useState<readonly string[]>([]);
  // Most have the setting off: nothing is said of what is not there.
  if (error !== undefined || answer === undefined) return null;
  const found = answer.worktrees;
  if (found.length === 0 && kept.length === 0) return null;

  async function remove(path: string): Promise<void> {
    const { backup, left } = members(await hub.run({ type: "worktree.remove", path }));
    const said = [typeof backup === "string" ? `Files that git ignored in ${path} are kept in ${backup}` : undefined, left];
    show((before) => [...before, ...said.filter((one) => typeof one === "string")]);
    again();
  }

  return (
    <section aria-label="Worktrees">
      <h2>Worktrees</h2>
      {kept.map((one) => (
        <p key={one} class="quiet" role="status">
          {visibleCode(one)}
        </p>
      ))}
      <ul>
        {found.map(({ path, branch, sessions, unsaved, keeps, removable }) => (
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
              {removable &&
                keeps.map((one) => (
                  <p key={one} class="quiet">
                    {visibleCode(one)}
                  </p>
                ))}
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

/** All files that the session touched, as its tools tell; and what git says differs in its workspace, whoever changed it. */
import { useState } from "preact/hooks";
import type { FileChange } from "../model/changes.js";
import { isReplay } from "../model/replay.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { hunksOf } from "../text/diff.js";
import { time } from "../text/format.js";
import { visibleCode } from "../text/visible.js";
import { MutationView } from "../tools/diff_view.js";
import { FileList, type ListedFile } from "./file_list.js";
import { GitChanges } from "./git_changes.js";

const TURNS = 300;
/** Among the turns, what is no turn. */
const GIT = "git";
const BASE = "base";

/** The changes of a file as a patch, as far as they are known. */
function patchOf({ path, changes }: FileChange): string {
  const mutations = changes.flatMap(({ row }) => (row.payload?.kind === "modify_file" ? row.payload.modify_file.mutations : []));
  return mutations
    .map(
      (mutation) =>
        mutation.diff ??
        hunksOf(mutation)
          ?.flatMap(({ lines }) => lines.map(({ sign, text }) => sign + text))
          .join("\n") ??
        "",
    )
    .map((text) => `--- ${path}\n+++ ${path}\n${text.replace(/\n$/, "")}\n`)
    .join("");
}

function firstLine({ changes }: FileChange): number | undefined {
  const last = changes.at(-1)?.row.payload;
  for (const mutation of last?.kind === "modify_file" ? last.modify_file.mutations : []) {
    if (mutation.relative) continue;
    const line = hunksOf(mutation)?.[0]?.lines.find(({ sign }) => sign !== " ");
    if (line) return line.after ?? line.before;
  }
  return undefined;
}

function Told({ file, split }: { file: FileChange; split: boolean }) {
  const { inspect } = usePage();
  return (
    <>
      {file.changes.map(({ row, turn }) => (
        <div key={row.key} class="change">
          <p class="quiet">
            <button type="button" class="more" onClick={() => inspect(row.lastSeq)}>
              {time(row.ts)}
            </button>
            {turn && ` in ${turn.id}`}
            {row.edited && " · edited before it ran"}
          </p>
          {row.payload?.kind === "modify_file" &&
            row.payload.modify_file.mutations.map((mutation, index) => (
              <MutationView key={index} mutation={mutation} path={file.path} split={split} />
            ))}
        </div>
      ))}
    </>
  );
}

export function ChangedFiles() {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.changed, live.grown, hub.changed);
  const { files, turns } = live.conversation;
  const [picked, pick] = useState("");
  const worktree = hub.summary?.worktree;
  const mayAsk = hub.mayControl && !isReplay(hub.summary);
  const filter = (
    <select aria-label="Changes of" value={picked} onChange={(event) => pick(event.currentTarget.value)}>
      <option value="">The whole session</option>
      {mayAsk && <option value={GIT}>Uncommitted, from git</option>}
      {mayAsk && worktree && <option value={BASE}>Against {visibleCode(worktree.base ?? "its base")}, from git</option>}
      {turns.slice(-TURNS).map(({ id, start }) => (
        <option key={id} value={id}>
          {id} · {time(start)}
        </option>
      ))}
    </select>
  );
  if ((picked === GIT || (picked === BASE && worktree)) && mayAsk)
    return <GitChanges key={picked} filter={filter} against={picked === BASE ? "base" : "commit"} />;
  const found = files.of(picked === "" ? undefined : turns.find(({ id }) => id === picked));
  const listed = found.map(
    (file): ListedFile => ({
      key: file.path,
      path: file.path,
      added: file.added,
      removed: file.removed,
      // With its time: another session of the same name has other changes.
      version: `${file.changes.length} ${file.changes.at(-1)?.row.ts}`,
      line: firstLine(file),
      patch: () => patchOf(file),
      body: (split) => <Told file={file} split={split} />,
    }),
  );
  const about = listed.length === 0 && (
    <p class="quiet">
      No file was changed by a tool that says what it changes. Commands may have changed some{mayAsk ? ": git tells what differs." : "."}
    </p>
  );
  return <FileList files={listed} filter={filter} about={about} />;
}

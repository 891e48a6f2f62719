/** What differs in the workspace from its last commit: the list at once, the changes of a file once it is opened. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { members, useAnswer } from "../state/ask.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { fromUnified } from "../text/diff.js";
import { languageOf } from "../text/languages.js";
import { visibleCode } from "../text/visible.js";
import { DiffTable } from "../tools/diff_view.js";
import { FileList, type ListedFile } from "./file_list.js";
import { type Differing, differing } from "./git_answer.js";

const NOTES: Record<string, string> = {
  added: "new",
  untracked: "new, not in git",
  deleted: "deleted",
  retyped: "other type",
  unmerged: "conflict",
};

function note({ status, before, binary, filtered }: Differing): string {
  const said = before === undefined ? NOTES[status] : `${status === "copied" ? "copied" : "was"} ${before}`;
  return [said, filtered ? "passes a filter" : binary ? "binary" : ""].filter(Boolean).join(", ");
}

function Patch({ file, split }: { file: Differing; split: boolean }) {
  const live = useLive();
  const { answer, error, again } = useAnswer(asks(live.id, file));
  const found = members(answer);
  const patch = typeof found.patch === "string" ? found.patch : "";
  const hunks = useMemo(() => (patch === "" ? undefined : fromUnified(patch)), [patch]);
  // What was written since is asked for again.
  useEffect(() => {
    if (answer !== undefined) again();
  }, [file.version]);
  if (error) return <p class="wrong">{visibleCode(error)}</p>;
  if (answer === undefined) return <p class="quiet">Asking git …</p>;
  if (file.filtered) return <p class="quiet">Only the filter it passes, such as LFS, could tell what differs.</p>;
  if (found.binary === true) return <p class="quiet">A binary file, or one that is too large to be compared.</p>;
  if (!hunks) return <p class="quiet">Nothing differs in its lines.</p>;
  return (
    <>
      <DiffTable
        hunks={hunks}
        numbers
        label={`Change of ${file.path}`}
        language={languageOf(file.path)}
        split={split}
        source={{ source: file.path, file: true }}
      />
      {found.cut === true && <p class="quiet">There is more than is shown: look at the file itself.</p>}
    </>
  );
}

const asks = (session: string, { path, before }: Differing) => ({
  type: "workspace.diff" as const,
  session,
  path,
  ...(before !== undefined && { old_path: before }),
});

export function GitChanges({ filter }: { filter: ComponentChildren }) {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.changed, live.grown);
  const { answer, error, again } = useAnswer({ type: "workspace.diff", session: live.id });
  const { turns, running } = live.conversation;
  // A turn may have written anything.
  useEffect(() => {
    if (answer !== undefined && !running) again();
  }, [turns.length, running]);
  const { files, complete } = useMemo(() => differing(answer), [answer]);
  const listed = useMemo(
    () =>
      files.map(
        (file): ListedFile => ({
          key: `git:${file.path}`,
          path: file.path,
          added: file.added,
          removed: file.removed,
          note: note(file),
          version: file.version,
          patch: async () => {
            const found = members(await hub.run(asks(live.id, file)));
            return `--- ${file.before ?? file.path}\n+++ ${file.path}\n${typeof found.patch === "string" ? found.patch : ""}`;
          },
          body: (split) => <Patch file={file} split={split} />,
        }),
      ),
    [files],
  );
  const about = (
    <>
      {error && (
        <p class="quiet" role="alert">
          {visibleCode(error)}
        </p>
      )}
      {!error && answer === undefined && <p class="quiet">Asking git …</p>}
      {answer !== undefined && files.length === 0 && <p class="quiet">Nothing differs from the last commit.</p>}
      {!complete && <p class="quiet">There are more than are listed here.</p>}
    </>
  );
  const more = (
    <button type="button" class="more" onClick={again}>
      Look again
    </button>
  );
  return <FileList files={listed} filter={filter} about={about} more={more} />;
}

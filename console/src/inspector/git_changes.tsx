/** What differs in the workspace from its last commit: the list at once, the changes of a file once it is opened. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { CommandInput } from "turnwire-client";
import { Copy } from "../parts/copy.js";
import { Decide } from "../request/decide.js";
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

function noteOf({ status, before, binary, filtered }: Differing): string {
  const said = before === undefined ? NOTES[status] : `${status === "copied" ? "copied" : "was"} ${before}`;
  return [said, filtered ? "passes a filter" : binary ? "binary" : ""].filter(Boolean).join(", ");
}

type Against = "commit" | "base";

interface PatchProps {
  file: Differing;
  split: boolean;
  against: Against;
  /** Its changes were taken back; the command writes them again. */
  onReverted: (path: string, restore: string | undefined) => void;
}

/** Takes changes back, in a second step. */
function Revert({ what, command, onReverted }: { what: string; command: CommandInput; onReverted: (restore: string | undefined) => void }) {
  const { hub } = usePage();
  const [asking, ask] = useState(false);
  if (!asking)
    return (
      <button type="button" class="more" onClick={() => ask(true)}>
        Revert {what} …
      </button>
    );
  return (
    <>
      <Decide
        className="danger small"
        meaning={JSON.stringify(command)}
        onDecide={() =>
          void hub.run(command).then((reply) => {
            ask(false);
            const { restore } = members(reply);
            if (reply !== undefined) onReverted(typeof restore === "string" ? restore : undefined);
          })
        }
      >
        Revert {what}
      </Decide>
      <button type="button" class="more" onClick={() => ask(false)}>
        Keep it
      </button>
    </>
  );
}

function Patch({ file, split, against, onReverted }: PatchProps) {
  const live = useLive();
  const { answer, error, again } = useAnswer(asks(live.id, file, against));
  const found = members(answer);
  const patch = typeof found.patch === "string" ? found.patch : "";
  const hunks = useMemo(() => (patch === "" ? undefined : fromUnified(patch)), [patch]);
  /** Each hunk as git wrote it. */
  const written = useMemo(() => patch.split(/^(?=@@ )/m).filter((part) => part.startsWith("@@ ")), [patch]);
  const { path, before, version } = file;
  const revert = {
    type: "workspace.revert" as const,
    session: live.id,
    path,
    ...(before !== undefined && { old_path: before }),
    ...(version !== "" && { version }),
  };
  const reverted = (restore: string | undefined) => onReverted(path, restore);
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
        {...(against === "commit" &&
          found.cut !== true &&
          hunks.length === written.length &&
          hunks.length > 1 && {
            underTitle: (index: number) => (
              <Revert what="this part" command={{ ...revert, hunk: written[index] ?? "" }} onReverted={reverted} />
            ),
          })}
      />
      {against === "commit" && (
        <p class="actions">
          <Revert what="the file" command={revert} onReverted={reverted} />
        </p>
      )}
      {found.cut === true && <p class="quiet">There is more than is shown: look at the file itself.</p>}
    </>
  );
}

const asks = (session: string, { path, before }: Differing, against: Against) => ({
  type: "workspace.diff" as const,
  session,
  path,
  against,
  ...(before !== undefined && { old_path: before }),
});

export function GitChanges({ filter, against }: { filter: ComponentChildren; against: Against }) {
  const [undone, note] = useState<ReadonlyArray<readonly [path: string, restore: string | undefined]>>([]);
  const { hub } = usePage();
  const live = useLive();
  useSource(live.changed, live.grown);
  const { answer, error, again } = useAnswer({ type: "workspace.diff", session: live.id, against });
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
          note: noteOf(file),
          version: file.version,
          patch: async () => {
            const found = members(await hub.run(asks(live.id, file, against)));
            return `--- ${file.before ?? file.path}\n+++ ${file.path}\n${typeof found.patch === "string" ? found.patch : ""}`;
          },
          body: (split) => (
            <Patch
              file={file}
              split={split}
              against={against}
              onReverted={(path, restore) => {
                note((before) => [...before, [path, restore]]);
                again();
              }}
            />
          ),
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
      {answer !== undefined && files.length === 0 && (
        <p class="quiet">Nothing differs from the {against === "base" ? "base" : "last commit"}.</p>
      )}
      {undone.map(([path, restore], index) => (
        <p key={index} class="quiet" role="status">
          Changes of {visibleCode(path)} were reverted.
          {restore !== undefined && (
            <>
              {" "}
              This writes them again: <code>{visibleCode(restore)}</code> <Copy text={restore} what="the command" />
            </>
          )}
        </p>
      ))}
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

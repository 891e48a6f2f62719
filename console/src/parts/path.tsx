/** A path with its file's name first; what is cut for room is the beginning of its folders. */

import { useLive, usePage } from "../state/context.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";

/** The folder of the session on screen, as its agent or the hub tells it. */
export function useHome(): string {
  const { hub } = usePage();
  const live = useLive();
  return live.conversation.state.info?.cwd ?? hub.summary?.workspace ?? "";
}

export function Path({ path }: { path: string }) {
  const { name, folder } = namedPath(path, useHome());
  return (
    <span class="path" title={visibleCode(path)}>
      <bdi class="name">{visibleCode(name)}</bdi>
      {folder && (
        <span class="folder">
          <bdi>{visibleCode(folder)}</bdi>
        </span>
      )}
    </span>
  );
}

/** Files that go with a prompt, each of which can be taken away. */
import { Icon } from "../parts/icons.js";
import { IconButton } from "../parts/parts.js";
import { visibleCode } from "../text/visible.js";
import type { Attached } from "./attachments.js";

export function AttachedFiles({ files, onRemove }: { files: readonly Attached[]; onRemove: (file: Attached) => void }) {
  if (files.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached files">
      {files.map((one, index) => (
        <li key={index}>
          {one.media_type.startsWith("image/") && !one.media_type.includes("svg") ? (
            <img src={`data:${one.media_type};base64,${one.base64}`} alt="" />
          ) : (
            <Icon name="file" />
          )}
          <span>{visibleCode(one.name)}</span>
          <IconButton icon="cross" label={`Remove ${one.name}`} onClick={() => onRemove(one)} />
        </li>
      ))}
    </ul>
  );
}

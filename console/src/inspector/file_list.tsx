/** Files that were changed, by folder: each with its counts, a mark for who has looked at it, and what was changed in it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { sum } from "../model/changes.js";
import { copy, Fold, IconButton } from "../parts/parts.js";
import { useHome } from "../parts/path.js";
import { useLive, usePage } from "../state/context.js";
import { inBrowser } from "../state/kept.js";
import { plural } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { chooseEditor, chosenEditor, EDITORS, type Editor, editorAddress } from "./editor.js";

/** More files than these are asked for. */
const MOST = 200;
export interface ListedFile {
  /** Tells it from all others, also from the same file in another list. */
  readonly key: string;
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** What else is to be said of it in a word or two. */
  readonly note?: string;
  /** Its state: another one when it was changed again. */
  readonly version: string;
  /** The line that an editor opens at. */
  readonly line?: number | undefined;
  readonly patch: () => string | Promise<string>;
  readonly body: (split: boolean) => ComponentChildren;
}

export function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="counts">
      {added > 0 && <span class="plus">+{added}</span>} {removed > 0 && <span class="minus">−{removed}</span>}
    </span>
  );
}

/** A name on one line, whatever is in it. */
const shownName = (name: string) => visibleCode(name).replaceAll("\n", "⟨U+000A⟩");

interface FileProps {
  file: ListedFile;
  split: boolean;
  editor: Editor;
  onViewed: () => void;
}

function File({ file, split, editor, onViewed }: FileProps) {
  const { hub } = usePage();
  const live = useLive();
  const home = useHome();
  const [open, setOpen] = useState(false);
  const { name } = namedPath(file.path, home);
  // What was looked at before it changed again was not looked at.
  const viewed = live.viewed.has(file.key, file.version);
  const address = editorAddress(editor, file.path, home, file.line);
  return (
    <li class={`file ${viewed ? "viewed" : ""}`}>
      <Fold
        open={open}
        onToggle={() => setOpen(!open)}
        head={
          <>
            <span class="subject mono">
              <bdi>{shownName(name)}</bdi>
            </span>
            {file.note && <span class="chip">{shownName(file.note)}</span>}
            <Counts {...file} />
          </>
        }
      >
        <div class="file-body">
          <p class="actions">
            <label class="inline">
              <input
                type="checkbox"
                checked={viewed}
                onChange={() => {
                  if (viewed) live.viewed.unmark(file.key);
                  else live.viewed.mark(file.key, file.version);
                  setOpen(viewed);
                  onViewed();
                }}
              />
              Viewed
            </label>
            <span class="spring" />
            <IconButton
              icon="copy"
              label={`Copy the changes of ${name}`}
              onClick={() =>
                void Promise.resolve(file.patch())
                  .then(copy)
                  .catch(() => hub.toast("The browser did not allow copying."))
              }
            />
            {address && (
              <a href={address} title={shownName(file.path)}>
                Open in {EDITORS[editor][0]}
              </a>
            )}
          </p>
          {file.body(split)}
        </div>
      </Fold>
    </li>
  );
}

/** The list, under what chooses its files and how they are shown. */
export function FileList(props: {
  files: readonly ListedFile[];
  filter: ComponentChildren;
  about: ComponentChildren;
  /** Stands beside their number. */
  more?: ComponentChildren;
}) {
  const { files, filter, about, more } = props;
  const live = useLive();
  const home = useHome();
  const [split, setSplit] = useState(inBrowser.text("split") === "1");
  const [editor, setEditor] = useState<Editor>(chosenEditor(inBrowser));
  const [shown, show] = useState(MOST);
  const [closed, close] = useState<ReadonlySet<string>>(new Set());
  const [, render] = useState(0);
  const viewed = files.filter(({ key, version }) => live.viewed.has(key, version)).length;
  const folders = new Map<string, ListedFile[]>();
  for (const file of files.slice(0, shown)) {
    const { folder } = namedPath(file.path, home);
    const inside = folders.get(folder);
    if (inside) inside.push(file);
    else folders.set(folder, [file]);
  }
  return (
    <div class="changes">
      <div class="filter">
        {filter}
        <select
          aria-label="Layout of changes"
          value={split ? "split" : "unified"}
          onChange={(event) => {
            const next = event.currentTarget.value === "split";
            inBrowser.set("split", next ? "1" : undefined);
            setSplit(next);
          }}
        >
          <option value="unified">One column</option>
          <option value="split">Two columns</option>
        </select>
        <select
          aria-label="Editor"
          value={editor}
          onChange={(event) => {
            const next = event.currentTarget.value as Editor;
            chooseEditor(inBrowser, next);
            setEditor(next);
          }}
        >
          {Object.entries(EDITORS).map(([value, [name]]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {about}
      {(files.length > 0 || more) && (
        <div class="listed">
          <p class="quiet" role="status">
            {files.length > 0 && plural(files.length, "file")} <Counts {...sum(files)} />
            {viewed > 0 && ` · ${viewed} viewed`}
          </p>
          {more}
        </div>
      )}
      <ul>
        {[...folders].map(([folder, inside]) => (
          <li key={folder}>
            {folder && (
              <button
                type="button"
                class="folder-head"
                aria-expanded={!closed.has(folder)}
                onClick={() => close(new Set(closed.has(folder) ? [...closed].filter((one) => one !== folder) : [...closed, folder]))}
              >
                <bdi>{shownName(folder)}</bdi> <Counts {...sum(inside)} />
              </button>
            )}
            {!closed.has(folder) && (
              <ul>
                {inside.map((file) => (
                  <File key={file.key} file={file} split={split} editor={editor} onViewed={() => render((n) => n + 1)} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {files.length > shown && (
        <button type="button" class="more" onClick={() => show(shown + MOST)}>
          Show more ({shown} of {files.length} shown)
        </button>
      )}
    </div>
  );
}

/** All files the session touched: a tree of them, and what was done to each. */
import { useState } from "preact/hooks";
import { type FileChange, sum } from "../model/changes.js";
import { useSource } from "../state/source.js";
import { hunksOf } from "../text/diff.js";
import { plural, time } from "../text/format.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { MutationView } from "../tools/diff_view.js";
import { useLive, usePage } from "../view/context.js";
import { copy, Fold, IconButton } from "../view/parts.js";
import { useHome } from "../view/path.js";
import { chooseEditor, chosenEditor, EDITORS, type Editor, editorAddress } from "./editor.js";

/** More files than these are asked for. */
const MOST = 200;
const TURNS = 300;
const SPLIT = "turnwire.split";

function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="counts">
      {added > 0 && <span class="plus">+{added}</span>} {removed > 0 && <span class="minus">−{removed}</span>}
    </span>
  );
}

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

interface FileProps {
  file: FileChange;
  home: string;
  split: boolean;
  editor: Editor;
}

function File({ file, home, split, editor }: FileProps) {
  const { hub, inspect } = usePage();
  const live = useLive();
  const [open, setOpen] = useState(false);
  const [, render] = useState(0);
  const { name } = namedPath(file.path, home);
  // What was looked at before it changed again was not looked at.
  const viewed = live.viewed.get(file.path) === file.changes.length;
  const last = file.changes.at(-1)?.row.payload;
  const line = last?.kind === "modify_file" ? firstLine(last.modify_file.mutations) : undefined;
  const address = editorAddress(editor, file.path, home, line);
  return (
    <li class={`file ${viewed ? "viewed" : ""}`}>
      <Fold
        open={open}
        onToggle={() => setOpen(!open)}
        head={
          <>
            <span class="subject mono">{visibleCode(name)}</span>
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
                  if (viewed) live.viewed.delete(file.path);
                  else live.viewed.set(file.path, file.changes.length);
                  setOpen(viewed);
                  render((n) => n + 1);
                }}
              />
              Viewed
            </label>
            <span class="spring" />
            <IconButton
              icon="copy"
              label={`Copy the changes of ${name}`}
              onClick={() => void copy(patchOf(file)).catch(() => hub.toast("The browser did not allow copying."))}
            />
            {address && (
              <a href={address} title={visibleCode(file.path)}>
                Open in {EDITORS[editor][0]}
              </a>
            )}
          </p>
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
        </div>
      </Fold>
    </li>
  );
}

function firstLine(mutations: readonly Parameters<typeof hunksOf>[0][]): number | undefined {
  for (const mutation of mutations) {
    if (mutation.relative) continue;
    const line = hunksOf(mutation)?.[0]?.lines.find(({ sign }) => sign !== " ");
    if (line) return line.after ?? line.before;
  }
  return undefined;
}

export function ChangedFiles() {
  const live = useLive();
  useSource(live.changed, live.grown);
  const home = useHome();
  const { files, turns } = live.conversation;
  const [picked, pick] = useState("");
  const [split, setSplit] = useState(localStorage.getItem(SPLIT) === "1");
  const [editor, setEditor] = useState<Editor>(chosenEditor(localStorage));
  const [shown, show] = useState(MOST);
  const [closed, close] = useState<ReadonlySet<string>>(new Set());
  if (files.size === 0)
    return <p class="quiet">No file was changed by a tool that says what it changes. Commands may have changed some.</p>;
  const found = files.of(picked === "" ? undefined : turns.find(({ id }) => id === picked));
  const viewed = found.filter(({ path, changes }) => live.viewed.get(path) === changes.length).length;
  const folders = new Map<string, FileChange[]>();
  for (const file of found.slice(0, shown)) {
    const { folder } = namedPath(file.path, home);
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return (
    <div class="changes">
      <div class="filter">
        <select aria-label="Changes of" value={picked} onChange={(event) => pick(event.currentTarget.value)}>
          <option value="">The whole session</option>
          {turns.slice(-TURNS).map(({ id, start }) => (
            <option key={id} value={id}>
              {id} · {time(start)}
            </option>
          ))}
        </select>
        <select
          aria-label="Layout of changes"
          value={split ? "split" : "unified"}
          onChange={(event) => {
            const next = event.currentTarget.value === "split";
            localStorage.setItem(SPLIT, next ? "1" : "0");
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
            chooseEditor(localStorage, next);
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
      <p class="quiet" role="status">
        {plural(found.length, "file")} <Counts {...sum(found)} />
        {viewed > 0 && ` · ${viewed} viewed`}
      </p>
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
                <bdi>{visibleCode(folder)}</bdi> <Counts {...sum(inside)} />
              </button>
            )}
            {!closed.has(folder) && (
              <ul>
                {inside.map((file) => (
                  <File key={file.path} file={file} home={home} split={split} editor={editor} />
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      {found.length > shown && (
        <button type="button" class="more" onClick={() => show(shown + MOST)}>
          Show more ({shown} of {found.length} shown)
        </button>
      )}
    </div>
  );
}

/** The files of the workspace as they are now: those that the agent changed first, then its folders; one of them open to be read. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Copy } from "../parts/copy.js";
import { Icon } from "../parts/icons.js";
import { Parts } from "../parts/images.js";
import { useHome } from "../parts/path.js";
import { useResult } from "../state/ask.js";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { bytes } from "../text/format.js";
import { languageOf } from "../text/languages.js";
import { isInside, namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { DiffTable } from "../tools/diff_view.js";

const shownName = (name: string) => visibleCode(name).replaceAll("\n", "⟨U+000A⟩");

interface TreeProps {
  /** From the workspace; empty for itself. */
  path: string;
  open: ReadonlySet<string>;
  onToggle: (path: string) => void;
  onFile: (path: string) => void;
  /** Another number asks again. */
  round: number;
}

function Tree({ path, open, onToggle, onFile, round }: TreeProps) {
  const { id } = useLive();
  const { answer, error, again } = useResult({ type: "workspace.list", session: id, path });
  useEffect(() => {
    if (answer !== undefined) again();
  }, [round]);
  if (error) return <p class="wrong">{visibleCode(error)}</p>;
  if (answer === undefined) return <p class="quiet">Looking …</p>;
  if (answer.entries.length === 0) return <p class="quiet">{path === "" ? "The folder is empty." : "Empty"}</p>;
  return (
    <ul>
      {answer.entries.map(({ name, kind, size }) => {
        const whole = path === "" ? name : `${path}/${name}`;
        const isFolder = kind === "folder";
        return (
          <li key={name}>
            {kind === "other" ? (
              <p class="entry mono quiet">
                <bdi>{shownName(name)}</bdi> <span class="chip">pipe or device</span>
              </p>
            ) : (
              <button
                type="button"
                class="entry mono"
                data-path={whole}
                {...(isFolder && { "aria-expanded": open.has(whole) })}
                onClick={() => (isFolder ? onToggle(whole) : onFile(whole))}
              >
                <Icon name={isFolder ? "folder" : "file"} />
                <bdi>{shownName(name)}</bdi>
                {kind === "link" && <span class="chip">link</span>}
                {size !== null && <span class="size">{bytes(size)}</span>}
              </button>
            )}
            {isFolder && open.has(whole) && <Tree path={whole} open={open} onToggle={onToggle} onFile={onFile} round={round} />}
          </li>
        );
      })}
      {!answer.complete && <li class="quiet">There are more than are listed here.</li>}
    </ul>
  );
}

function Viewer({ path, onBack }: { path: string; onBack: () => void }) {
  const live = useLive();
  const { answer, error, again } = useResult({ type: "workspace.read", session: live.id, path });
  const back = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => back.current?.focus(), []);
  const text = answer?.text ?? undefined;
  const hunks = useMemo(() => {
    const lines = text === undefined || text === "" ? [] : text.replace(/\n$/, "").split("\n");
    return [{ title: "", lines: lines.map((line, index) => ({ sign: " " as const, before: undefined, after: index + 1, text: line })) }];
  }, [text]);
  const { name, folder } = namedPath(path);
  return (
    <div class="viewer">
      <div class="viewer-head">
        <button type="button" class="more" ref={back} onClick={onBack}>
          <Icon name="back" /> All files
        </button>
        <span class="spring" />
        <button type="button" class="more" onClick={again}>
          Look again
        </button>
        {text !== undefined && text !== "" && <Copy text={text} what="the file" />}
      </div>
      <h2 class="mono">
        <bdi>{shownName(name)}</bdi>
        {answer && <span class="size">{bytes(answer.size)}</span>}
      </h2>
      {folder && (
        <p class="quiet">
          <bdi>{shownName(folder)}</bdi>
        </p>
      )}
      {error && (
        <p class="wrong" role="alert">
          {visibleCode(error)}
        </p>
      )}
      {!error && answer === undefined && <p class="quiet">Reading …</p>}
      {answer?.base64 && answer.media_type && <Parts parts={[{ type: "image", media_type: answer.media_type, base64: answer.base64 }]} />}
      {text === "" && <p class="quiet">The file is empty.</p>}
      {text !== undefined && text !== "" && (
        <DiffTable hunks={hunks} numbers label={`File ${name}`} language={languageOf(path)} source={{ source: path, file: true }} />
      )}
      {answer && text === undefined && !answer.base64 && (
        <p class="quiet">{answer.cut ? "Too large to be shown, and no text." : "A binary file, or a text that is not UTF-8."}</p>
      )}
      {answer?.cut && text !== undefined && <p class="quiet">There is more than is shown: look at the file itself.</p>}
    </div>
  );
}

export function Files() {
  const { hub } = usePage();
  const live = useLive();
  useSource(live.changed, live.grown);
  const told = useHome();
  const home = hub.summary?.workspace ?? told;
  const [shown, show] = useState<string | undefined>(undefined);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [round, look] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const left = useRef<string | undefined>(undefined);
  const { turns, running } = live.conversation;
  // A turn may have written anything.
  useEffect(() => {
    if (!running) look((before) => before + 1);
  }, [turns.length, running]);
  // Who comes back stands where they left.
  useEffect(() => {
    if (shown !== undefined) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>("[data-path]") ?? [])];
    if (left.current !== undefined) buttons.find((one) => one.dataset.path === left.current)?.focus();
  }, [shown]);
  const changed = live.conversation.files.of().flatMap(({ path }) => {
    if (isInside(path, home)) return [path.slice(home.replace(/\/+$/, "").length + 1)];
    return path.startsWith("/") || path.startsWith("~") ? [] : [path];
  });
  const onFile = (path: string) => {
    left.current = path;
    show(path);
  };
  return (
    <div class="workspace-files">
      {shown !== undefined && <Viewer key={shown} path={shown} onBack={() => show(undefined)} />}
      <div ref={list} hidden={shown !== undefined}>
        {changed.length > 0 && (
          <section aria-label="Changed by the agent">
            <h2>Changed by the agent</h2>
            <ul>
              {changed.map((path) => (
                <li key={path}>
                  <button type="button" class="entry mono" data-path={path} onClick={() => onFile(path)}>
                    <Icon name="file" />
                    <bdi>{shownName(namedPath(path).name)}</bdi>
                    <span class="where">
                      <bdi>{shownName(namedPath(path).folder)}</bdi>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
        <section aria-label="All files">
          <div class="listed">
            <h2>All files</h2>
            <button type="button" class="more" onClick={() => look(round + 1)}>
              Look again
            </button>
          </div>
          <Tree
            path=""
            open={open}
            onToggle={(path) => setOpen(new Set(open.has(path) ? [...open].filter((one) => one !== path) : [...open, path]))}
            onFile={onFile}
            round={round}
          />
        </section>
      </div>
    </div>
  );
}

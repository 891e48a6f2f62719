/** Chooses the folder of a new session: written, one that was used lately, or found below the folders that are allowed. */
import { useState } from "preact/hooks";
import { recentFolders } from "../model/inbox.js";
import { Icon } from "../parts/icons.js";
import { useResult } from "../state/ask.js";
import { usePage } from "../state/context.js";
import { namedPath } from "../text/path.js";
import { visibleCode } from "../text/visible.js";
import { marked, type Wrong, WrongAt } from "./wrong.js";

/** Folders that were used lately and are offered. */
const RECENT = 6;

function Choice({ path, name, onPick }: { path: string; name: string; onPick: (path: string) => void }) {
  return (
    <li>
      <button type="button" class="folder-choice" title={visibleCode(path)} onClick={() => onPick(path)}>
        <Icon name="folder" /> <bdi>{visibleCode(name)}</bdi>
      </button>
    </li>
  );
}

/** The folders in one, as the hub tells them. */
function Browser({ at, onPick }: { at: string; onPick: (path: string) => void }) {
  const { answer, error } = useResult({ type: "workspace.folders", ...(at !== "" && { path: at }) });
  if (error !== undefined) return <p class="wrong">{error}</p>;
  if (answer === undefined) return <p class="quiet">Looking …</p>;
  const { path, parent, folders: inside, complete } = answer;
  const here = path ?? "";
  const [only] = inside;
  // One folder alone is no choice.
  if (here === "" && inside.length === 1 && only !== undefined) return <Browser at={only} onPick={onPick} />;
  return (
    <>
      <p class="quiet">{here === "" ? "Folders that are allowed" : <bdi>{visibleCode(here)}</bdi>}</p>
      <ul class="folder-list" aria-label="Folders">
        {parent !== null && (
          <li>
            <button type="button" class="folder-choice" onClick={() => onPick(parent)}>
              <Icon name="back" /> Up
            </button>
          </li>
        )}
        {inside.map((one) => (
          <Choice key={one} path={one} name={here === "" ? one : namedPath(one).name} onPick={onPick} />
        ))}
        {inside.length === 0 && <li class="quiet">No folder in it.</li>}
        {!complete && <li class="quiet">There are more. Write the path to reach them.</li>}
      </ul>
    </>
  );
}

export function FolderPicker(props: { value: string; onPick: (path: string) => void; browses: boolean; wrong: Wrong | undefined }) {
  const { value, onPick, browses, wrong } = props;
  const { hub } = usePage();
  const [open, setOpen] = useState(false);
  /** Where the list stands; what is written moves it only once it was chosen. */
  const [at, go] = useState("");
  const recent = recentFolders(hub.sessions).slice(0, RECENT);
  const pick = (path: string) => {
    go(path);
    onPick(path);
  };
  return (
    <div class="folder-picker">
      <label>
        Folder
        <input
          type="text"
          spellcheck={false}
          placeholder="Where turnwire was started"
          value={value}
          {...marked(wrong, "workspace")}
          onInput={(event) => onPick(event.currentTarget.value)}
        />
      </label>
      <WrongAt wrong={wrong} field="workspace" />
      {recent.length > 0 && (
        <ul class="recent-folders" aria-label="Recent folders">
          {recent.map((path) => (
            <li key={path}>
              <button
                type="button"
                class="chip"
                aria-pressed={path === value}
                title={visibleCode(path)}
                onClick={() => pick(path === value ? "" : path)}
              >
                <bdi>{visibleCode(namedPath(path).name)}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      {browses && (
        <button type="button" class="more" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close the list of folders" : "Browse folders"}
        </button>
      )}
      {open && (
        <div class="folder-browser">
          <Browser at={at} onPick={pick} />
        </div>
      )}
    </div>
  );
}

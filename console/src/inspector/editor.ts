/** Addresses that open a file in an editor on the reader's own machine. */
import type { Kept } from "../state/kept.js";

export const EDITORS = {
  vscode: ["VS Code", "vscode://file"],
  cursor: ["Cursor", "cursor://file"],
  windsurf: ["Windsurf", "windsurf://file"],
  zed: ["Zed", "zed://file"],
  idea: ["IntelliJ", "idea://open?file="],
} as const;

export type Editor = keyof typeof EDITORS;

export function chosenEditor(kept: Kept): Editor {
  const chosen = kept.text("editor") ?? "";
  return Object.hasOwn(EDITORS, chosen) ? (chosen as Editor) : "vscode";
}

export function chooseEditor(kept: Kept, editor: Editor): void {
  kept.set("editor", editor);
}

/** The address of a file; undefined where it is not known where the file is. */
export function editorAddress(editor: Editor, path: string, home: string, line: number | undefined): string | undefined {
  const absolute = /^(?:\/|[A-Za-z]:[\\/])/.test(path) ? path : home ? `${home.replace(/[\\/]+$/, "")}/${path}` : undefined;
  if (absolute === undefined) return undefined;
  const [, begin] = EDITORS[editor];
  const slashed = absolute.replaceAll("\\", "/");
  const encoded = slashed
    .split("/")
    .map(encodeURIComponent)
    .join("/")
    .replace(/^([A-Za-z])%3A/, "/$1:");
  if (editor === "idea") return `${begin}${encoded}${line === undefined ? "" : `&line=${line}`}`;
  return `${begin}${encoded}${line === undefined ? "" : `:${line}`}`;
}

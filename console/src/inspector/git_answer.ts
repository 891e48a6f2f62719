/** What the sidecar tells of a workspace by git, read into types; what is missing or odd in it is left out. */
import type { JsonValue } from "turnwire-client";
import { members } from "../state/ask.js";

export interface Differing {
  readonly path: string;
  readonly status: string;
  /** What a renamed or copied file was called. */
  readonly before: string | undefined;
  readonly added: number;
  readonly removed: number;
  readonly binary: boolean;
  readonly filtered: boolean;
  readonly version: string;
}

const lines = (value: JsonValue | undefined) => (typeof value === "number" ? value : 0);

export function differing(answer: JsonValue | undefined): { files: Differing[]; complete: boolean } {
  const { files, complete } = members(answer);
  const found = (Array.isArray(files) ? files : []).map(members).flatMap((file): Differing[] => {
    if (typeof file.path !== "string") return [];
    return [
      {
        path: file.path,
        status: typeof file.status === "string" ? file.status : "",
        before: typeof file.old_path === "string" ? file.old_path : undefined,
        added: lines(file.added),
        removed: lines(file.removed),
        binary: file.binary === true,
        filtered: file.filtered === true,
        version: typeof file.version === "string" ? file.version : "",
      },
    ];
  });
  return { files: found, complete: complete !== false };
}

/** Attempts at commands: the same one over a connection that broke is done once, by its id. */
import type { Attachment, CommandInput } from "turnwire-client";
import type { Remark } from "./remarks.js";

/** An attempt at a command: what was sent of it, and under which id, as long as it is not known what came of it. */
export interface Attempt {
  id?: string;
  sent?: string;
}

/** A prompt that may have arrived: the attempt at it, and what of it was put back. */
export interface Unsure {
  readonly attempt: Attempt;
  readonly text: string;
  readonly files: readonly Attachment[];
  readonly comments: readonly Remark[];
}

/** What of a command makes it another one. A prompt is the same at any priority. */
export const identity = (command: CommandInput) =>
  JSON.stringify(command.type === "prompt" ? { ...command, priority: undefined } : command);

/** A random UUID. `crypto.randomUUID` is there only for pages that came over TLS or from this machine. */
export function uuid4(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  // Version 4, and the variant of RFC 9562.
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
}

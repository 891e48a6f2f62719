/** What fits what is being written: slash commands, and files of the workspace after an @. */
import type { AvailableCommands } from "turnwire-client";

type Commands = AvailableCommands["available_commands"];

export const MOST = 8;

/** Commands whose name begins with, then those whose name contains, what follows the slash; none once a blank follows. */
export function completions(commands: Commands, text: string): Commands {
  const wanted = /^\/([^\s]*)$/.exec(text)?.[1]?.toLowerCase();
  if (wanted === undefined) return [];
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const contains = commands.filter(({ name }) => name.toLowerCase().indexOf(wanted) > 0);
  return [...begins, ...contains].slice(0, MOST);
}

/** A file that is being mentioned right before the caret: where its @ stands, and what follows it. */
export interface Mention {
  readonly at: number;
  readonly text: string;
}

export function mention(text: string, caret: number): Mention | undefined {
  // No path is so long that it must be looked for further back.
  const begin = Math.max(0, caret - 250);
  const found = /(?:^|[\s("'`])@([^\s@"]{0,200})$/.exec(text.slice(begin, caret))?.[1];
  return found === undefined ? undefined : { at: caret - found.length - 1, text: found };
}

/** Whether a path has all the characters in this order, whatever their case; as the sidecar sees it, too. */
export function fits(path: string, text: string): boolean {
  const lower = path.toLowerCase();
  let at = 0;
  for (const character of text.toLowerCase()) {
    at = lower.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The text with the file in place of what was written of it, and where the caret stands then. */
export function mentioned(text: string, { at, text: written }: Mention, path: string): { text: string; caret: number } {
  const word = /\s/.test(path) ? `@"${path}" ` : `@${path} `;
  const rest = text.slice(at + 1 + written.length).replace(/^ /, "");
  return { text: text.slice(0, at) + word + rest, caret: at + word.length };
}

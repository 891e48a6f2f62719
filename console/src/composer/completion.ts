/** Slash commands that fit what is being written. */
import type { AvailableCommands } from "turnwire-client";

type Commands = AvailableCommands["available_commands"];

const MOST = 8;

/** Commands whose name begins with, then those whose name contains, what follows the slash; none once a blank follows. */
export function completions(commands: Commands, text: string): Commands {
  const wanted = /^\/([^\s]*)$/.exec(text)?.[1]?.toLowerCase();
  if (wanted === undefined) return [];
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const contains = commands.filter(({ name }) => name.toLowerCase().indexOf(wanted) > 0);
  return [...begins, ...contains].slice(0, MOST);
}

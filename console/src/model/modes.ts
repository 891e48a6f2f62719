/** Permission modes: what they are called, and in which of them an agent asks less. */
import { known } from "../text/format.js";

export interface Mode {
  readonly name: string;
  readonly about: string;
  /** The agent asks less than in its usual mode. */
  readonly less: boolean;
}

/** The policy under which turnwire asks nobody, whatever the agent's mode. */
export const AUTONOMOUS = { name: "Approve everything", about: "turnwire approves what no rule denies. Nobody is asked." } as const;

const MODES: Record<string, Mode> = {
  default: { name: "Ask", about: "The agent asks before it changes files or runs commands.", less: false },
  plan: { name: "Plan", about: "The agent reads and plans. It changes nothing until you approve its plan.", less: false },
  acceptEdits: { name: "Accept edits", about: "The agent changes files in its folder without asking.", less: true },
  dontAsk: { name: "Deny unasked", about: "What no rule allows is denied. Nobody is asked.", less: false },
  auto: { name: "Auto", about: "The agent decides itself what it asks about.", less: true },
  bypassPermissions: { name: "Ask nothing", about: "The agent runs every command and changes every file without asking.", less: true },
};

/** Modes of agents in which they ask: the whole word, as one called `never-ask` asks nothing. */
const ASKING = /^(?:ask|plan|default|read[-_ ]?only)$/i;

/** Of a mode that an agent names itself nobody here knows how much it asks. */
export function modeOf(id: string, called?: string): Mode {
  const own = { name: called ?? id, about: "This is a mode of the agent. It may ask about less than you expect.", less: !ASKING.test(id) };
  return known(MODES, id) ?? own;
}

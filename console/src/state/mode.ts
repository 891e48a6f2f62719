/** The permission mode of the session that is on screen. */
import { type Mode, modeOf } from "../model/modes.js";
import { useLive, usePage } from "./context.js";

/** What is not told may be any: the agent's own settings can say so. */
const NOT_TOLD: Mode = { name: "Mode not told", about: "The agent has not said in which permission mode it works.", less: false };

/** The mode in force, as far as it is known. */
export function useMode(): Mode & { id: string | undefined } {
  const { hub } = usePage();
  const { state } = useLive().conversation;
  const id = state.mode ?? hub.summary?.permission_mode;
  return { id, ...(id === undefined ? NOT_TOLD : modeOf(id)) };
}

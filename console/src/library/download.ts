/** Hands a conversation to the browser as a file. */

import { members } from "../state/ask.js";
import type { ConsoleState } from "../state/console_state.js";

/** Of an old conversation its id; of a session of turnwire's own `live:SESSION`. */
export async function download(hub: ConsoleState, conversation: string, format: "markdown" | "html", redact: boolean): Promise<void> {
  const { name, content } = members(await hub.run({ type: "library.export", conversation, format, redact }));
  if (typeof name !== "string" || typeof content !== "string") return;
  const address = URL.createObjectURL(new Blob([content], { type: `text/${format}` }));
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

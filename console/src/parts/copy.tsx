/** Copies a text, and says for a moment that it did. */
import { useContext, useEffect, useState } from "preact/hooks";
import { usePage } from "../state/context.js";
import { CutsContext } from "./cuts.js";
import { Icon } from "./icons.js";

const SAID_MS = 2000;

export function Copy({ text, what, className = "" }: { text: string | (() => string); what: string; className?: string }) {
  const { hub } = usePage();
  const decided = useContext(CutsContext) !== undefined;
  const [copied, say] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => say(false), SAID_MS);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      say(true);
    } catch {
      // Only a page by https, or of this machine, may write to the clipboard.
      hub.toast("The browser does not let this page copy. Select the text and copy it by hand.");
    }
  }

  // A request shows what is decided, and nothing else that can be done.
  if (decided) return null;
  const label = copied ? "Copied" : `Copy ${what}`;
  return (
    <button type="button" class={`icon-button copy ${className}`} aria-label={label} title={label} onClick={() => void copy()}>
      <Icon name={copied ? "check" : "copy"} />
    </button>
  );
}

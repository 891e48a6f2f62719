/** Parts of the page that come in files of their own. */
import { useEffect, useState } from "preact/hooks";
import type { ConsoleState } from "./console_state.js";

/** A part of the page that comes in a file of its own, once somebody asks for it. */
export function useLater<Part>(load: () => Promise<Part>, hub: ConsoleState): Part | undefined {
  const [part, take] = useState<{ readonly it: Part }>();
  useEffect(() => {
    load().then(
      (it) => take({ it }),
      () => hub.toast("This part of the page could not be loaded; reload to try again."),
    );
  }, []);
  return part?.it;
}

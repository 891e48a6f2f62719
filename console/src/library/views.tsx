/** What is not about a session on screen: the pages about what was before, and how to begin; loaded when first asked for. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "../parts/parts.js";
import type { View } from "../state/console_state.js";
import { History } from "./history.js";
import { Usage } from "./usage.js";

export { download } from "./download.js";

export function LibraryView({ view, onMenu }: { view: View; onMenu: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The link that led here says nothing any more: who reads by ear goes on at the page's own heading.
  useLayoutEffect(() => heading.current?.focus(), [view.name]);
  return (
    <>
      <header class="session-head">
        <IconButton icon="menu" label="Sessions" className="menu" onClick={onMenu} />
        <div class="which">
          <h1 tabIndex={-1} ref={heading}>
            {view.name === "usage" ? "Usage" : view.query === "" ? "History" : "Search"}
          </h1>
        </div>
      </header>
      <div class="library" tabIndex={0} role="region" aria-label={view.name === "usage" ? "What was used" : "Old conversations"}>
        <div>{view.name === "usage" ? <Usage /> : <History query={view.query} />}</div>
      </div>
    </>
  );
}

export { NewSession } from "../start/new_session.js";
export { Tour } from "../start/tour.js";

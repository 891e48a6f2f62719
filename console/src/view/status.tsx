/** What is wrong with the connection, said plainly; and what went wrong with a command. */

import { IconButton } from "../parts/parts.js";
import { usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { plural } from "../text/format.js";
import { visibleCode } from "../text/visible.js";

export function ConnectionBar() {
  const { hub } = usePage();
  const live = hub.current;
  useSource(hub.changed, hub.switched, live?.delivery);
  if (hub.state === "connecting") {
    const text = hub.welcome ? "The connection is lost. What you see may be old; trying again …" : "Connecting …";
    return (
      <div class="connection bad" role="status">
        {text}
        <button type="button" class="quiet-button" onClick={() => hub.client.reconnect()}>
          Try now
        </button>
      </div>
    );
  }
  if (hub.state === "failed")
    return (
      <div class="connection bad" role="status">
        {visibleCode(hub.reason ?? "")} Reload the page to try again.
      </div>
    );
  if (hub.state === "closed")
    return (
      <div class="connection bad" role="status">
        The connection was closed.
      </div>
    );
  if (hub.newer !== undefined)
    return (
      <div class="connection warn" role="status">
        turnwire {visibleCode(hub.newer)} runs now, and this page is older. What you have written is kept.
        <button type="button" class="quiet-button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    );
  if (live?.caughtUp && live.behind > 0)
    return (
      <div class="connection warn" role="status">
        {plural(live.behind, "event")} behind
      </div>
    );
  return null;
}

export function Toasts() {
  const { hub } = usePage();
  useSource(hub.toasted);
  return (
    <div class="toasts" role="alert">
      {hub.toasts.map(({ key, text }) => (
        <div key={key} class="toast">
          <span>{visibleCode(text)}</span>
          <IconButton icon="cross" label="Dismiss" onClick={() => hub.dismiss(key)} />
        </div>
      ))}
    </div>
  );
}

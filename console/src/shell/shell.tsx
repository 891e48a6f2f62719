/** The tab of the inspector with a shell in the session's workspace. It goes on while another tab is shown. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useLive, usePage } from "../state/context.js";
import { useSource } from "../state/source.js";
import { visibleCode } from "../text/visible.js";
import { ShellTerminal } from "./terminal.js";

export function Shell() {
  const { hub } = usePage();
  const live = useLive();
  const [, render] = useState(0);
  const place = useRef<HTMLDivElement>(null);
  const shell = live.shell instanceof ShellTerminal ? live.shell : undefined;
  useSource(hub.changed, shell?.changed);
  useEffect(() => {
    if (shell && place.current) shell.show(place.current);
  }, [shell]);

  function open(): void {
    live.shell?.close();
    live.shell = new ShellTerminal(hub, live);
    render((count) => count + 1);
  }

  const { workspace, sandbox } = hub.summary ?? {};
  const isOver = shell === undefined || shell.state === "ended";
  return (
    <div class="shell">
      <div class="shell-head">
        {shell === undefined ? (
          <p>
            A shell in {workspace ? <bdi class="mono">{visibleCode(workspace)}</bdi> : "the folder of this session"}. It runs as turnwire's
            own user, {sandbox && sandbox !== "off" ? "in the sandbox of this session" : "without a sandbox"}. No rule and no permission
            stands between you and what you type. It ends with the agent, and with this page.
          </p>
        ) : (
          <p class="quiet" role="status">
            {shell.state === "opening" ? "Opening …" : shell.state === "open" ? "Alt C leads back to the prompt." : visibleCode(shell.end)}
          </p>
        )}
        {isOver ? (
          <button type="button" class={shell ? "secondary" : "primary"} onClick={open}>
            Open a shell here
          </button>
        ) : (
          <button type="button" class="secondary" onClick={() => shell.stop()}>
            End the shell
          </button>
        )}
      </div>
      {shell && <div class="terminal-place" ref={place} />}
    </div>
  );
}

/** A session as the console and `<turnwire-session>` show it: the conversation, what it waits for, and the prompt field. */
import type { ComponentChildren } from "preact";
import { Composer } from "../composer/composer.js";
import { isReplay } from "../model/replay.js";
import { Boundary } from "../parts/boundary.js";
import { RequestDock } from "../request/dock.js";
import { LiveContext, usePage } from "../state/context.js";
import type { LiveSession } from "../state/live.js";
import { useSource } from "../state/source.js";
import { ActivityBar } from "./now.js";
import { ReplayBar } from "./replay.js";
import { Transcript } from "./transcript.js";

export function SessionView({ live, children }: { live: LiveSession; children?: ComponentChildren }) {
  const { hub } = usePage();
  useSource(hub.changed);
  return (
    <LiveContext.Provider value={live}>
      {children}
      <Boundary what="the conversation">
        <Transcript />
      </Boundary>
      <Boundary what="the bar of the recording">
        <ReplayBar />
      </Boundary>
      <Boundary what="what waits for you">
        <RequestDock />
      </Boundary>
      <Boundary what="what the agent does now">
        <ActivityBar />
      </Boundary>
      {!isReplay(hub.summary) && (
        <Boundary what="the prompt field">
          <Composer />
        </Boundary>
      )}
    </LiveContext.Provider>
  );
}

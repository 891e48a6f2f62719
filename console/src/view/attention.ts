/** Makes a waiting request impossible to miss: the title counts it, and a notification says it when one was allowed. */
import { useEffect, useRef } from "preact/hooks";
import { requestTitle } from "../request/titles.js";
import type { Hub } from "../state/hub.js";
import { useSource } from "../state/source.js";

export function useAttention(hub: Hub, notify: boolean): void {
  const live = hub.current;
  useSource(hub.changed, hub.switched, live?.changed);
  const told = useRef(new Set<string>());
  const here = live?.conversation.pending.size ?? 0;
  const elsewhere = hub.sessions.reduce((sum, { session, pending }) => (session === live?.id ? sum : sum + pending), 0);
  const waiting = here + elsewhere;
  const title = hub.summary?.title ?? "turnwire";

  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Waits for you — ${title}` : `${title === "turnwire" ? "" : `${title} — `}turnwire`;
  }, [waiting, title]);

  useEffect(() => {
    if (!live?.caughtUp) return;
    for (const [id, row] of live.conversation.pending) {
      if (told.current.has(id)) continue;
      told.current.add(id);
      if (notify && document.hidden && "Notification" in window && Notification.permission === "granted") {
        new Notification("turnwire", { body: requestTitle(row), tag: id });
      }
    }
  });
}

/** Ask for leave to notify; returns whether it was given. */
export async function allowNotifications(): Promise<boolean> {
  return "Notification" in window && (await Notification.requestPermission()) === "granted";
}

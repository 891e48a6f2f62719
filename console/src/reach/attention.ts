/** Makes what waits impossible to miss: the title counts it, and notifications, once allowed, tell of every session. */
import { useEffect, useRef } from "preact/hooks";
import type { SessionSummary } from "turnwire-client";
import { news } from "../model/news.js";
import { requestTitle } from "../model/titles.js";
import { logOut } from "../state/access.js";
import type { Hub } from "../state/hub.js";
import { useSource } from "../state/source.js";
import { visibleCode } from "../text/visible.js";

const KEY = "turnwire.notify";

/** Its value where the worker notifies, so that the page need not. */
const PUSHED = "push";

const isPushed = () => localStorage.getItem(KEY) === PUSHED;
const granted = () => "Notification" in window && Notification.permission === "granted";

function tell(hub: Hub, session: string, title: string, body: string, tag: string): void {
  const shown = new Notification(visibleCode(title), { body: visibleCode(body), tag });
  shown.onclick = () => {
    window.focus();
    hub.select(session);
    shown.close();
  };
}

export function useAttention(hub: Hub, notify: boolean): void {
  const live = hub.current;
  useSource(hub.changed, hub.switched, live?.changed);
  const told = useRef(new Set<string>());
  const before = useRef<readonly SessionSummary[]>(hub.sessions);
  const here = Math.max(live?.conversation.pending.size ?? 0, live?.whole ? 0 : (hub.summary?.pending ?? 0));
  const elsewhere = hub.sessions.reduce((sum, { session, pending }) => (session === live?.id ? sum : sum + pending), 0);
  const waiting = here + elsewhere;
  const title = visibleCode(hub.summary?.title ?? (hub.view ? (hub.view.name === "usage" ? "Usage" : "History") : "turnwire"));

  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Waits for you — ${title}` : `${title === "turnwire" ? "" : `${title} — `}turnwire`;
  }, [waiting, title]);

  useEffect(() => {
    const speak = notify && document.hidden && granted() && !isPushed();
    for (const [id, row] of live?.caughtUp ? live.conversation.pending : []) {
      if (told.current.has(id)) continue;
      told.current.add(id);
      if (speak && live) tell(hub, live.id, hub.summary?.title ?? "turnwire", requestTitle(row), id);
    }
    const happened = before.current === hub.sessions ? [] : news(before.current, hub.sessions);
    before.current = hub.sessions;
    for (const { session, title: name, what } of happened) {
      // What the session on screen asks was told above, in its own words.
      if (speak && !(session === live?.id && what === "asks you")) tell(hub, session, name, what, `${session} ${what}`);
    }
  });
}

/** Whether notifications were wanted, and are allowed still. */
export function wantsNotifications(): boolean {
  return (localStorage.getItem(KEY) ?? "0") !== "0" && granted();
}

/** What makes notifications come without a page, too; in a file of its own. */
const reach = () => import("./reach.js");

/** Ask for leave to notify, or give it back; returns whether there will be notifications. */
export async function setNotifications(hub: Hub, wanted: boolean): Promise<boolean> {
  const given = wanted && "Notification" in window && (await Notification.requestPermission()) === "granted";
  localStorage.setItem(KEY, given ? "1" : "0");
  if (!given) void reach().then(({ unsubscribe }) => unsubscribe(hub));
  else
    void reach()
      .then(({ subscribe }) => subscribe(hub))
      .then((trouble) => (trouble === undefined ? localStorage.setItem(KEY, PUSHED) : hub.toast(trouble)));
  return given;
}

/** Tells the hub again of a browser that is pushed to, as it may have forgotten it; and shows what a notification opens. */
export function startReach(hub: Hub): void {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => hub.select(String(data.session)));
  if (isPushed() && granted())
    void hub.client.connected().then(
      async () => (await reach()).subscribe(hub),
      () => undefined,
    );
}

/** Ends this browser's login and what is pushed to it. */
export async function leave(hub: Hub): Promise<void> {
  if (isPushed()) await (await reach()).unsubscribe(hub);
  localStorage.removeItem(KEY);
  await logOut();
}

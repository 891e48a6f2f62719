/** Makes what waits impossible to miss: the title counts it, and notifications, once allowed, tell of every session. */
import { useEffect, useRef } from "preact/hooks";
import type { SessionSummary } from "turnwire-client";
import { news } from "../model/news.js";
import { requestTitle, sessionTitle } from "../model/titles.js";
import { logOut } from "../state/access.js";
import type { ConsoleState } from "../state/console_state.js";
import { inBrowser } from "../state/kept.js";
import { useSource } from "../state/source.js";
import { visibleCode } from "../text/visible.js";

/** Its value where the worker notifies, so that the page need not. */
const PUSHED = "push";

const isPushed = () => inBrowser.text("notify") === PUSHED;
const granted = () => "Notification" in window && Notification.permission === "granted";

function tell(hub: ConsoleState, session: string, title: string, body: string, tag: string): void {
  const shown = new Notification(visibleCode(title), { body: visibleCode(body), tag });
  shown.onclick = () => {
    window.focus();
    hub.select(session);
    shown.close();
  };
}

export function useAttention(hub: ConsoleState, notify: boolean): void {
  const live = hub.current;
  useSource(hub.changed, hub.switched, live?.changed);
  const told = useRef(new Set<string>());
  const before = useRef<readonly SessionSummary[]>(hub.sessions);
  const here = Math.max(live?.conversation.pending.size ?? 0, live?.whole ? 0 : (hub.summary?.pending ?? 0));
  const elsewhere = hub.sessions.reduce((sum, { session, pending }) => (session === live?.id ? sum : sum + pending), 0);
  const waiting = here + elsewhere;
  const title = hub.summary ? sessionTitle(hub.summary) : hub.view ? (hub.view.name === "usage" ? "Usage" : "History") : "turnwire";

  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Waits for you — ${title}` : `${title === "turnwire" ? "" : `${title} — `}turnwire`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    icon?.setAttribute("href", waiting > 0 ? "./favicon-waits.svg" : "./favicon.svg");
    // Of an installed page; a browser may refuse it.
    const badge = waiting > 0 ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.();
    badge?.catch(() => undefined);
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
  return (inBrowser.text("notify") ?? "0") !== "0" && granted();
}

/** What makes notifications come without a page, too; in a file of its own. */
const reach = () => import("./notifications.js");

/** Ask for leave to notify, or give it back; returns whether there will be notifications. */
export async function setNotifications(hub: ConsoleState, wanted: boolean): Promise<boolean> {
  const given = wanted && "Notification" in window && (await Notification.requestPermission()) === "granted";
  inBrowser.set("notify", given ? "1" : "0");
  if (!given) void reach().then(({ unsubscribe }) => unsubscribe(hub));
  else
    void reach()
      .then(({ subscribe }) => subscribe(hub))
      .then((trouble) => (trouble === undefined ? inBrowser.set("notify", PUSHED) : hub.toast(trouble)));
  return given;
}

/** Tells the hub again of a browser that is pushed to, as it may have forgotten it; and shows what a notification opens. */
export function startReach(hub: ConsoleState): void {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => hub.select(String(data.session)));
  if (isPushed() && granted())
    void hub.client.connected().then(
      async () => (await reach()).subscribe(hub),
      () => undefined,
    );
}

/** Ends this browser's login and what is pushed to it. */
export async function leave(hub: ConsoleState): Promise<void> {
  if (isPushed()) await (await reach()).unsubscribe(hub);
  inBrowser.set("notify", undefined);
  await logOut();
}

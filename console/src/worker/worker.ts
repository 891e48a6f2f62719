/**
 * The service worker: shows what is pushed, and answers from the notification by the hub's own WebSocket with this browser's
 * login: its cookie, and the key that the page has put into the cache. It serves no page; no page lies in its scope. Built as one
 * file without imports.
 */
/// <reference lib="webworker" />

/** What the sidecar sends: turnwire/outbound/push/message.py. */
interface Told {
  readonly session: string;
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly pending?: string;
  readonly allow?: string;
  readonly reject?: string;
}

interface Action {
  readonly action: "allow" | "reject";
  readonly title: string;
}

const scope = self as unknown as ServiceWorkerGlobalScope;
const PATIENCE_MS = 20_000;

scope.addEventListener("push", (event) => event.waitUntil(show(event.data)));
scope.addEventListener("notificationclick", (event) => {
  const told = event.notification.data as Told;
  event.notification.close();
  const option = event.action === "allow" ? told.allow : event.action === "reject" ? told.reject : undefined;
  event.waitUntil(option === undefined || told.pending === undefined ? open(told.session) : answer(told, told.pending, option));
});

async function show(data: PushMessageData | null): Promise<void> {
  const told = data?.json() as Told | undefined;
  // A page that is looked at shows it by itself.
  if (!told || (await pages()).some(({ focused }) => focused)) return;
  const actions: Action[] = [];
  if (told.allow !== undefined) actions.push({ action: "allow", title: "Allow" });
  if (told.reject !== undefined) actions.push({ action: "reject", title: "Deny" });
  await notify(told, told.body, { requireInteraction: told.pending !== undefined, renotify: true, actions });
}

function notify(told: Told, body: string, more: object = {}): Promise<void> {
  const { title, tag } = told;
  const icon = new URL("icon-192.png", location.href).href;
  return scope.registration.showNotification(title, { body, tag, icon, data: told, ...more });
}

function pages(): Promise<readonly WindowClient[]> {
  return scope.clients.matchAll({ type: "window", includeUncontrolled: true });
}

async function open(session: string): Promise<void> {
  const [page] = await pages();
  if (!page) return void (await scope.clients.openWindow(new URL(`./#/s/${encodeURIComponent(session)}`, location.href)));
  page.postMessage({ session });
  await page.focus();
}

/** Answers a request, and says so where it does not count: somebody was faster, or nobody waits any more. */
async function answer(told: Told, pending: string, option: string): Promise<void> {
  const refused = await respond({ type: "permission.respond", session: told.session, pending_id: pending, option_id: option });
  if (refused !== undefined) await notify({ session: told.session, title: told.title, tag: told.tag, body: "" }, refused);
}

/** The key of this browser's login, as state/access.ts keeps it. */
async function protocols(): Promise<string[]> {
  const key = await (await (await caches.open("turnwire")).match(new URL("push/key", location.href)))?.text();
  return key === undefined ? ["turnwire.v1"] : ["turnwire.v1", `turnwire.key.${key}`];
}

/** Does a command; gives the reason where it was not done. */
async function respond(command: object): Promise<string | undefined> {
  const offered = await protocols();
  const address = new URL("ws", location.href);
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  return new Promise((done) => {
    const socket = new WebSocket(address, offered);
    function end(reason: string | undefined): void {
      clearTimeout(late);
      socket.onclose = null;
      socket.close();
      done(reason);
    }
    const late = setTimeout(() => end("Not answered: turnwire is not reached from here."), PATIENCE_MS);
    socket.onclose = ({ code }) =>
      end(code === 4401 ? "Not answered: this browser is logged out." : "Not answered: turnwire is not reached from here.");
    socket.onopen = () => {
      socket.send(JSON.stringify({ id: "hello", type: "hello", name: "notification" }));
      socket.send(JSON.stringify({ id: "answer", ...command }));
    };
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(String(data)) as { type: string; id?: string; ok?: boolean; error?: { message: string } };
      if (frame.type === "reply" && frame.id === "answer") end(frame.ok ? undefined : `Not answered: ${frame.error?.message ?? ""}`);
    };
  });
}

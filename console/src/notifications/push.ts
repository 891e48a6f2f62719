/** Web push of this browser: its subscription, told to the hub. */
import { CommandFailed } from "turnwire-client";
import type { ConsoleState } from "../state/console_state.js";

const worker = () => navigator.serviceWorker.getRegistration("./push/");

/** Subscribes; gives the reason where that cannot be. What was subscribed already is told again, as the hub may be another. */
export async function subscribe(hub: ConsoleState): Promise<string | undefined> {
  if (!("serviceWorker" in navigator && "PushManager" in window)) {
    return "They come while a page is open. To be reached otherwise, open this page by https (on an iPhone, from the home screen).";
  }
  try {
    const told = await hub.client.command({ type: "push.key" });
    // No page lies in its scope: it shows what is pushed, and nothing else.
    await navigator.serviceWorker.register("./worker.js", { scope: "./push/" });
    const registration = await active();
    const key = bytes(told.key);
    let subscription = await registration.pushManager.getSubscription();
    if (subscription && !same(subscription.options.applicationServerKey, key)) {
      await subscription.unsubscribe();
      subscription = null;
    }
    subscription ??= await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint = "", keys = {} } = subscription.toJSON();
    await hub.client.command({ type: "push.subscribe", endpoint, p256dh: keys.p256dh ?? "", auth: keys.auth ?? "" });
    return undefined;
  } catch (error) {
    const why = error instanceof CommandFailed || error instanceof DOMException ? error.message : String(error);
    return `They come while a page is open; to be reached otherwise: ${why}`;
  }
}

/** Ends the subscription, here and at the hub. */
export async function unsubscribe(hub: ConsoleState): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registration = await worker();
  const subscription = await registration?.pushManager?.getSubscription();
  if (subscription) {
    await hub.client.command({ type: "push.unsubscribe", endpoint: subscription.endpoint }).catch(() => undefined);
    await subscription.unsubscribe();
  }
  await registration?.unregister();
}

/** The registration once its worker runs: before that nothing can be subscribed. */
async function active(): Promise<ServiceWorkerRegistration> {
  const registration = await worker();
  if (!registration) throw new Error("the service worker was not installed");
  const coming = registration.installing ?? registration.waiting;
  if (!registration.active && coming) {
    await new Promise<void>((done) => {
      coming.addEventListener("statechange", () => coming.state === "activated" && done());
      if (coming.state === "activated") done();
    });
  }
  return registration;
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function same(kept: ArrayBuffer | null, key: Uint8Array): boolean {
  return kept !== null && new Uint8Array(kept).join() === key.join();
}

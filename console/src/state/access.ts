/**
 * The login of this browser. The token in the address is traded for a cookie, which no script can read, and a key, which no page of
 * another port can read. The hub wants both. New tabs have both, too; the page keeps no token.
 */
import { inBrowser, inTab } from "./kept.js";

/** Where the service worker finds the key: it cannot read what pages store. */
const CACHE = "turnwire";
const CACHED_KEY = "push/key";

/** What the page offers to prove that it is logged in. */
export function keyProtocols(): string[] {
  const key = inBrowser.text("key");
  return key === undefined ? [] : [`turnwire.key.${key}`];
}

async function keepKey(key: string | undefined): Promise<void> {
  inBrowser.set("key", key);
  // Only where a service worker can be as well: over https, or on this machine.
  if (!("caches" in globalThis)) return;
  const cache = await caches.open(CACHE);
  if (key === undefined) await cache.delete(CACHED_KEY);
  else await cache.put(CACHED_KEY, new Response(key));
}

/** Logs in by what the printed address carries, and leaves in it the session that it names. */
export async function enter(): Promise<void> {
  let known: string | null = null;
  // A link may be followed while the hub answers: what counts is the address that is there afterwards.
  for (let token = carried(); token !== null && token !== known; token = carried()) {
    // Where the hub is not reached the address keeps it, and can be loaded again.
    if (!(await reached(token))) return;
    known = token;
  }
  // Where former versions kept it.
  for (const kept of [inBrowser, inTab]) kept.set("token", undefined);
  const url = new URL(location.href);
  const session = inFragment(url, "session");
  if (session !== null) url.hash = `#/s/${encodeURIComponent(session)}`;
  else if (inFragment(url, "token") !== null) url.hash = "";
  url.searchParams.delete("token");
  if (url.href !== location.href) history.replaceState(null, "", url);
}

/** The token in the address. */
function carried(): string | null {
  const url = new URL(location.href);
  return inFragment(url, "token") ?? url.searchParams.get("token");
}

/** Logs this browser in. A refusal shows when the page connects. Throws a TypeError where the hub is not reached. */
export async function logIn(token: string): Promise<void> {
  const reply = await fetch(new URL("login", document.baseURI), { method: "POST", headers: { authorization: `Bearer ${token}` } });
  if (reply.ok) await keepKey(((await reply.json()) as { key: string }).key);
}

/** Ends this browser's login: its cookie opens nothing any more, and its connections are closed. */
export async function logOut(): Promise<void> {
  const headers = { "x-turnwire-key": inBrowser.text("key") ?? "" };
  await fetch(new URL("logout", document.baseURI), { method: "POST", headers });
  await keepKey(undefined);
}

async function reached(token: string): Promise<boolean> {
  try {
    await logIn(token);
    return true;
  } catch {
    return false;
  }
}

function inFragment(url: URL, name: string): string | null {
  const found = new RegExp(`^#(?:[^/].*&)?${name}=([^&]+)`).exec(url.hash)?.[1];
  return found === undefined ? null : decoded(found);
}

/** A part of an address as text; as it stands where it is not well encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What this browser is called in the decisions that are taken in it, in whatever tab. */
export function frontendName(): string {
  if (ownName === undefined) {
    ownName = inBrowser.text("name") ?? `console-${Math.random().toString(36).slice(2, 6)}`;
    inBrowser.set("name", ownName);
  }
  return ownName;
}

let ownName: string | undefined;

/**
 * The token: taken from the address and traded for the hub's cookie, which no script can read and which new tabs have,
 * too. The page keeps none.
 */
const FORMER = "turnwire.token";

/** Logs in by what the printed address carries, and leaves in it the session that it names. */
export async function enter(): Promise<void> {
  let known: string | null = null;
  // A link may be followed while the hub answers: what counts is the address that is there afterwards.
  for (let token = carried(); token !== null && token !== known; token = carried()) {
    // Where the hub is not reached the address keeps it, and can be loaded again.
    if (!(await reached(token))) return;
    known = token;
  }
  for (const storage of [localStorage, sessionStorage]) storage.removeItem(FORMER);
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

/** Logs this browser in; what the hub refuses it says again to whoever connects without a cookie. Throws a TypeError where it is not reached. */
export async function logIn(token: string): Promise<void> {
  await fetch(new URL("login", document.baseURI), { method: "POST", headers: { authorization: `Bearer ${token}` } });
}

/** Ends this browser's login: its cookie opens nothing any more, and its connections are closed. */
export async function logOut(): Promise<void> {
  await fetch(new URL("logout", document.baseURI), { method: "POST" });
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

/** What this tab is called in the decisions it takes. */
export function frontendName(): string {
  const kept = sessionStorage.getItem("turnwire.name");
  if (kept !== null) return kept;
  const name = `console-${Math.random().toString(36).slice(2, 6)}`;
  sessionStorage.setItem("turnwire.name", name);
  return name;
}

/**
 * The token: taken from the address and traded for the hub's cookie, which no script can read and which new tabs have,
 * too. The page keeps none.
 */
const FORMER = "turnwire.token";

/** Logs in by what the printed address carries, and leaves in it the session that it names. */
export async function enter(): Promise<void> {
  const url = new URL(location.href);
  const [inHash, session, inQuery] = [inFragment(url, "token"), inFragment(url, "session"), url.searchParams.get("token")];
  const token = inHash ?? inQuery;
  // Where the hub is not reached the address keeps it, and can be loaded again.
  if (token !== null && !(await reached(token))) return;
  for (const storage of [localStorage, sessionStorage]) storage.removeItem(FORMER);
  if (inHash !== null || session !== null) url.hash = session === null ? "" : `#/s/${encodeURIComponent(session)}`;
  url.searchParams.delete("token");
  if (url.href !== location.href) history.replaceState(null, "", url);
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

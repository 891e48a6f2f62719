/**
 * The token: taken from the address once and removed from it, so that it is not shown. The tab keeps its own, as several
 * roles may be at work; the browser keeps the newest for this address, so that a bookmark opens in a new tab, too.
 */
const KEY = "turnwire.token";

/** Takes what the printed address carries, and leaves in it the session that it names. */
export function takeToken(): string | undefined {
  const url = new URL(location.href);
  const [inHash, session, inQuery] = [inFragment(url, "token"), inFragment(url, "session"), url.searchParams.get("token")];
  const token = inHash ?? inQuery;
  if (token !== null) keepToken(token);
  if (inHash !== null || session !== null) url.hash = session === null ? "" : `#/s/${encodeURIComponent(session)}`;
  url.searchParams.delete("token");
  if (url.href !== location.href) history.replaceState(null, "", url);
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
  localStorage.setItem(KEY, token);
}

/** Lets a tab whose token was refused take the newer one of another tab when it is loaded again. */
export function yieldToken(refused: string): void {
  const newest = localStorage.getItem(KEY);
  if (newest !== null && newest !== refused) sessionStorage.removeItem(KEY);
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

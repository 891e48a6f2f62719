/** The token: taken from the address once, kept for this tab, and removed from the address so that it is not shown. */
const KEY = "turnwire.token";

export function takeToken(): string | undefined {
  const url = new URL(location.href);
  const inHash = /^#(?:.*&)?token=([^&]+)/.exec(url.hash)?.[1];
  const given = url.searchParams.get("token") ?? (inHash === undefined ? null : decodeURIComponent(inHash));
  if (given !== null) {
    sessionStorage.setItem(KEY, given);
    url.searchParams.delete("token");
    if (inHash !== undefined) url.hash = "";
    history.replaceState(null, "", url);
  }
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

/** What this tab is called in the decisions it takes. */
export function frontendName(): string {
  const kept = sessionStorage.getItem("turnwire.name");
  if (kept !== null) return kept;
  const name = `console-${Math.random().toString(36).slice(2, 6)}`;
  sessionStorage.setItem("turnwire.name", name);
  return name;
}

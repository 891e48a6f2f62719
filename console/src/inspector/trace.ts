/** The id of a turn's trace: the sidecar makes it from the session, the turn and the line that began it (tracing/spans/maker.py). */

export async function traceId(session: string, turn: string, line: string): Promise<string | undefined> {
  // The browser computes digests for secure pages alone; this machine's own addresses count as secure.
  if (!("subtle" in crypto)) return undefined;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode([session, turn, line].join("\0")));
  return [...new Uint8Array(digest, 0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The address of a trace, when one is configured and it is one a browser may follow. */
export function traceAddress(template: string | undefined, id: string): string | undefined {
  return template && /^https?:\/\//i.test(template) ? template.replaceAll("{trace_id}", id) : undefined;
}

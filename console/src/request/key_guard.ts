/**
 * When a key may answer a request: only after a stretch without typing in which the request was in sight. Who is in the
 * middle of a sentence when a request appears must not answer it with the rest of the sentence. Pure: times are arguments.
 */

/** Milliseconds that a request must have been in sight, and the keyboard at rest, before a key answers. */
export const AT_REST = 400;

export class KeyGuard {
  private since: number;

  /** The request appeared, or was given the focus. */
  constructor(now: number) {
    this.since = now;
  }

  /** Something was typed, or the focus came: the stretch begins anew. */
  disturb(now: number): void {
    this.since = now;
  }

  ready(now: number): boolean {
    return now - this.since >= AT_REST;
  }
}

/** True of keys that write something, as those with which requests are answered do. */
export function writes({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey">): boolean {
  return !ctrlKey && !metaKey && (key.length === 1 || key === "Enter" || key === "Process" || key === "Dead");
}

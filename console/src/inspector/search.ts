/** Searches the log in slices, so that the page never freezes: the words are looked for in each event's JSON. */
import type { EventFrame } from "turnwire-client";

/** Longest stretch of work in milliseconds before the page gets its turn. */
const SLICE = 8;

export interface Filter {
  readonly type: string;
  readonly words: string;
}

export function matches(frame: EventFrame, { type, words }: Filter): boolean {
  if (type && frame.event.type !== type) return false;
  return !words || JSON.stringify(frame.event).toLowerCase().includes(words.toLowerCase());
}

/** Calls back with all hits; returns a function that stops the search. */
export function search(log: readonly EventFrame[], filter: Filter, done: (hits: EventFrame[]) => void): () => void {
  const hits: EventFrame[] = [];
  let at = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function slice(): void {
    const until = performance.now() + SLICE;
    while (at < log.length) {
      const frame = log[at++];
      if (frame && matches(frame, filter)) hits.push(frame);
      if (at % 32 === 0 && performance.now() > until) {
        timer = setTimeout(slice);
        return;
      }
    }
    done(hits);
  }
  slice();
  return () => clearTimeout(timer);
}

/**
 * Searches the log in slices, so that the page never freezes: the words are looked for in each event's JSON, and in texts
 * that stream across the pieces they come in; what is found then is the event with which the words are complete.
 */
import type { AgentEvent, EventFrame } from "turnwire-client";

/** Longest stretch of work in milliseconds before the page gets its turn. */
const SLICE = 8;

export interface Filter {
  readonly type: string;
  readonly words: string;
}

/** The piece of a text that an event brings, and which text it is of. */
function piece(event: AgentEvent): { of: string; text: string } | undefined {
  if (event.type !== "message_chunk" && event.type !== "reasoning") return undefined;
  const text = event.type === "reasoning" ? event.reasoning_text : event.text;
  return { of: `${event.type} ${event.parent_tool_call_id ?? ""} ${event.message_id ?? ""} ${event.block_index ?? ""}`, text };
}

export class Matcher {
  private readonly words: string;
  /** The last of what each text said, as long as it may be the beginning of the words. */
  private readonly tails = new Map<string, string>();

  constructor(private readonly filter: Filter) {
    this.words = filter.words.toLowerCase();
  }

  /** Takes the events in their order. */
  matches(frame: EventFrame): boolean {
    const { event } = frame;
    const across = this.words !== "" && this.across(event);
    if (this.filter.type && event.type !== this.filter.type) return false;
    return this.words === "" || across || JSON.stringify(event).toLowerCase().includes(this.words);
  }

  private across(event: AgentEvent): boolean {
    const found = piece(event);
    if (!found) return false;
    const tail = (event.type === "message_chunk" || event.type === "reasoning") && event.replace ? "" : (this.tails.get(found.of) ?? "");
    const joined = tail + found.text.toLowerCase();
    this.tails.set(found.of, joined.slice(Math.max(0, joined.length - this.words.length + 1)));
    return joined.includes(this.words);
  }
}

/** Calls back with all hits; returns a function that stops the search. */
export function search(log: readonly EventFrame[], filter: Filter, done: (hits: EventFrame[]) => void): () => void {
  const hits: EventFrame[] = [];
  const matcher = new Matcher(filter);
  let at = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function slice(): void {
    const until = performance.now() + SLICE;
    while (at < log.length) {
      const frame = log[at++];
      if (frame && matcher.matches(frame)) hits.push(frame);
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

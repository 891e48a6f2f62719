/** A session that is followed: its place in the log, and who wants to know. */
import type { CommandError } from "./errors.js";
import { type Cursor, Feed } from "./feed.js";
import type { EventFrame, GapFrame } from "./schema.js";

export interface Listener {
  /** New events in order; each is given exactly once. */
  onEvents: (events: EventFrame[]) => void;
  /** Everything up to now was given; what follows is live. Again after each reconnect. */
  onCaughtUp?: () => void;
  /** Events are gone. `restarted`: the log began anew, forget all that was given before. */
  onGap?: (gap: GapFrame, restarted: boolean) => void;
  /** So many events wait for us at the hub. */
  onLag?: (behind: number) => void;
  /** The hub refused the subscription. */
  onRefused?: (error: CommandError) => void;
}

type Ask = (after: number, epoch: string | undefined) => void;

export class Subscription {
  readonly session: string;
  private readonly listener: Listener;
  private readonly feed: Feed;
  private readonly leave: () => void;
  private ask: Ask | undefined;
  private open = true;

  constructor(session: string, listener: Listener, cursor: Cursor, leave: () => void) {
    this.session = session;
    this.listener = listener;
    this.feed = new Feed(cursor);
    this.leave = leave;
  }

  /** Where it is; a later subscription can go on from here. */
  get cursor(): Cursor {
    return this.feed.cursor;
  }

  /** How many events came twice and were dropped. */
  get repeats(): number {
    return this.feed.repeats;
  }

  close(): void {
    if (!this.open) return;
    this.open = false;
    this.leave();
  }

  /** @internal */
  begin(epoch: string, ask: Ask): void {
    this.ask = ask;
    this.feed.begin(epoch);
    const { seq, epoch: known } = this.feed.cursor;
    ask(seq, seq > 0 ? known : undefined);
  }

  /** @internal */
  events(events: readonly EventFrame[]): void {
    if (!this.open) return;
    const { fresh, hole } = this.feed.take(events);
    if (fresh.length > 0) this.listener.onEvents(fresh);
    if (hole && this.ask) {
      const { seq, epoch } = this.feed.cursor;
      this.ask(seq, epoch);
    }
  }

  /** @internal */
  gap(frame: GapFrame): void {
    if (!this.open) return;
    const restarted = this.feed.gap(frame);
    this.listener.onGap?.(frame, restarted);
  }

  /** @internal */
  caughtUp(): void {
    if (this.open) this.listener.onCaughtUp?.();
  }

  /** @internal */
  lag(behind: number): void {
    if (this.open) this.listener.onLag?.(behind);
  }

  /** @internal */
  refused(error: CommandError): void {
    if (this.open) this.listener.onRefused?.(error);
  }
}

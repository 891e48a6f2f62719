/**
 * One subscription's place in a session's log. Pure: takes what the hub sent, returns what is new.
 *
 * Numbers are contiguous within one epoch, except after a `gap` frame. A number seen before is dropped; a hole that no
 * gap frame announced means that something between here and the hub lost an event, and the feed asks to subscribe anew
 * from the cursor it has.
 */
import type { EventFrame, GapFrame } from "./schema.js";

/** The last number a reader has seen, in one life of the log. `epoch` is undefined before anything was seen. */
export interface Cursor {
  epoch: string | undefined;
  seq: number;
}

export interface Taken {
  /** New events, in order, without holes. */
  fresh: EventFrame[];
  /** True when a hole was found: subscribe again after the cursor. */
  hole: boolean;
}

export class Feed {
  private epoch: string | undefined;
  private seq: number;
  private afterGap = false;
  /** Events that came again and were dropped. */
  repeats = 0;

  constructor(cursor: Cursor) {
    this.epoch = cursor.seq > 0 ? cursor.epoch : undefined;
    this.seq = cursor.seq;
  }

  get cursor(): Cursor {
    return { epoch: this.epoch, seq: this.seq };
  }

  /** The connection is up and its hub counts in this epoch. */
  begin(epoch: string): void {
    if (this.seq === 0) this.epoch = epoch;
    this.afterGap = false;
  }

  take(events: readonly EventFrame[]): Taken {
    const fresh: EventFrame[] = [];
    for (const event of events) {
      if (!this.afterGap && event.seq <= this.seq) {
        this.repeats += 1;
        continue;
      }
      if (!this.afterGap && event.seq !== this.seq + 1) return { fresh, hole: true };
      this.afterGap = false;
      this.seq = event.seq;
      fresh.push(event);
    }
    return { fresh, hole: false };
  }

  /** Returns true when what was seen before belongs to another life of the log and no longer counts. */
  gap(frame: GapFrame): boolean {
    const restarted = this.seq > 0 && (frame.epoch !== this.epoch || frame.from <= this.seq);
    this.epoch = frame.epoch;
    this.seq = restarted ? 0 : frame.to;
    this.afterGap = true;
    return restarted;
  }
}

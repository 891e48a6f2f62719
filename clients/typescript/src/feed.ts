/**
 * A reader's place in a session's log. Pure: takes what the hub sent, says what is new.
 *
 * Numbers are contiguous within one epoch, except after a gap. A number seen before is passed over; a hole that no gap
 * announced means that an event was lost on the way, and is asked for again.
 */
import type { GapFrame } from "./schema.js";

/** The last number a reader has seen, in one life of the log: `epoch` is empty, and `seq` 0, while nothing was seen. */
export interface Cursor {
  readonly epoch: string;
  readonly seq: number;
}

/** From the first event. */
export const BEGINNING: Cursor = { epoch: "", seq: 0 };

/** Behind the last event that there is when the hub begins to send. */
export const LATEST: Cursor = { epoch: "", seq: -1 };

/** Events that are gone: the numbers `from` to `to`. */
export interface Gap {
  readonly session: string;
  readonly from: number;
  readonly to: number;
  /** The epoch that now counts. */
  readonly epoch: string;
  /** The log began anew: forget all that was given before. */
  readonly restarted: boolean;
}

export class Feed {
  private place: Cursor;
  private restarted = false;

  constructor(after: Cursor = BEGINNING) {
    this.place = after.seq > 0 ? after : after.seq < 0 ? LATEST : BEGINNING;
  }

  /** The last event that was new. */
  get cursor(): Cursor {
    return this.place;
  }

  /** The hub begins to send, counts in this epoch, and has `last` as its newest number. */
  begin(epoch: string, last = 0): void {
    this.restarted = false;
    if (this.place.seq <= 0) this.place = { epoch, seq: this.place.seq < 0 ? last : 0 };
  }

  /** Takes an event's number; `hole`: events are missing before it. */
  take(seq: number): "fresh" | "repeat" | "hole" {
    if (!this.restarted) {
      if (seq <= this.place.seq) return "repeat";
      if (seq !== this.place.seq + 1) return "hole";
    }
    this.restarted = false;
    this.place = { epoch: this.place.epoch, seq };
    return "fresh";
  }

  /**
   * Takes a gap: goes on behind it, or anew where it begins at or before what was seen, or in another life.
   *
   * Readers may share what the hub sends. Then `asked` is where another one asked it to begin; a gap of the other's alone is undefined.
   */
  gap({ session, from, to, epoch }: GapFrame, asked?: Cursor): Gap | undefined {
    const seen = this.place;
    if (asked && epoch === seen.epoch) {
      if (asked.seq > 0 && asked.epoch !== epoch) return undefined;
      if (from > asked.seq) {
        if (to <= seen.seq) return undefined;
        this.place = { epoch, seq: to };
        return { session, from: Math.max(from, seen.seq + 1), to, epoch, restarted: false };
      }
    }
    this.restarted = seen.seq > 0 && (epoch !== seen.epoch || from <= seen.seq);
    // A log that began anew counts from wherever it begins, whatever number the gap ends with.
    this.place = { epoch, seq: this.restarted ? 0 : to };
    return { session, from, to, epoch, restarted: this.restarted };
  }
}

/** How far each session was read, by the number of its last event; kept by the browser. */
import type { SessionSummary } from "turnwire-client";
import type { Kept } from "./kept.js";

/** Marks that are kept; the oldest go. */
const MOST = 1000;

export class Seen {
  private readonly marks: Map<string, number>;

  constructor(private readonly kept: Kept) {
    this.marks = new Map(kept.list("seen", isMark));
  }

  /** Something came since it was last on screen; false for one that never was. */
  unread({ session, last_seq }: SessionSummary): boolean {
    const mark = this.marks.get(session);
    return mark !== undefined && last_seq > mark;
  }

  mark(session: string, seq: number): void {
    if (this.marks.get(session) === seq) return;
    this.marks.delete(session);
    this.marks.set(session, seq);
    for (const oldest of this.marks.keys()) {
      if (this.marks.size <= MOST) break;
      this.marks.delete(oldest);
    }
    this.kept.setList("seen", [...this.marks]);
  }
}

const isMark = (value: unknown): value is [string, number] =>
  Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "number";

/** A session that is followed: its place in the log, and who wants to know. Pure but for its listener. */
import { ProtocolError, type TurnwireError } from "./errors.js";
import { type Cursor, Feed, type Gap } from "./feed.js";
import type { EventFrame, GapFrame } from "./schema.js";

/** So often a hole is asked for again before an event comes; then the hub is not to be understood. */
export const HOLES = 16;

export interface Listener {
  /** New events in order; each is given exactly once. */
  onEvents: (events: EventFrame[]) => void;
  /** Everything up to now was given; what follows is live. Again after each reconnect. */
  onCaughtUp?: () => void;
  /** Events are gone. `restarted`: the log began anew, forget all that was given before. */
  onGap?: (gap: Gap) => void;
  /** So many events wait for us at the hub. */
  onLag?: (behind: number) => void;
  /** It is over: CommandFailed when the hub refused it, AccessRefused or ProtocolError when the client has failed. */
  onFailed?: (error: TurnwireError) => void;
}

export class Following {
  readonly session: string;
  private readonly listener: Listener;
  private readonly feed: Feed;
  private readonly leave: (following: Following) => void;
  private state: "idle" | "asked" | "subscribed" | "closed" = "idle";
  private holes = 0;

  /** @internal */
  constructor(session: string, listener: Listener, after: Cursor, leave: (following: Following) => void) {
    this.session = session;
    this.listener = listener;
    this.feed = new Feed(after);
    this.leave = leave;
  }

  /** The last event that was given; what to pass to `follow` to go on from there, in another process too. */
  get cursor(): Cursor {
    return this.feed.cursor;
  }

  get closed(): boolean {
    return this.state === "closed";
  }

  /** Follow it no more: nothing is given after this. */
  close(): void {
    if (this.closed) return;
    this.end();
    this.leave(this);
  }

  /** @internal Give nothing more; the hub is not told. */
  end(): void {
    this.state = "closed";
  }

  /** @internal */
  fail(error: TurnwireError): void {
    if (this.closed) return;
    this.end();
    this.listener.onFailed?.(error);
  }

  /** @internal A subscription was asked for: what comes before it is confirmed belongs to an older one. */
  asked(): void {
    if (!this.closed) this.state = "asked";
  }

  /** @internal It was granted, in this life of the log. */
  confirmed(epoch: string): void {
    if (this.state !== "asked") return;
    this.state = "subscribed";
    this.feed.begin(epoch);
  }

  /** @internal The connection is gone. */
  lost(): void {
    if (!this.closed) this.state = "idle";
  }

  /** @internal Returns false when events are missing, and it must be asked for again. */
  events(events: readonly EventFrame[]): boolean {
    if (this.state !== "subscribed") return true;
    const fresh: EventFrame[] = [];
    let hole: EventFrame | undefined;
    for (const event of events) {
      const news = this.feed.take(event.seq);
      if (news === "fresh") fresh.push(event);
      if (news === "hole") {
        hole = event;
        break;
      }
    }
    if (fresh.length > 0) {
      this.holes = 0;
      this.listener.onEvents(fresh);
    }
    if (hole === undefined) return true;
    this.holes += 1;
    if (this.holes > HOLES) {
      const { seq } = this.feed.cursor;
      this.fail(new ProtocolError(`The hub sends ${this.session} from ${hole.seq} again and again, not what follows ${seq}.`));
    }
    return false;
  }

  /** @internal */
  gap(frame: GapFrame): void {
    if (this.state !== "subscribed") return;
    const gap = this.feed.gap(frame);
    this.listener.onGap?.(gap);
  }

  /** @internal */
  caughtUp(): void {
    if (this.state === "subscribed") this.listener.onCaughtUp?.();
  }

  /** @internal */
  lag(behind: number): void {
    if (this.state === "subscribed") this.listener.onLag?.(behind);
  }
}

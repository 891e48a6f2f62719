/** A session that is followed: its place in the log, and who wants to know. Pure but for its listener. */
import { ProtocolError, type TurnwireError } from "./errors.js";
import { BEGINNING, type Cursor, Feed, type Gap } from "./feed.js";
import type { EventFrame, GapFrame } from "./schema.js";

/** So often a hole is asked for again before an event comes; then the hub is not to be understood. */
export const HOLES = 16;

export interface Listener {
  /** New events in order; each is given exactly once. */
  onEvents: (events: EventFrame[]) => void;
  /** Everything up to now was given; what follows is live. Again after each reconnect. */
  onCaughtUp?: (seq: number) => void;
  /** Events are gone. `restarted`: the log began anew, forget all that was given before. */
  onGap?: (gap: Gap) => void;
  /** So many events wait for us at the hub; `reason` says why it cannot read them at present, where it cannot. */
  onLag?: (behind: number, reason?: string) => void;
  /** It is over: CommandFailed when the hub refused it, AccessRefused or ProtocolError when the client has failed. */
  onFailed?: (error: TurnwireError) => void;
  /** It is over without an error: it was closed, or the client was. */
  onClosed?: () => void;
}

/** What the hub was asked to send of a session, for one or more followings: from the earliest of their places. */
export interface Subscription {
  readonly cursor: Cursor;
  readonly followings: readonly Following[];
}

export class Following {
  readonly session: string;
  private readonly listener: Listener;
  private readonly feed: Feed;
  private readonly leave: (following: Following) => void;
  private state: "idle" | "asked" | "subscribed" | "closed" = "idle";
  private holes = 0;
  private subscription: Subscription | undefined;
  private askedAt: Cursor = BEGINNING;
  /** Is to be told that it has caught up. */
  private behind = true;

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

  /** @internal It is not asked for. */
  get idle(): boolean {
    return this.state === "idle";
  }

  /** Follow it no more: nothing is given after this. */
  close(): void {
    if (this.closed) return;
    this.end();
    this.leave(this);
    this.listener.onClosed?.();
  }

  /** @internal Give nothing more; the hub is not told. */
  end(): void {
    this.state = "closed";
  }

  /** @internal The client was closed. */
  over(): void {
    if (this.closed) return;
    this.end();
    this.listener.onClosed?.();
  }

  /** @internal */
  fail(error: TurnwireError): void {
    if (this.closed) return;
    this.end();
    this.listener.onFailed?.(error);
  }

  /** @internal A subscription was asked for: what comes before it is confirmed belongs to an older one. */
  asked(subscription: Subscription): void {
    if (this.state === "idle") this.behind = true;
    this.state = "asked";
    this.subscription = subscription;
    this.askedAt = this.feed.cursor;
  }

  /** @internal It was granted, in this life of the log. */
  confirmed(subscription: Subscription, epoch: string, last: number): void {
    if (this.state !== "asked" || this.subscription !== subscription) return;
    this.state = "subscribed";
    this.feed.begin(epoch, last);
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
    const cursor = this.subscription?.cursor;
    const gap = this.feed.gap(frame, cursor === this.askedAt ? undefined : cursor);
    if (gap) this.listener.onGap?.(gap);
  }

  /** @internal */
  caughtUp(seq: number): void {
    if (this.state !== "subscribed" || !this.behind) return;
    this.behind = false;
    this.listener.onCaughtUp?.(seq);
  }

  /** @internal */
  lag(behind: number, reason?: string): void {
    if (this.state !== "subscribed") return;
    this.behind = true;
    this.listener.onLag?.(behind, reason);
  }
}

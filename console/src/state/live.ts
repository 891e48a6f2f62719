/**
 * A session on screen: its conversation, and who watches which row. Events are folded as they come; views are told once
 * a frame, and only those whose row changed. While the log is caught up with, nothing is drawn but the progress; of a long one the end
 * is drawn first (model/tail.ts), live from then on, and the whole takes its place once it was read.
 */
import { BEGINNING, type Client, CommandFailed, type EventFrame, type Following, type SessionSummary } from "turnwire-client";
import { Conversation } from "../model/conversation.js";
import type { Row } from "../model/rows.js";
import type { Sought } from "../model/seek.js";
import { type Hole, Tail } from "../model/tail.js";
import type { Unsure } from "./attempt.js";
import { readEarlier } from "./earlier.js";
import { inBrowser, inTab } from "./kept.js";
import { Remarks } from "./remarks.js";
import { Source, type Unwatch } from "./source.js";
import { Viewed } from "./viewed.js";

/** Events from the end of a long log that are shown at once; more where these make too few rows. */
const NEWEST = 512;
/** A log is long that has so many times as many. */
const MANY = 4;

export class LiveSession {
  readonly id: string;
  conversation = new Conversation();
  /** Rows were added, or the conversation began anew. */
  readonly grown = new Source();
  /** What is known of the session as a whole changed. */
  readonly changed = new Source();
  /** Connection facts: catching up, lag. */
  readonly delivery = new Source();
  /** More of what comes before the end of a long log was read. */
  readonly reading = new Source();
  /** Something was sent from here. */
  readonly sent = new Source();
  /** The search in the conversation is wanted. */
  readonly finding = new Source();
  /** The draft of its prompt was written from elsewhere on the page. */
  readonly drafted = new Source();
  caughtUp = false;
  behind = 0;
  refused: string | undefined;
  /** A place that is to be shown once the log is caught up with. */
  sought: Sought | undefined;
  /** The row that was sought and is marked. */
  found: Row | undefined;
  /** It is to have the focus once it is drawn. */
  focusing: Row | undefined;
  /** Files whose changes the reader has looked at. */
  readonly viewed: Viewed;
  /** A shell in its workspace, which ends when the session is no longer kept. */
  shell: { close(): void } | undefined;
  /** A prompt that was put back because it is not known what came of it. */
  unsure: Unsure | undefined;
  /** Comments that go with the next prompt. */
  readonly remarks: Remarks;
  private readonly client: Client;
  /** What the list of sessions says of it. */
  private readonly summary: () => SessionSummary | undefined;
  /** The end of the log, while what comes before it is read. */
  private tail: Tail | undefined;
  private following: Following | undefined;
  private readonly rowWatchers = new Map<Row, Set<() => void>>();
  private scheduled = false;

  constructor(client: Client, id: string, summary: () => SessionSummary | undefined) {
    this.id = id;
    this.client = client;
    this.summary = summary;
    this.remarks = new Remarks(inTab, id);
    this.viewed = new Viewed(inBrowser, id);
    this.begin(NEWEST);
  }

  /** All of the conversation is there, and not its end alone. */
  get whole(): boolean {
    return this.tail === undefined;
  }

  /** How much of the log is there. */
  get read(): number {
    return this.tail ? this.tail.read : this.conversation.last;
  }

  /** Follows the log from so many events before its end; a shorter one from its beginning. */
  private begin(newest: number): void {
    const last = this.summary()?.last_seq ?? 0;
    const epoch = this.client.welcome?.epoch;
    const tail = epoch === undefined || last < MANY * newest ? undefined : new Tail();
    const after = tail && epoch !== undefined ? { epoch, seq: last - newest } : BEGINNING;
    this.tail = tail;
    this.following = this.client.follow(
      this.id,
      {
        onEvents: (events) => {
          for (const event of events) this.take(event);
          this.behind = 0;
          this.schedule();
        },
        onCaughtUp: () => {
          this.behind = 0;
          if (tail && tail === this.tail && !tail.shown) {
            const { state, pending = 0 } = this.summary() ?? {};
            if (!tail.show({ busy: state === "running" || state === "waiting", pending })) return this.begin(MANY * newest);
            this.conversation = tail.shown ?? this.conversation;
            void this.loadEarlier(tail, after.epoch, after.seq + 1);
          }
          this.caughtUp = true;
          this.delivery.emit();
          this.flush();
        },
        onGap: (gap) => {
          if (gap.restarted) {
            this.tail = undefined;
            this.conversation = new Conversation();
          } else {
            this.take({ from: gap.from, to: gap.to });
          }
          this.schedule();
        },
        onLag: (behind) => {
          this.behind = behind;
          this.delivery.emit();
        },
        onFailed: (error) => {
          // What has failed for all sessions is said once, for the connection.
          if (error instanceof CommandFailed) this.refused = error.message;
          this.delivery.emit();
        },
      },
      after,
    );
  }

  private take(entry: EventFrame | Hole): void {
    if (this.tail) this.tail.take(entry);
    else if ("event" in entry) this.conversation.fold(entry);
    else this.conversation.gap(entry.from, entry.to);
  }

  /** Reads what comes before the end, and shows the whole. */
  private async loadEarlier(tail: Tail, epoch: string, before: number): Promise<void> {
    const isWanted = () => this.tail === tail && this.following?.closed === false;
    try {
      const isAll = await readEarlier(this.client, this.id, { epoch, before }, (events, gap) => {
        if (!isWanted()) return false;
        tail.takeEarlier(events, gap);
        this.reading.emit();
        return true;
      });
      if (!isAll || !isWanted()) return;
      this.conversation = tail.finish();
      this.tail = undefined;
    } catch {
      if (!isWanted()) return;
      // As a hub without such pages is followed: all of it, from the beginning.
      this.caughtUp = false;
      this.conversation = new Conversation();
      this.begin(Number.POSITIVE_INFINITY);
    }
    this.grown.emit();
    this.changed.emit();
    this.delivery.emit();
  }

  watchRow(row: Row, watcher: () => void): Unwatch {
    const watchers = this.rowWatchers.get(row) ?? new Set();
    this.rowWatchers.set(row, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.rowWatchers.delete(row);
    };
  }

  /** Marks a row as the one that was sought and leaves the focus where it is, or, where it `takesFocus`, gives it that. It is marked instead of the one before; what it stands under is drawn anew, too. */
  mark(row: Row, takesFocus = true): void {
    const before = this.found;
    this.found = row;
    this.focusing = takesFocus ? row : undefined;
    const shown = [before, row, row.kind === "tool" ? row.leader : undefined];
    for (let outer = row.parent; outer; outer = outer.parent) shown.push(outer, outer.leader);
    for (const one of shown) for (const watcher of (one && this.rowWatchers.get(one)) ?? []) watcher();
  }

  close(): void {
    this.shell?.close();
    this.following?.close();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // A hidden page gets no frames, but its title must still say that somebody is asked.
    if (document.hidden) setTimeout(() => this.flush(), 200);
    else requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    this.scheduled = false;
    if (!this.caughtUp) return this.delivery.emit();
    const { rows, grown, session } = this.conversation.changes();
    for (const row of rows) for (const watcher of this.rowWatchers.get(row) ?? []) watcher();
    if (grown) this.grown.emit();
    if (session) this.changed.emit();
  }
}

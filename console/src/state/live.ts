/**
 * A session on screen: its conversation, and who watches which row. Events are folded as they come; views are told once
 * a frame, and only those whose row changed. While the log is caught up with, nothing is drawn but the progress.
 */
import { type Client, CommandFailed, type Following } from "turnwire-client";
import { Conversation } from "../model/conversation.js";
import type { Row } from "../model/rows.js";
import type { Sought } from "../model/seek.js";
import { Remarks } from "./remarks.js";
import { Source, type Unwatch } from "./source.js";
import { Viewed } from "./viewed.js";

export class LiveSession {
  readonly id: string;
  conversation = new Conversation();
  /** Rows were added, or the conversation began anew. */
  readonly grown = new Source();
  /** What is known of the session as a whole changed. */
  readonly changed = new Source();
  /** Connection facts: catching up, lag. */
  readonly delivery = new Source();
  /** Something was sent from here. */
  readonly sent = new Source();
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
  /** Comments that go with the next prompt. */
  readonly remarks: Remarks;
  private readonly following: Following;
  private readonly rowWatchers = new Map<Row, Set<() => void>>();
  private scheduled = false;

  constructor(client: Client, id: string) {
    this.id = id;
    this.remarks = new Remarks(sessionStorage, id);
    this.viewed = new Viewed(localStorage, id);
    this.following = client.follow(id, {
      onEvents: (events) => {
        for (const event of events) this.conversation.fold(event);
        this.behind = 0;
        this.schedule();
      },
      onCaughtUp: () => {
        this.caughtUp = true;
        this.behind = 0;
        this.delivery.emit();
        this.flush();
      },
      onGap: (gap) => {
        if (gap.restarted) this.conversation = new Conversation();
        else this.conversation.gap(gap.from, gap.to);
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
    });
  }

  watchRow(row: Row, watcher: () => void): Unwatch {
    const watchers = this.rowWatchers.get(row) ?? new Set();
    this.rowWatchers.set(row, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0) this.rowWatchers.delete(row);
    };
  }

  /** Marks a row as the one that was sought, instead of the one before; what it stands under is drawn anew, too. */
  mark(row: Row): void {
    const before = this.found;
    this.found = this.focusing = row;
    const shown = [before, row, row.kind === "tool" ? row.leader : undefined];
    for (let outer = row.parent; outer; outer = outer.parent) shown.push(outer, outer.leader);
    for (const one of shown) for (const watcher of (one && this.rowWatchers.get(one)) ?? []) watcher();
  }

  close(): void {
    this.following.close();
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

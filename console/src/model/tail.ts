/**
 * The end of a long log, shown at once, while what came before it is read. Of the end alone those rows are made that it tells all of:
 * what may have begun before makes none until the whole is known. Then the whole conversation takes its place. Pure.
 */
import type { AgentEvent, EventFrame, NormalizedPayload } from "turnwire-client";
import { cardOf } from "./cards.js";
import { Conversation } from "./conversation.js";

/** Numbers that are gone. */
export interface Hole {
  readonly from: number;
  readonly to: number;
}

/** What the list of sessions says of one. */
export interface Present {
  /** A turn is under way. */
  readonly busy: boolean;
  /** So many requests wait. */
  readonly pending: number;
}

/** Rows that are a screen full, if not more. */
const SCREEN = 24;

export class Tail {
  /** What the end alone tells, once it was drawn. */
  shown: Conversation | undefined;
  /** The whole, as far as it was read from its beginning. */
  private readonly whole = new Conversation();
  private readonly entries: Array<EventFrame | Hole> = [];
  /** The message that was being said when the end begins: pieces of it may be missing. */
  private opening: string | undefined;
  /** What is said from now on began here. */
  private clean = false;
  /** A turn began or ended here. */
  private bounded = false;
  /** With so many rows in sight, something quiet may belong to a row that is not. */
  private doubt: number | undefined;

  /** The newest number there is; and how far the whole was read. */
  get last(): number {
    const newest = this.entries.at(-1);
    return newest === undefined ? 0 : "seq" in newest ? newest.seq : newest.to;
  }

  get read(): number {
    return this.whole.last;
  }

  /** Takes what is new at the end. */
  take(entry: EventFrame | Hole): void {
    this.entries.push(entry);
    if (this.shown) this.put(this.shown, entry);
  }

  /** Takes what comes next from the beginning. */
  takeEarlier(events: readonly EventFrame[], hole: Hole | null): void {
    if (hole) this.whole.gap(hole.from, hole.to);
    for (const event of events) this.whole.fold(event);
  }

  /** Makes the rows; false where they are too few to be shown, or a request that waits is not among them. */
  show({ busy, pending }: Present, enough = SCREEN): boolean {
    const made = new Conversation();
    const bounds = this.entries.flatMap((entry) =>
      "event" in entry && (entry.event.type === "turn_started" || entry.event.type === "complete") ? [entry.event.type] : [],
    );
    if (bounds.length > 0 ? bounds[0] === "complete" : busy) made.presume();
    for (const entry of this.entries) this.put(made, entry);
    if (made.rows.length < enough || made.pending.size < pending) return false;
    this.shown = made;
    return true;
  }

  /** Returns the whole conversation, once all that comes before the end was taken. */
  finish(): Conversation {
    const { whole, shown } = this;
    if (shown) whole.takePlaceOf(shown);
    for (const entry of this.entries) {
      if ("event" in entry) {
        if (entry.seq > whole.last) whole.fold(entry);
      } else if (entry.to > whole.last) {
        whole.gap(Math.max(entry.from, whole.last + 1), entry.to);
      }
    }
    return whole;
  }

  private put(made: Conversation, entry: EventFrame | Hole): void {
    if (!("event" in entry)) made.gap(entry.from, entry.to);
    else if (this.tells(made, entry.event)) made.fold(entry);
    else {
      made.note(entry);
      if (made.running && entry.event.type.startsWith("tool_")) made.running.whole = false;
    }
  }

  /** Whether the end tells all of the row that this event makes, or changes. */
  private tells(made: Conversation, event: AgentEvent): boolean {
    const parent = "parent_tool_call_id" in event ? event.parent_tool_call_id : undefined;
    if (parent !== undefined && !made.knows(parent)) return false;
    const begun = made.rows.length > 0;
    switch (event.type) {
      case "turn_started":
      case "complete":
        this.clean = this.bounded = true;
        return true;
      case "user_message":
        // One that waits is said later; one that came without its `queued` may be waiting, too.
        if (parent !== undefined || (event.uuid !== undefined && made.state.queue.has(event.uuid))) return true;
        if (!this.bounded && event.synthetic !== true) return false;
        this.clean = true;
        return true;
      case "tool_call":
        if (parent !== undefined) return true;
        if (!this.clean) this.opening ??= event.message_id;
        this.clean = true;
        return this.tellsCall(made, event.normalized);
      case "message_chunk":
      case "reasoning":
        return parent !== undefined || this.tellsText(event.message_id);
      case "permission_request":
      case "question_request":
      case "permission_resolved":
      case "permission_cancelled":
        return true;
      case "tool_update":
      case "agent_plan":
      case "task_update":
        if (event.tool_call_id === undefined) return begun;
        if (made.knows(event.tool_call_id)) return true;
        this.doubt = made.rows.length;
        return false;
      case "api_retry":
      case "available_commands":
      case "compact_boundary":
      case "consolidation":
      case "context_window":
      case "cut":
      case "error":
      case "history":
      case "hook_activity":
      case "injected":
      case "malformed":
      case "notice":
      case "process_status":
      case "queued":
      case "rate_limit":
      case "retraction":
      case "sandbox_denied":
      case "session_info":
      case "session_mode":
      case "session_options":
      case "session_status":
      case "trace_context":
      case "unknown":
      case "withdrawn":
        return begun && made.rows.length !== this.doubt;
      default:
        event satisfies never; // An event of a newer hub makes no row.
        return true;
    }
  }

  /** A call may share the row of one before it; and what is to be done may have been named before. */
  private tellsCall(made: Conversation, payload: NormalizedPayload | undefined): boolean {
    const card = cardOf(payload);
    const isShared = card?.shares !== undefined;
    const isNamed = !payload || (card?.todos?.(payload).every((item) => item.description) ?? true);
    if (isNamed && (!isShared || (made.rows.length > 0 && made.rows.length !== this.doubt))) return true;
    this.doubt = made.rows.length;
    return false;
  }

  private tellsText(message: string | undefined): boolean {
    if (!this.clean && message !== undefined) {
      this.opening ??= message;
      this.clean = message !== this.opening;
    }
    return this.clean && (message === undefined || message !== this.opening);
  }
}

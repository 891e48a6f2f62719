/**
 * Folds a session's events into rows, one event at a time and in constant time each: 100,000 events cost 100,000 small
 * steps, and a new event never makes the old ones be looked at again. Pure: no DOM, no clock.
 */
import type {
  AgentEvent,
  Cut,
  EventFrame,
  MessageChunk,
  PermissionRequest,
  PermissionResolved,
  Reasoning,
  ToolCall,
  ToolUpdate,
  UserMessage,
} from "turnwire-client";
import { between } from "../text/format.js";
import { cardOf, pathOf } from "./cards.js";
import { Changes } from "./changes.js";
import { minorEvent } from "./minor_events.js";
import type { FactRow, Made, NewRow, RequestRow, Row, RowView, TextRow, ToolRow, Turn, TurnRow } from "./rows.js";
import { SessionState } from "./session.js";
import { isAsked, newTool } from "./tool_row.js";
import { closeSpan, endTurn, modelSpoke, newTurn, openSpan } from "./turns.js";

/** Commands in one row after its first. */
const MOST_COMMANDS = 49;

/** What changed since it was last asked. */
export interface News {
  readonly rows: ReadonlySet<Row>;
  /** Rows were added to the main thread. */
  readonly grown: boolean;
  readonly session: boolean;
}

export class Conversation {
  /** The main thread. Rows of subagents are the children of their tool row. */
  readonly rows: Row[] = [];
  /** Every event, in order. */
  readonly log: EventFrame[] = [];
  readonly turns: Turn[] = [];
  readonly state = new SessionState();
  /** The files it changed. */
  readonly files = new Changes();
  /** Requests that wait for a human, oldest first. */
  readonly pending = new Map<string, RequestRow>();
  private readonly tools = new Map<string, ToolRow>();
  private readonly requests = new Map<string, RequestRow>();
  private readonly blocks = new Map<string, TextRow>();
  /** Calls of the turn that are not over, and those of them that were asked about. */
  private readonly begun = new Set<ToolRow>();
  private readonly asked = new Set<ToolRow>();
  private readonly messages = new Map<string, Row[]>();
  private readonly turnRows = new Map<string, TurnRow>();
  private readonly open = new Map<ToolRow | undefined, TextRow>();
  /** Prompts that wait for their turn, by UUID. */
  private readonly held = new Map<string, EventFrame>();
  private changed = new Set<Row>();
  private grown = false;
  private folded = 0;
  private sessionChanged = false;
  private retry: FactRow | undefined;
  private leading: ToolRow | undefined;
  /** The message that the next prompt follows, as the hub takes it to go back to. */
  private end: string | undefined;
  /** What the reader did to rows that are still to be made. */
  private readonly views = new Map<number, RowView>();

  get running(): Turn | undefined {
    const turn = this.turns.at(-1);
    return turn && turn.end === undefined ? turn : undefined;
  }

  /** Hand over what has changed, and forget it. */
  changes(): News {
    const changes = { rows: this.changed, grown: this.grown, session: this.sessionChanged };
    this.changed = new Set();
    this.grown = this.sessionChanged = false;
    return changes;
  }

  /** The number up to which it was folded. */
  get last(): number {
    return this.folded;
  }

  /** Whether a call is known by now. */
  knows(tool: string): boolean {
    return this.tools.has(tool);
  }

  /** A turn is under way that began before all that is folded. */
  presume(): void {
    this.turns.push({ ...newTurn("", "user", 0, ""), whole: false });
    this.sessionChanged = true;
  }

  /** Rows that this one will have, too, are as the reader left them there. */
  takePlaceOf(other: Conversation): void {
    const take = (rows: readonly Row[]) => {
      for (const row of rows) {
        this.views.set(row.key, row.view);
        if (row.kind === "tool") take(row.children);
      }
    };
    take(other.rows);
    this.state.nameAll(other.state);
  }

  gap(from: number, to: number): void {
    this.folded = to;
    const frame = { seq: to, ts: this.log.at(-1)?.ts ?? "" };
    this.add(frame, undefined, { kind: "gap", from, to });
  }

  /** Takes an event that shall make no row. */
  note(frame: EventFrame): void {
    this.folded = frame.seq;
    this.log.push(frame);
    if (this.state.fold(frame.event)) this.sessionChanged = true;
  }

  fold(frame: EventFrame): void {
    this.note(frame);
    const { event } = frame;
    switch (event.type) {
      case "message_chunk":
      case "reasoning":
        return this.text(frame, event);
      case "tool_call":
        return this.toolCall(frame, event);
      case "tool_update":
        return this.toolUpdate(frame, event);
      case "turn_started": {
        const turn = newTurn(
          event.operation_id ?? `turn at ${frame.seq}`,
          event.origin,
          frame.seq,
          frame.ts,
          this.state.traceOf(event.prompts),
        );
        this.turns.push(turn);
        this.turnRows.set(turn.id, this.add(frame, undefined, { kind: "turn", turn }));
        this.serve(event.prompts);
        this.sessionChanged = true;
        return;
      }
      case "complete":
        return this.complete(frame, event);
      case "user_message": {
        // What waits stands above the field; it takes its place in the conversation when the agent is given it.
        if (event.uuid !== undefined && this.state.queue.has(event.uuid)) this.held.set(event.uuid, frame);
        else this.say(frame, event);
        return;
      }
      case "permission_request":
      case "question_request":
        return this.ask(frame, event);
      case "permission_resolved":
        if (event.unasked) this.ask(frame, decided(event));
        return this.answer(frame, event.pending_id, (row) => {
          row.resolved = event;
          if (!row.tool || event.updated_input === undefined || row.request.type === "question_request") return;
          row.tool.edited = true;
          this.touch(row.tool, frame.seq);
        });
      case "permission_cancelled":
        return this.answer(frame, event.pending_id, (row) => (row.cancelled = event));
      case "agent_plan": {
        const tool = event.tool_call_id === undefined ? undefined : this.tools.get(event.tool_call_id);
        if (!tool) return void this.add(frame, this.thread(event.parent_tool_call_id), { kind: "plan", plan: event });
        tool.plan = event;
        return this.touch(tool, frame.seq);
      }
      case "task_update":
        return this.task(frame, event);
      case "retraction":
        for (const id of [...(event.message_ids ?? []), ...(event.message_uuids ?? [])]) this.withdraw(id, frame.seq);
        return;
      case "api_retry":
        if (!this.retry) this.retry = this.add(frame, undefined, { kind: "fact", event, over: false });
        else this.retry.event = event;
        return this.touch(this.retry, frame.seq);
      case "sandbox_denied":
      case "compact_boundary":
        return void this.add(frame, undefined, { kind: "fact", event, over: true });
      case "error":
        this.toldBy(event.error, frame.seq);
        return void this.add(frame, this.thread(event.parent_tool_call_id), { kind: "fact", event, over: true });
      case "unknown":
      case "malformed":
        return void this.add(frame, undefined, { kind: "unrecognised", event });
      case "process_status":
      case "rate_limit": {
        const quiet = minorEvent(event);
        if (quiet) return this.minorEvent(frame, quiet);
        const last = this.rows.at(-1);
        if (
          event.type === "process_status" &&
          last?.kind === "fact" &&
          last.event.type === "error" &&
          last.event.code === "process_exited"
        ) {
          last.exit = event;
          return this.touch(last, frame.seq);
        }
        return void this.add(frame, undefined, { kind: "fact", event, over: true });
      }
      case "cut":
        return this.cut(frame, event);
      case "notice": {
        const quiet = minorEvent(event);
        if (quiet) return this.minorEvent(frame, quiet);
        return void this.add(frame, undefined, { kind: "notice", label: event.kind, level: event.level, text: event.text });
      }
      case "history":
      case "session_status":
      case "session_mode":
      case "hook_activity":
      case "queued":
      case "injected":
      case "withdrawn":
      case "consolidation": {
        if (event.type === "injected") this.serve(event.prompts);
        if (event.type === "withdrawn") this.held.delete(event.prompt ?? "");
        const quiet = minorEvent(event);
        if (quiet) this.minorEvent(frame, quiet);
        return;
      }
      case "session_info":
      case "session_options":
      case "trace_context":
      case "available_commands":
      case "context_window":
        return; // Of the session as a whole.
      default:
        event satisfies never; // An event of a newer hub: it stands in the log, and makes no row.
    }
  }

  private say(frame: EventFrame, event: UserMessage): void {
    const { text, parts = [], uuid, synthetic = false } = event;
    const thread = this.thread(event.parent_tool_call_id);
    const prompt = !synthetic && thread === undefined;
    const back = prompt ? this.end : undefined;
    // Another one joins the turn that this one begins: going back to before it would lose this one, too.
    if (prompt) this.end = undefined;
    this.add(frame, thread, { kind: "user", text, parts, uuid, synthetic, back });
  }

  private serve(prompts: readonly string[] | undefined): void {
    for (const uuid of prompts ?? []) {
      const frame = this.held.get(uuid);
      if (frame?.event.type === "user_message") this.say(frame, frame.event);
      this.held.delete(uuid);
    }
  }

  private text(frame: EventFrame, event: MessageChunk | Reasoning): void {
    const thread = this.thread(event.parent_tool_call_id);
    const piece = event.type === "reasoning" ? event.reasoning_text : event.text;
    const kind = event.type === "reasoning" ? "reasoning" : "text";
    this.modelSpoke(frame, event);
    const id = event.message_id === undefined ? undefined : `${event.message_id} ${event.block_index ?? ""} ${kind}`;
    const last = this.open.get(thread);
    let row = id === undefined ? (last?.kind === kind && last.live ? last : undefined) : this.blocks.get(id);
    if (row) {
      row.text = event.replace ? piece : row.text + piece;
    } else {
      const source = event.type === "message_chunk" ? event.source : undefined;
      const redacted = event.type === "reasoning" && event.redacted === true;
      row = this.add(frame, thread, { kind, text: piece, live: false, redacted, source, told: false });
      if (id !== undefined) this.blocks.set(id, row);
      if (event.message_id !== undefined) this.belongs(event.message_id, row);
    }
    row.live = event.is_delta === true;
    if (row.live) this.open.set(thread, row);
    this.touch(row, frame.seq);
  }

  private toolCall(frame: EventFrame, event: ToolCall): void {
    this.modelSpoke(frame, event);
    const known = this.tools.get(event.tool_call_id);
    if (known) {
      known.payload = this.state.named(event.normalized);
      return this.touch(known, frame.seq);
    }
    const row = this.add(frame, this.thread(event.parent_tool_call_id), newTool(event.tool_call_id, event));
    row.payload = this.state.named(row.payload);
    const turn = this.running;
    if (turn) {
      turn.tools += 1;
      const what = { label: event.tool_title, path: pathOf(row.payload), seq: frame.seq, nested: row.parent !== undefined };
      row.span = openSpan(turn, { kind: "tool", ...what }, frame.ts);
    }
    if (event.message_id !== undefined) this.belongs(event.message_id, row);
    this.begun.add(row);
    if (this.asked.size > 0) this.order(frame.seq);
  }

  private toolUpdate(frame: EventFrame, event: ToolUpdate): void {
    const row = this.tools.get(event.tool_call_id) ?? this.add(frame, undefined, newTool(event.tool_call_id, event));
    row.name = event.tool_name ?? row.name;
    row.title = event.tool_title ?? row.title;
    row.status = event.tool_status;
    row.payload = this.state.named(event.normalized) ?? row.payload;
    row.update = event;
    row.truncated = event.truncated ?? row.truncated;
    if (event.tool_status !== "running") {
      closeSpan(this.running, row.span, frame.ts, event.tool_status === "error");
      const open = this.open.get(row);
      if (open) open.live = false;
      this.begun.delete(row);
      if (this.asked.delete(row)) this.order(frame.seq);
    }
    if (row.behind) this.order(frame.seq);
    if (this.files.note(row, this.running)) this.sessionChanged = true;
    this.touch(row, frame.seq);
  }

  /**
   * Tells which calls have not begun: an agent that asks about a call waits with those after it, until it is answered, and with
   * those of the same message until it is over. What has told anything of its own runs.
   */
  private order(seq: number): void {
    const asked = [...this.asked];
    for (const row of this.begun) {
      const behind =
        row.update === undefined &&
        row.request === undefined &&
        asked.some(
          (one) =>
            one.seq < row.seq && one.parent === row.parent && (isAsked(one) || (one.message !== undefined && one.message === row.message)),
        );
      if (behind === row.behind) continue;
      row.behind = behind;
      this.touch(row, seq);
    }
  }

  /** The conversation went back: the turns after that place count no more, and one of them up to it only. */
  private cut(frame: EventFrame, { text, at, within, void_turns }: Cut): void {
    const gone = new Set(void_turns);
    const here = (row: Row) =>
      at !== undefined && ((row.kind === "user" && row.uuid === at) || this.messages.get(at)?.includes(row) === true);
    let turn: string | undefined;
    let beyond = false;
    for (const row of this.rows) {
      if (row.kind === "turn") [turn, beyond] = [row.turn.id, false];
      if (turn !== undefined && turn === within && here(row)) beyond = true;
      else if (turn !== undefined && (gone.has(turn) || (turn === within && beyond)) && !row.voided) {
        row.voided = true;
        this.touch(row, row.lastSeq);
      }
      if (row.kind === "end") turn = undefined;
    }
    this.end = at;
    this.add(frame, undefined, { kind: "notice", label: "cut", level: "info", text });
  }

  private complete(frame: EventFrame, event: Extract<AgentEvent, { type: "complete" }>): void {
    this.end = event.data.resume_token ?? event.data.last_message_uuid ?? event.last_message_uuid;
    const row = event.operation_id === undefined ? undefined : this.turnRows.get(event.operation_id);
    const turn = row?.turn ?? (event.operation_id !== undefined && this.running?.id === "" ? this.running : undefined);
    for (const open of this.open.values()) {
      open.live = false;
      this.touch(open, frame.seq);
    }
    this.open.clear();
    this.begun.clear();
    this.asked.clear();
    this.quietRetry(frame.seq);
    this.serve(event.data.prompts);
    if (!turn) return;
    endTurn(turn, frame.ts, event.data, event.error);
    if (row) this.touch(row, frame.seq);
    const { paths, added, removed } = this.files.totalOf(turn);
    this.add(frame, undefined, { kind: "end", turn, files: paths.size, added, removed });
  }

  private ask(frame: EventFrame, event: RequestRow["request"]): void {
    if (this.requests.has(event.pending_id)) return;
    const tool = event.tool_call_id === undefined ? undefined : this.tools.get(event.tool_call_id);
    const row = this.add(frame, undefined, {
      kind: "request",
      request: event,
      tool,
      resolved: undefined,
      cancelled: undefined,
      span: undefined,
    });
    if (tool) {
      tool.request = row;
      if (this.begun.has(tool)) this.asked.add(tool);
      this.touch(tool, frame.seq);
    }
    const label = event.type === "permission_request" ? event.permission_title : (event.message ?? "question");
    const path = pathOf(tool?.payload);
    if (this.running) row.span = openSpan(this.running, { kind: "human", label, path, seq: frame.seq, nested: false }, frame.ts);
    this.order(frame.seq);
    this.requests.set(event.pending_id, row);
    this.pending.set(event.pending_id, row);
    this.sessionChanged = true;
  }

  private answer(frame: EventFrame, id: string, note: (row: RequestRow) => void): void {
    const row = this.requests.get(id);
    if (!row) return;
    note(row);
    if (row.tool?.span) row.tool.span.waited += between(row.ts, frame.ts);
    closeSpan(this.running, row.span, frame.ts, row.resolved?.behavior === "deny");
    if (row.tool) this.touch(row.tool, frame.seq);
    if (this.pending.delete(id)) this.sessionChanged = true;
    this.order(frame.seq);
    this.touch(row, frame.seq);
  }

  private task(frame: EventFrame, event: Extract<AgentEvent, { type: "task_update" }>): void {
    const tool = event.tool_call_id === undefined ? undefined : this.tools.get(event.tool_call_id);
    if (tool) {
      tool.task = event;
      this.touch(tool, frame.seq);
    }
    const quiet = minorEvent(event);
    // A tool call that still runs shows its task's news itself.
    if (quiet && (!tool || (tool.status !== "running" && event.task_status !== "running"))) this.minorEvent(frame, quiet);
  }

  private minorEvent(frame: EventFrame, { label, text }: { label: string; text: string }): void {
    const entry = { seq: frame.seq, label, text };
    const last = this.rows.at(-1);
    if (last?.kind !== "minorEvents") return void this.add(frame, undefined, { kind: "minorEvents", entries: [entry] });
    last.entries.push(entry);
    this.touch(last, frame.seq);
  }

  private withdraw(id: string, seq: number): void {
    for (const row of this.messages.get(id) ?? []) {
      row.withdrawn = true;
      this.touch(row, seq);
    }
  }

  private modelSpoke(frame: EventFrame, event: MessageChunk | Reasoning | ToolCall): void {
    this.quietRetry(frame.seq);
    if (event.parent_tool_call_id === undefined && this.running) {
      modelSpoke(this.running, event.message_id, frame.seq, frame.ts);
    }
  }

  private quietRetry(seq: number): void {
    if (!this.retry) return;
    this.retry.over = true;
    this.touch(this.retry, seq);
    this.retry = undefined;
  }

  private thread(parent: string | undefined): ToolRow | undefined {
    return parent === undefined ? undefined : this.tools.get(parent);
  }

  private belongs(messageId: string, row: Row): void {
    const rows = this.messages.get(messageId);
    if (rows) rows.push(row);
    else this.messages.set(messageId, [row]);
  }

  private add<Fields extends NewRow>({ seq, ts }: { seq: number; ts: string }, parent: ToolRow | undefined, fields: Fields): Made<Fields> {
    const view = this.views.get(seq) ?? {};
    this.views.delete(seq);
    const row = { key: seq, rev: 0, seq, lastSeq: seq, ts, parent, withdrawn: false, voided: false, view, ...fields } as Row;
    (parent ? parent.children : this.rows).push(row);
    if (row.kind === "tool") this.tools.set(row.id, row);
    const open = this.open.get(parent);
    if (open) {
      open.live = false;
      this.open.delete(parent);
      this.touch(open, open.lastSeq);
    }
    if (parent) this.touch(parent, seq);
    else {
      this.grown = true;
      this.join(row);
    }
    return row as Made<Fields>;
  }

  /** Calls that only look at things share a row while nothing comes between them; so do those that change the to-do list. */
  private join(row: Row): void {
    const shared = row.kind === "tool" ? cardOf(row.payload)?.shares : undefined;
    if (row.kind !== "tool" || shared === undefined) {
      this.endRun(row.seq);
    } else if (
      !this.leading ||
      cardOf(this.leading.payload)?.shares !== shared ||
      // Until something else comes, each command is drawn; the list leaves out rows that are far away, and not parts of one.
      (shared === "commands" && this.leading.group.length >= MOST_COMMANDS)
    ) {
      this.endRun(row.seq);
      this.leading = row;
    } else {
      row.leader = this.leading;
      row.leader.group.push(row);
      this.touch(row.leader, row.seq);
    }
  }

  /** Something else comes after calls that share a row: commands that went well are folded from now on. */
  private endRun(seq: number): void {
    const { leading } = this;
    this.leading = undefined;
    if (!leading || leading.group.length === 0 || cardOf(leading.payload)?.shares !== "commands") return;
    leading.over = true;
    this.touch(leading, seq);
  }

  /** The agent's program says an error in words of its own, before the error comes. */
  private toldBy(error: string, seq: number): void {
    for (const row of this.rows.slice(-3)) {
      if (row.kind !== "text" || row.source !== "synthetic" || row.text.trim() !== error.trim()) continue;
      row.told = true;
      this.touch(row, seq);
    }
  }

  private touch(row: Row, seq: number): void {
    if (row.kind === "tool" && row.leader) this.touch(row.leader, seq);
    row.rev += 1;
    row.lastSeq = seq;
    this.changed.add(row);
  }
}

/** What was decided before anybody was asked, as the request that it answers: its row is the same. */
function decided({
  pending_id,
  tool_call_id,
  tool_name,
  permission_title,
  action_type,
  action_details,
}: PermissionResolved): PermissionRequest {
  return {
    type: "permission_request",
    pending_id,
    ...(tool_call_id !== undefined && { tool_call_id }),
    ...(tool_name !== undefined && { tool_name }),
    permission_title: permission_title ?? tool_name ?? "request",
    permission_options: [],
    action_type: action_type ?? "other",
    ...(action_details !== undefined && { action_details }),
  };
}

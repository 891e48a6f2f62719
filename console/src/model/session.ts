/** What is known of a session as a whole: the newest of each, and the prompts that wait. */
import type {
  AgentEvent,
  AvailableCommands,
  ContextWindow,
  NormalizedPayload,
  RateLimit,
  SessionInfo,
  SessionMode,
  TaskUpdate,
} from "turnwire-client";

export interface QueuedPrompt {
  readonly uuid: string;
  position: number | undefined;
  text: string | undefined;
}

export interface Todo {
  readonly description: string;
  readonly status: string;
  readonly active: string | undefined;
}

export class SessionState {
  info: SessionInfo | undefined;
  mode: string | undefined;
  /** Modes as the agent lists them. */
  modes: SessionMode["available_modes"];
  commands: AvailableCommands["available_commands"] = [];
  context: ContextWindow | undefined;
  rateLimit: RateLimit | undefined;
  /** What its turns have cost: a process's own total begins anew with /clear, and with or without the past after a resume. */
  cost: number | undefined;
  exited = false;
  readonly tasks = new Map<string, TaskUpdate>();
  /** The to-do list as the newest calls left it, by id; what was deleted keeps its name. */
  todos = new Map<string, Todo>();
  /** Trace ids of prompts whose turns have not begun. */
  private readonly traces = new Map<string, string>();
  readonly queue = new Map<string, QueuedPrompt>();
  /** Texts of prompts by UUID: a queued prompt's text may be told before or after it is queued. */
  private readonly texts = new Map<string, string>();

  /** Returns true when the event changed what is shown of the session as a whole. */
  fold(event: AgentEvent): boolean {
    switch (event.type) {
      case "session_info":
        // An agent lists its models once.
        this.info = { ...event, ...(event.models === undefined && this.info?.models !== undefined && { models: this.info.models }) };
        this.mode = event.permission_mode ?? this.mode;
        return true;
      case "session_mode":
        this.mode = event.current_mode_id;
        this.modes = event.available_modes ?? this.modes;
        return true;
      case "available_commands":
        this.commands = event.available_commands;
        return true;
      case "context_window":
        this.context = event;
        return true;
      case "rate_limit":
        this.rateLimit = event;
        return true;
      case "task_update":
        this.tasks.set(event.task_id, event);
        return true;
      case "process_status":
        this.exited = event.state === "exited";
        return true;
      case "queued":
        if (event.prompt !== undefined) {
          if (event.text !== undefined) this.name(event.prompt, event.text);
          this.enqueue(event.prompt, event.position);
        }
        return true;
      case "user_message":
        if (event.uuid === undefined) return false;
        this.name(event.uuid, event.text);
        return true;
      case "injected":
        return this.dequeue(event.prompts);
      case "turn_started":
        return this.dequeue(event.prompts);
      case "withdrawn":
        return this.dequeue([event.prompt]);
      case "complete":
        if (event.data.cost_usd !== undefined) this.cost = (this.cost ?? 0) + event.data.cost_usd;
        this.dequeue(event.data.prompts);
        return true;
      case "tool_update":
        return event.tool_status === "complete" && this.noteTodos(event.normalized);
      case "trace_context":
        if (event.prompt !== undefined) this.traces.set(event.prompt, event.traceparent.split("-")[1] ?? "");
        return false;
      case "message_chunk":
      case "reasoning":
      case "tool_call":
      case "error":
      case "retraction":
      case "sandbox_denied":
      case "permission_request":
      case "permission_resolved":
      case "permission_cancelled":
      case "question_request":
      case "agent_plan":
      case "hook_activity":
      case "session_status":
      case "session_options":
      case "compact_boundary":
      case "cut":
      case "history":
      case "api_retry":
      case "consolidation":
      case "notice":
      case "unknown":
      case "malformed":
        return false;
      default:
        event satisfies never; // An event of a newer hub.
        return false;
    }
  }

  /** The id of the trace that the turn of these prompts is in, where the log told it. */
  traceOf(prompts: readonly string[] | undefined): string | undefined {
    const found = prompts?.map((prompt) => this.traces.get(prompt)).find((id) => id !== undefined);
    for (const prompt of prompts ?? []) this.traces.delete(prompt);
    return found;
  }

  /** Remember what a prompt says; frontends that sent it know before the log does. */
  name(uuid: string, text: string): void {
    this.texts.set(uuid, text);
    const waiting = this.queue.get(uuid);
    if (waiting) waiting.text = text;
  }

  /** Whether a prompt of this UUID is known to have been said. */
  hasHeard(uuid: string): boolean {
    return this.texts.has(uuid);
  }

  /** Remember what another one knows of prompts. */
  nameAll({ texts }: SessionState): void {
    for (const [uuid, text] of texts) this.name(uuid, text);
  }

  /** The same payload with the names of to-dos that it tells by their ids alone. */
  named(payload: NormalizedPayload | undefined): NormalizedPayload | undefined {
    if (payload?.kind !== "manage_todos") return payload;
    const { manage_todos: body } = payload;
    const items = body.items.map((item) => (item.description ? item : { ...item, description: this.nameOf(item.id) }));
    return { ...payload, manage_todos: { ...body, items } };
  }

  private nameOf(id: string | undefined): string {
    return this.todos.get(id ?? "")?.description ?? (id === undefined ? "" : `Task ${id}`);
  }

  private noteTodos(payload: NormalizedPayload | undefined): boolean {
    if (payload?.kind === "create_task") {
      const { task_id: id, title, active_form: active } = payload.create_task;
      if (id === undefined) return false;
      this.todos.set(id, { description: title, status: "pending", active });
      return true;
    }
    if (payload?.kind !== "manage_todos") return false;
    const { items, operation } = payload.manage_todos;
    if (operation === "write") this.todos = new Map();
    items.forEach((item, index) => {
      const id = item.id ?? String(index + 1);
      const known = this.todos.get(id);
      this.todos.set(id, {
        description: item.description || this.nameOf(id),
        status: item.status || (known?.status ?? "pending"),
        active: item.active_form ?? known?.active,
      });
    });
    return items.length > 0 || operation === "write";
  }

  private enqueue(uuid: string, position: number | undefined): void {
    this.queue.set(uuid, { uuid, position, text: this.texts.get(uuid) });
  }

  private dequeue(uuids: readonly string[] | undefined): boolean {
    let changed = false;
    for (const uuid of uuids ?? []) changed = this.queue.delete(uuid) || changed;
    return changed;
  }
}

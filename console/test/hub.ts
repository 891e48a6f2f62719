/** A hub of one connection after another, behind a WebSocket class of its own: what a page sends it, and what it answers and says. */
import type { AnyCommand, SessionSummary } from "turnwire-client";
import { vi } from "vitest";

/** A code of the hub's that ends a connection: the token is wrong. */
export const WRONG_TOKEN = 4401;

export class FakeHub {
  sessions: SessionSummary[] = [];
  /** What the welcome says, beside the list of sessions. */
  welcome: Record<string, unknown> = {
    role: "control",
    version: "1",
    agents: [{ agent: "demo", title: "Demo", capabilities: [], permission_modes: [] }],
  };
  /** The events of each session. */
  readonly log = new Map<string, unknown[]>();
  readonly received: AnyCommand[] = [];
  /** Whether a connection is let in; where none is, it is closed at once. */
  up = true;
  refusal: { code: number; reason: string } | undefined;
  /** The results of commands, by their types; what one throws is the reply's error. Undefined: no reply. */
  readonly answers: Record<string, (command: AnyCommand) => unknown> = {
    "library.list": () => ({ conversations: [], next: null, complete: true }),
    "library.usage": () => ({ usage: [], complete: true }),
    "worktree.list": () => ({ worktrees: [] }),
    "workspace.folders": () => ({ folders: [] }),
  };
  connections = 0;
  private socket: FakeSocket | undefined;

  constructor() {
    const hub = this;
    vi.stubGlobal(
      "WebSocket",
      class extends FakeSocket {
        constructor(url: string, protocols: string[]) {
          super(url, protocols, hub);
        }
      },
    );
  }

  begin(socket: FakeSocket): void {
    this.connections += 1;
    this.socket = socket;
    if (this.up) return socket.onopen?.();
    socket.onclose?.({ code: 1006, reason: "" });
  }

  /** Say a frame on the connection that there is. */
  say(frame: unknown): void {
    this.socket?.onmessage?.({ data: JSON.stringify(frame) });
  }

  /** Tell the list of sessions. */
  list(...sessions: SessionSummary[]): void {
    this.sessions = sessions;
    this.say({ type: "sessions", sessions });
  }

  /** End the connection. */
  cut(code = 1006, reason = ""): void {
    this.socket?.onclose?.({ code, reason });
  }

  /** What was sent of one kind. */
  sent(type: AnyCommand["type"]): AnyCommand[] {
    return this.received.filter((command) => command.type === type);
  }

  hear(command: AnyCommand): void {
    this.received.push(command);
    const reply = (result: unknown) => this.say({ type: "reply", id: command.id, ok: true, result });
    if (command.type === "hello") {
      if (this.refusal) return this.cut(this.refusal.code, this.refusal.reason);
      this.say({ type: "welcome", protocol: "turnwire.v1", epoch: "e", sessions: this.sessions, ...this.welcome });
      return reply(null);
    }
    if (command.type === "subscribe") {
      const { session } = command;
      const log = this.log.get(session) ?? [];
      reply({ epoch: "e", last: log.length });
      log.forEach((event, at) => {
        if (at >= (command.after ?? 0)) this.say({ type: "event", session, seq: at + 1, ts: "2026-01-01T00:00:00Z", event });
      });
      return this.say({ type: "caught_up", session, seq: log.length });
    }
    try {
      const answer = this.answers[command.type];
      const result = answer ? answer(command) : null;
      if (result !== undefined) reply(result);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.say({ type: "reply", id: command.id, ok: false, error: { code: "refused", message } });
    }
  }
}

class FakeSocket {
  readonly readyState = 1;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;

  constructor(
    readonly url: string,
    readonly protocols: string[],
    private readonly hub: FakeHub,
  ) {
    queueMicrotask(() => hub.begin(this));
  }

  send(text: string): void {
    const command = JSON.parse(text) as AnyCommand;
    queueMicrotask(() => this.hub.hear(command));
  }

  close(): void {
    // The client has let go of it.
  }
}

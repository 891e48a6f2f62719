/** A small hub for tests: a log per session in memory, cursor delivery, and faults on demand. */
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { AgentEvent, AnyCommand, JsonValue } from "../src/index.js";

type Answer = (command: AnyCommand) => JsonValue | Promise<JsonValue>;

export class MockHub {
  epoch = "e1";
  token: string | undefined;
  readonly received: AnyCommand[] = [];
  answer: Answer = () => null;
  /** Leave out this number once, as a broken proxy would. */
  swallow: number | undefined;
  /** Never send this number. */
  skip: number | undefined;
  /** Retention took the events up to this number. */
  gone = 0;
  /** Connections made up to now. */
  connections = 0;
  /** Send each event twice. */
  stutter = false;
  mute = false;
  /** Call so many of the next subscriptions one command too many. */
  tooMany = 0;
  /** Confirm subscriptions and send nothing more. */
  unreadable = false;
  private readonly log: unknown[] = [];
  private readonly followers = new Map<WebSocket, number>();

  private constructor(private readonly server: WebSocketServer) {
    server.on("connection", (socket) => {
      this.connections += 1;
      socket.on("message", (data) => void this.handle(socket, JSON.parse(String(data)) as AnyCommand));
      socket.on("close", () => this.followers.delete(socket));
    });
  }

  static async start(port = 0): Promise<MockHub> {
    const server = new WebSocketServer({ port, host: "127.0.0.1", handleProtocols: () => "turnwire.v1" });
    await new Promise((resolve) => server.once("listening", resolve));
    return new MockHub(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}/ws`;
  }

  publish(count: number, event?: AgentEvent): void {
    for (let i = 0; i < count; i += 1) {
      this.log.push(event ?? { type: "notice", kind: "test", level: "info", text: String(this.log.length + 1) });
    }
    for (const socket of this.followers.keys()) this.pump(socket);
  }

  /** Send a frame of any kind to all who follow. */
  say(frame: unknown): void {
    for (const socket of this.followers.keys()) this.send(socket, frame);
  }

  /** Send anything to all who follow. */
  sayRaw(data: string | Buffer): void {
    for (const socket of this.followers.keys()) socket.send(data);
  }

  closeAll(code: number, reason: string): void {
    for (const socket of this.server.clients) socket.close(code, reason);
  }

  forget(epoch: string): void {
    this.log.length = 0;
    this.epoch = epoch;
  }

  breakAll(): void {
    for (const socket of this.server.clients) socket.terminate();
  }

  async stop(): Promise<void> {
    this.breakAll();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private send(socket: WebSocket, frame: unknown): void {
    if (!this.mute) socket.send(JSON.stringify(frame));
  }

  private pump(socket: WebSocket): void {
    for (let seq = (this.followers.get(socket) ?? 0) + 1; seq <= this.log.length; seq += 1) {
      this.followers.set(socket, seq);
      if (seq <= this.gone || this.skip === seq) continue;
      if (this.swallow === seq) {
        this.swallow = undefined;
        continue;
      }
      const frame = { type: "event", session: "s", seq, ts: "2026-01-01T00:00:00.000000Z", event: this.log[seq - 1] };
      this.send(socket, frame);
      if (this.stutter) this.send(socket, frame);
    }
  }

  private async handle(socket: WebSocket, command: AnyCommand): Promise<void> {
    this.received.push(command);
    if (command.type === "hello") {
      if (this.token !== undefined && command.token !== this.token) return socket.close(4401, "the token is wrong");
      this.send(socket, { type: "welcome", protocol: "turnwire.v1", version: "0", epoch: this.epoch, role: "control", sessions: [] });
      return this.send(socket, { type: "reply", id: command.id, ok: true });
    }
    if (command.type === "subscribe" && command.session !== "s") {
      const error = { code: "unknown_session", message: "There is no such session.", field: "session" };
      return this.send(socket, { type: "reply", id: command.id, ok: false, error });
    }
    if (command.type === "subscribe" && this.tooMany > 0) {
      this.tooMany -= 1;
      return this.send(socket, {
        type: "reply",
        id: command.id,
        ok: false,
        error: { code: "rate_limited", message: "Too many commands." },
      });
    }
    if (command.type === "subscribe") {
      this.send(socket, { type: "reply", id: command.id, ok: true, result: { epoch: this.epoch, last: this.log.length } });
      if (this.unreadable) return;
      const known = (command.after ?? 0) === 0 || (command.epoch === this.epoch && (command.after ?? 0) <= this.log.length);
      if (!known) this.send(socket, { type: "gap", session: "s", from: 1, to: command.after, epoch: this.epoch });
      if (known && this.gone > (command.after ?? 0)) {
        this.send(socket, { type: "gap", session: "s", from: (command.after ?? 0) + 1, to: this.gone, epoch: this.epoch });
      }
      this.followers.set(socket, known ? (command.after ?? 0) : 0);
      this.pump(socket);
      return this.send(socket, { type: "caught_up", session: "s", seq: this.log.length });
    }
    try {
      this.send(socket, { type: "reply", id: command.id, ok: true, result: await this.answer(command) });
    } catch (error) {
      this.send(socket, { type: "reply", id: command.id, ok: false, error: { code: "refused", message: String(error) } });
    }
  }
}

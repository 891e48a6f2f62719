/**
 * The client: one connection to a hub, kept up; subscriptions that go on where they were; commands as promises.
 *
 * A connection that breaks is made again with growing waits. Subscriptions then ask for what follows their cursor, so
 * no event is lost or given twice. Commands under way are rejected with Disconnected and never repeated: only the
 * caller knows whether doing one twice is harmless.
 */
import { Backoff, type BackoffOptions } from "./backoff.js";
import { AccessDenied, CommandError, Disconnected, ProtocolError, type TurnwireError } from "./errors.js";
import type { Cursor } from "./feed.js";
import type { AnyCommand, JsonValue, OutFrame, SessionSummary, Welcome } from "./schema.js";
import { type SocketFactory, type SocketLike, socketFactory } from "./socket.js";
import { type Listener, Subscription } from "./subscription.js";

/** `connecting` also while it waits to try again; `denied` and `closed` are final. */
export type ConnectionState = "connecting" | "open" | "denied" | "closed";

/** A command as a caller gives it: the client adds the id. */
export type CommandOf<Type extends AnyCommand["type"]> = Omit<Extract<AnyCommand, { type: Type }>, "id">;
export type CommandInput = { [Type in AnyCommand["type"]]: CommandOf<Type> }[AnyCommand["type"]];

export interface ClientOptions {
  /** `ws://HOST:PORT/ws`. */
  url: string;
  /** The access token; sent in the first frame, so that it stands in no log of addresses. */
  token?: string;
  /** Shown as `by` in the decisions taken through this client. */
  name?: string;
  /** A WebSocket class, where there is no global one. */
  WebSocket?: unknown;
  backoff?: BackoffOptions;
  /** After so many silent milliseconds the connection is probed, after as many again it is given up. 0: never. */
  silence?: number;
  onState?: (state: ConnectionState, reason: TurnwireError | undefined) => void;
  onWelcome?: (welcome: Welcome) => void;
  onSessions?: (sessions: SessionSummary[]) => void;
}

interface Pending {
  resolve: (result: JsonValue) => void;
  reject: (error: TurnwireError) => void;
}

const SUBPROTOCOL = "turnwire.v1";
/** Close codes after which trying again is pointless: policy violation, and the hub's "who are you". */
const DENIED = new Set([1008, 3000, 3003, 4401, 4403]);

export class Client {
  private readonly options: ClientOptions;
  private readonly factory: SocketFactory;
  private readonly backoff: Backoff;
  private readonly pending = new Map<string, Pending>();
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly waiting = new Set<{ resolve: (welcome: Welcome) => void; reject: (error: TurnwireError) => void }>();
  private socket: SocketLike | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private probe: ReturnType<typeof setInterval> | undefined;
  private silentTicks = 0;
  private nextId = 0;
  private current: ConnectionState = "connecting";
  /** What the hub said of itself on the present connection. */
  welcome: Welcome | undefined;

  constructor(options: ClientOptions) {
    this.options = options;
    this.factory = socketFactory(options.WebSocket);
    this.backoff = new Backoff(options.backoff);
    this.connect();
  }

  get state(): ConnectionState {
    return this.current;
  }

  /** Resolves when the hub has let us in; rejects when it never will. */
  ready(): Promise<Welcome> {
    if (this.welcome) return Promise.resolve(this.welcome);
    if (this.current === "denied") return Promise.reject(new AccessDenied("The hub refused access."));
    if (this.current === "closed") return Promise.reject(new Disconnected("The client was closed."));
    return new Promise((resolve, reject) => this.waiting.add({ resolve, reject }));
  }

  /** Does a command; the promise gives the reply's result. Rejects with CommandError or Disconnected. */
  command(command: CommandInput): Promise<JsonValue> {
    const socket = this.socket;
    if (!socket || !this.welcome) {
      return Promise.reject(new Disconnected(`There is no connection, so "${command.type}" was not sent.`));
    }
    return this.send(socket, command);
  }

  /** Follows a session: first what comes after the cursor, then live. Survives reconnects until it is closed. */
  subscribe(session: string, listener: Listener, cursor: Cursor = { epoch: undefined, seq: 0 }): Subscription {
    if (this.subscriptions.has(session)) throw new ProtocolError(`Session ${session} is subscribed to already.`);
    const subscription = new Subscription(session, listener, cursor, () => {
      this.subscriptions.delete(session);
      if (this.welcome) this.command({ type: "unsubscribe", session }).catch(() => undefined);
    });
    this.subscriptions.set(session, subscription);
    if (this.welcome) this.begin(subscription, this.welcome.epoch);
    return subscription;
  }

  /** Tries now instead of when the wait is over, for instance when the network is said to be back. */
  reconnect(): void {
    if (this.retry === undefined) return;
    this.backoff.reset();
    this.connect();
  }

  /** Ends the connection for good. */
  close(): void {
    if (this.current === "closed") return;
    this.drop(new Disconnected("The client was closed."), "closed");
  }

  private connect(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    const socket = this.factory(this.options.url, [SUBPROTOCOL]);
    this.socket = socket;
    this.silentTicks = 0;
    clearInterval(this.probe);
    const silence = this.options.silence ?? 15_000;
    if (silence > 0) this.probe = setInterval(() => this.listenForLife(socket), silence);
    socket.onopen = () => this.introduce(socket);
    socket.onmessage = ({ data }) => {
      if (socket === this.socket) this.receive(data);
    };
    socket.onerror = () => undefined; // A close event follows, and says more.
    socket.onclose = ({ code, reason }) => {
      if (socket === this.socket) this.lose(code, reason);
    };
  }

  private introduce(socket: SocketLike): void {
    const { token, name } = this.options;
    const hello: CommandOf<"hello"> = { type: "hello", ...(token !== undefined && { token }), ...(name !== undefined && { name }) };
    this.send(socket, hello).catch((error: TurnwireError) => {
      if (error instanceof CommandError && socket === this.socket) this.drop(new AccessDenied(error.message), "denied");
    });
  }

  private send(socket: SocketLike, command: CommandInput): Promise<JsonValue> {
    this.nextId += 1;
    const id = `c${this.nextId}`;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, ...command }));
    });
  }

  private receive(data: unknown): void {
    this.silentTicks = 0;
    let frame: OutFrame;
    try {
      frame = JSON.parse(String(data)) as OutFrame;
    } catch {
      return this.lose(1002, "the hub sent a frame that is no JSON");
    }
    switch (frame.type) {
      case "welcome":
        return this.enter(frame);
      case "sessions":
        return this.options.onSessions?.(frame.sessions);
      case "reply":
        return this.settle(frame);
      case "event":
        return this.subscriptions.get(frame.session)?.events([frame]);
      case "events": {
        const first = frame.events[0];
        return first && this.subscriptions.get(first.session)?.events(frame.events);
      }
      case "gap":
        return this.subscriptions.get(frame.session)?.gap(frame);
      case "caught_up":
        return this.subscriptions.get(frame.session)?.caughtUp();
      case "lag":
        return this.subscriptions.get(frame.session)?.lag(frame.behind);
      default:
        frame satisfies never; // A frame of a newer hub: what this client does not know, it does not need.
    }
  }

  private enter(welcome: Welcome): void {
    this.welcome = welcome;
    this.backoff.reset();
    this.become("open", undefined);
    this.options.onWelcome?.(welcome);
    for (const { resolve } of this.waiting) resolve(welcome);
    this.waiting.clear();
    for (const subscription of this.subscriptions.values()) this.begin(subscription, welcome.epoch);
  }

  private begin(subscription: Subscription, epoch: string): void {
    subscription.begin(epoch, (after, known) => {
      this.command({ type: "subscribe", session: subscription.session, after, ...(known !== undefined && { epoch: known }) }).catch(
        (error: TurnwireError) => {
          if (error instanceof CommandError) subscription.refused(error);
        },
      );
    });
  }

  private settle(reply: Extract<OutFrame, { type: "reply" }>): void {
    const pending = reply.id === null ? undefined : this.pending.get(reply.id);
    if (!pending || reply.id === null) return;
    this.pending.delete(reply.id);
    if (reply.ok) pending.resolve(reply.result ?? null);
    else pending.reject(new CommandError(reply.error ?? { code: "unknown", message: "The hub gave no reason." }));
  }

  private lose(code: number, reason: string): void {
    if (DENIED.has(code) && !this.welcome) {
      return this.drop(new AccessDenied(reason || "The hub refused access."), "denied");
    }
    this.drop(new Disconnected(reason || `The connection was closed with code ${code}.`), "connecting");
    this.retry = setTimeout(() => this.connect(), this.backoff.next());
  }

  private drop(error: TurnwireError, next: ConnectionState): void {
    const socket = this.socket;
    this.socket = undefined;
    this.welcome = undefined;
    clearInterval(this.probe);
    clearTimeout(this.retry);
    this.retry = undefined;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
    if (next !== "connecting") {
      for (const { reject } of this.waiting) reject(error);
      this.waiting.clear();
    }
    this.become(next, error);
  }

  private become(state: ConnectionState, reason: TurnwireError | undefined): void {
    this.current = state;
    this.options.onState?.(state, reason);
  }

  /** Browsers show no pings, so silence is broken by a harmless command; a dead connection answers nothing. */
  private listenForLife(socket: SocketLike): void {
    this.silentTicks += 1;
    if (this.silentTicks > 2) return this.lose(1006, "The hub has gone silent.");
    if (this.silentTicks === 2 && this.welcome) this.send(socket, { type: "session.list" }).catch(() => undefined);
  }
}

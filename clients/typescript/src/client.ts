/**
 * The client: one connection to a hub, kept up; followings that go on where they were; commands as promises.
 *
 * A connection that breaks is made again with growing waits. Followings then ask for what follows their cursor, so no
 * event is lost or given twice. Commands under way are rejected with ConnectionLost and never repeated: only the
 * caller knows whether doing one twice is harmless.
 */
import { Backoff, type BackoffOptions } from "./backoff.js";
import { FINAL_CLOSE_CODES } from "./codes.js";
import { AccessRefused, CommandFailed, ConnectionLost, ProtocolError, TimedOut, type TurnwireError } from "./errors.js";
import { BEGINNING, type Cursor } from "./feed.js";
import { Following, type Listener } from "./following.js";
import { readFrame } from "./reading.js";
import type { AnyCommand, EventFrame, JsonValue, OutFrame, SessionSummary, Welcome } from "./schema.js";
import { type SocketFactory, type SocketLike, socketFactory } from "./socket.js";

/** `connecting` also while it waits to try again; `failed` and `closed` are final. */
export type ConnectionState = "connecting" | "open" | "failed" | "closed";

/** A command as a caller gives it: the client adds the id. */
export type CommandOf<Type extends AnyCommand["type"]> = Omit<Extract<AnyCommand, { type: Type }>, "id">;
export type CommandInput = { [Type in AnyCommand["type"]]: CommandOf<Type> }[AnyCommand["type"]];

export interface ClientOptions {
  /** The URL that turnwire prints, or its address: `http://HOST:PORT`, `ws://HOST:PORT/ws`. */
  url: string;
  /** The access token, where the URL carries none; sent in the first frame, so that it stands in no log of addresses. */
  token?: string;
  /** Subprotocols to offer beside turnwire's own: asked for at each connection. A page logged in by a cookie sends its key in one. */
  subprotocols?: () => string[];
  /** Shown as `by` in the decisions taken through this client. */
  name?: string;
  /** A WebSocket class, where there is no global one. */
  WebSocket?: unknown;
  backoff?: BackoffOptions;
  /** How many milliseconds a command waits for its reply. */
  replyTimeout?: number;
  /** Characters of a frame from the hub. */
  maxFrame?: number;
  /** After so many silent milliseconds the connection is probed, after as many again it is given up. 0: never. */
  silence?: number;
  onState?: (state: ConnectionState, reason: TurnwireError | undefined) => void;
  onWelcome?: (welcome: Welcome) => void;
  onSessions?: (sessions: SessionSummary[]) => void;
  /** A listener has thrown: everything else goes on. Without this, the console is told. */
  onListenerError?: (error: unknown) => void;
}

/** How long to wait. */
export interface Wait {
  /** Milliseconds; then it rejects with TimedOut. */
  timeout?: number;
  /** Ends the wait: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

interface Pending {
  resolve: (result: JsonValue) => void;
  reject: (error: TurnwireError) => void;
}

const SUBPROTOCOL = "turnwire.v1";
const MAX_FRAME = 64 * 1024 * 1024;
const REPLY_TIMEOUT_MS = 120_000;

export class Client {
  private readonly options: ClientOptions;
  private readonly address: string;
  private readonly token: string | undefined;
  private readonly factory: SocketFactory;
  private readonly backoff: Backoff;
  private readonly pending = new Map<string, Pending>();
  private readonly followings = new Map<string, Following>();
  /** Subscriptions asked for, by the id of the command. */
  private readonly asked = new Map<string, Following>();
  private readonly waiting = new Set<{ resolve: (welcome: Welcome) => void; reject: (error: unknown) => void }>();
  private socket: SocketLike | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private probe: ReturnType<typeof setInterval> | undefined;
  private silentTicks = 0;
  private nextId = 0;
  private current: ConnectionState = "connecting";
  private failure: TurnwireError | undefined;
  /** The session that the URL names, as the one that `turnwire run` prints does. */
  readonly namedSession: string | undefined;
  /** What the hub said of itself on the present connection. */
  welcome: Welcome | undefined;
  /** All sessions, as the hub last told. */
  knownSessions: SessionSummary[] = [];

  constructor(options: ClientOptions) {
    this.options = options;
    const url = new URL(options.url);
    const carried = new URLSearchParams(url.hash.slice(1));
    this.address = addressOf(url);
    this.token = options.token ?? carried.get("token") ?? undefined;
    this.namedSession = carried.get("session") ?? undefined;
    this.factory = socketFactory(options.WebSocket);
    this.backoff = new Backoff(options.backoff);
    this.connect();
  }

  get state(): ConnectionState {
    return this.current;
  }

  /** Resolves when the hub has let us in; rejects with AccessRefused or ProtocolError when it never will, or as `wait` says. */
  connected({ timeout, signal }: Wait = {}): Promise<Welcome> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.welcome) return Promise.resolve(this.welcome);
    if (this.failure) return Promise.reject(this.failure);
    return new Promise<Welcome>((resolve, reject) => {
      const waiting = { resolve: (welcome: Welcome) => end(() => resolve(welcome)), reject: (error: unknown) => end(() => reject(error)) };
      const abort = () => waiting.reject(signal?.reason);
      const timer =
        timeout === undefined
          ? undefined
          : setTimeout(() => waiting.reject(new TimedOut(`The hub has not let us in within ${timeout} ms.`)), timeout);
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.waiting.delete(waiting);
        settle();
      };
      signal?.addEventListener("abort", abort);
      this.waiting.add(waiting);
    });
  }

  /**
   * Does a command; the promise gives the reply's result. Rejects with CommandFailed, ConnectionLost (also where there is
   * no connection now: see `connected`), TimedOut, and AccessRefused or ProtocolError once the client has failed.
   *
   * With a UUID as `id` the hub of a fleet does it once, however often it is sent, and gives its first reply.
   */
  command(command: CommandInput, { timeout, id }: { timeout?: number; id?: string } = {}): Promise<JsonValue> {
    if (this.failure) return Promise.reject(this.failure);
    const socket = this.socket;
    if (!socket || !this.welcome) {
      return Promise.reject(new ConnectionLost(`There is no connection, so "${command.type}" was not sent.`));
    }
    if (id !== undefined && this.pending.has(id)) {
      return Promise.reject(
        new CommandFailed({ code: "invalid_params", message: `A command of this id waits for its reply.`, field: "id" }),
      );
    }
    return this.send(socket, command, timeout, id);
  }

  /** Follows a session: first what comes after the cursor, then live. Following it again ends the former following. */
  follow(session: string, listener: Listener, after: Cursor = BEGINNING): Following {
    this.followings.get(session)?.end();
    const following = new Following(session, this.guarded(listener), after, (left) => this.unsubscribe(left));
    const { failure } = this;
    if (failure) {
      queueMicrotask(() => following.fail(failure));
      return following;
    }
    this.followings.set(session, following);
    this.subscribe(following);
    return following;
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
    for (const following of this.followings.values()) following.end();
    this.followings.clear();
    this.drop(new ConnectionLost("The client was closed."), "closed");
  }

  private connect(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    const socket = this.factory(this.address, [SUBPROTOCOL, ...(this.options.subprotocols?.() ?? [])]);
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
    const { token } = this;
    const { name } = this.options;
    const hello: CommandOf<"hello"> = { type: "hello", ...(token !== undefined && { token }), ...(name !== undefined && { name }) };
    this.send(socket, hello).catch((error: TurnwireError) => {
      if (error instanceof CommandFailed && socket === this.socket) this.fail(new AccessRefused(error.message));
    });
  }

  private send(
    socket: SocketLike,
    command: CommandInput,
    timeout = this.options.replyTimeout ?? REPLY_TIMEOUT_MS,
    own?: string,
  ): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const id = this.post(socket, command, own);
      const late = setTimeout(() => {
        this.pending.delete(id);
        reject(new TimedOut(`The hub has not answered "${command.type}" in ${timeout} ms.`));
      }, timeout);
      this.pending.set(id, {
        resolve: (result) => {
          clearTimeout(late);
          resolve(result);
        },
        reject: (error) => {
          clearTimeout(late);
          reject(error);
        },
      });
    });
  }

  /** Sends a command and returns its id. */
  private post(socket: SocketLike, command: CommandInput, own?: string): string {
    if (own === undefined) this.nextId += 1;
    const id = own ?? String(this.nextId);
    socket.send(JSON.stringify({ id, ...command }));
    return id;
  }

  private receive(data: unknown): void {
    this.silentTicks = 0;
    let frame: OutFrame | undefined;
    try {
      frame = readFrame(data, this.options.maxFrame ?? MAX_FRAME);
    } catch (error) {
      return this.fail(error as ProtocolError);
    }
    if (frame === undefined) return; // A frame of a newer hub: what this client does not know, it does not need.
    switch (frame.type) {
      case "welcome":
        return this.enter(frame);
      case "sessions":
        this.knownSessions = frame.sessions;
        return this.guard(() => this.options.onSessions?.(frame.sessions));
      case "reply":
        return this.settle(frame);
      case "event":
        return this.give(frame.session, [frame]);
      case "events":
        return this.giveAll(frame.events);
      case "gap":
        return this.followings.get(frame.session)?.gap(frame);
      case "caught_up":
        return this.followings.get(frame.session)?.caughtUp();
      case "lag":
        return this.followings.get(frame.session)?.lag(frame.behind);
      default:
        frame satisfies never;
    }
  }

  private give(session: string, events: EventFrame[]): void {
    const following = this.followings.get(session);
    if (!following || following.events(events)) return;
    if (following.closed) this.unsubscribe(following);
    else this.subscribe(following);
  }

  private giveAll(events: EventFrame[]): void {
    const session = events[0]?.session;
    if (session !== undefined && events.every((event) => event.session === session)) return this.give(session, events);
    for (const event of events) this.give(event.session, [event]);
  }

  private enter(welcome: Welcome): void {
    if (this.welcome) return this.fail(new ProtocolError("The hub said welcome twice."));
    this.welcome = welcome;
    this.knownSessions = welcome.sessions;
    this.backoff.reset();
    for (const { resolve } of this.waiting) resolve(welcome);
    this.waiting.clear();
    for (const following of this.followings.values()) this.subscribe(following);
    this.become("open", undefined);
    this.guard(() => this.options.onWelcome?.(welcome));
  }

  private subscribe(following: Following): void {
    if (!this.socket || !this.welcome || following.closed) return;
    following.asked();
    const { seq, epoch } = following.cursor;
    const id = this.post(this.socket, { type: "subscribe", session: following.session, after: seq, ...(seq > 0 && { epoch }) });
    this.asked.set(id, following);
  }

  private unsubscribe(following: Following): void {
    if (!this.forget(following) || !this.socket || !this.welcome) return;
    this.post(this.socket, { type: "unsubscribe", session: following.session });
  }

  /** Leaves a following out; false when another has taken its place. */
  private forget(following: Following): boolean {
    return this.followings.get(following.session) === following && this.followings.delete(following.session);
  }

  private settle(reply: Extract<OutFrame, { type: "reply" }>): void {
    const id = reply.id ?? "";
    const refusal = reply.ok ? undefined : new CommandFailed(reply.error ?? { code: "unknown", message: "The hub gave no reason." });
    const following = this.asked.get(id);
    if (following) {
      // At once, and not in a promise: the events come right behind.
      this.asked.delete(id);
      if (refusal === undefined) return following.confirmed(this.welcome?.epoch ?? "");
      this.forget(following);
      return following.fail(refusal);
    }
    const pending = this.pending.get(id);
    this.pending.delete(id);
    if (refusal === undefined) pending?.resolve(reply.result ?? null);
    else pending?.reject(refusal);
  }

  private lose(code: number, reason: string): void {
    if (FINAL_CLOSE_CODES.includes(code)) return this.fail(new AccessRefused(reason || "The token was not accepted."));
    this.drop(new ConnectionLost(reason || `The connection was closed with code ${code}.`), "connecting");
    // Whoever is told may have closed the client.
    if (this.current === "connecting") this.retry = setTimeout(() => this.connect(), this.backoff.next());
  }

  /** Ends all there is with this error, now and for good. */
  private fail(failure: TurnwireError): void {
    if (this.failure) return;
    this.drop(failure, "failed");
    const failed = [...this.followings.values()];
    this.followings.clear();
    for (const following of failed) following.fail(failure);
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
    this.asked.clear();
    for (const following of this.followings.values()) following.lost();
    const pending = [...this.pending.values()];
    this.pending.clear();
    for (const { reject } of pending) reject(error);
    if (next !== "connecting") {
      this.failure = error;
      for (const { reject } of this.waiting) reject(error);
      this.waiting.clear();
    }
    this.become(next, error);
  }

  private become(state: ConnectionState, reason: TurnwireError | undefined): void {
    this.current = state;
    this.guard(() => this.options.onState?.(state, reason));
  }

  /** Calls a listener. What it throws is its own affair: the connection and all other listeners go on. */
  private guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      if (this.options.onListenerError) this.options.onListenerError(error);
      else console.error(error);
    }
  }

  private guarded(listener: Listener): Listener {
    return {
      onEvents: (events) => this.guard(() => listener.onEvents(events)),
      onCaughtUp: () => this.guard(() => listener.onCaughtUp?.()),
      onGap: (gap) => this.guard(() => listener.onGap?.(gap)),
      onLag: (behind) => this.guard(() => listener.onLag?.(behind)),
      onFailed: (error) => this.guard(() => listener.onFailed?.(error)),
    };
  }

  /** Browsers show no pings, so silence is broken by a harmless command; a dead connection answers nothing. */
  private listenForLife(socket: SocketLike): void {
    this.silentTicks += 1;
    if (this.silentTicks > 2) return this.lose(1006, "The hub has gone silent.");
    if (this.silentTicks === 2 && this.welcome) this.send(socket, { type: "session.list" }).catch(() => undefined);
  }
}

/** The WebSocket's address: that of a hub, or below the path that a proxy has it at. */
function addressOf({ protocol, host, pathname }: URL): string {
  const scheme = protocol === "https:" || protocol === "wss:" ? "wss" : "ws";
  return `${scheme}://${host}${pathname.endsWith("/ws") ? pathname : `${pathname.replace(/\/+$/, "")}/ws`}`;
}

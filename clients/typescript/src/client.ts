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
import { Following, type Listener, type Subscription } from "./following.js";
import { readFrame } from "./reading.js";
import type {
  AnyCommand,
  CommandResults,
  EventFrame,
  JsonValue,
  OutFrame,
  SessionSummary,
  ShellEnded,
  ShellFrame,
  Welcome,
} from "./schema.js";
import { type SocketFactory, type SocketLike, socketFactory } from "./socket.js";
import { type Received, type StreamOptions, streamed } from "./stream.js";

/** `connecting` also while it waits to try again; `failed` and `closed` are final. */
export type ConnectionState = "connecting" | "open" | "failed" | "closed";

/** A command as a caller gives it: the client adds the id. */
export type CommandOf<Type extends AnyCommand["type"]> = Omit<Extract<AnyCommand, { type: Type }>, "id">;
export type CommandInput = { [Type in AnyCommand["type"]]: CommandOf<Type> }[AnyCommand["type"]];

/** What a command's reply has as its result. */
export type ResultOf<Type extends AnyCommand["type"]> = Type extends keyof CommandResults ? CommandResults[Type] : JsonValue;

/** A text, or a function that gives it: asked before each attempt to connect, so that it can be renewed. */
export type Source = string | (() => string | Promise<string>);

export interface ClientOptions {
  /** The URL that turnwire prints, or its address: `http://HOST:PORT`, `ws://HOST:PORT/ws`. */
  url: Source;
  /** The access token, where the URL carries none; sent in the first frame, so that it stands in no log of addresses. */
  token?: Source;
  /** Connect when the client is first used; a command then waits for the connection. */
  lazy?: boolean;
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
  /** Called with what the shells write that this client has opened, and with their ends. */
  onShell?: (frame: ShellFrame | ShellEnded) => void;
  /** A listener has thrown, or a following has failed whose listener has no `onFailed`: everything else goes on. Without this, the console is told. */
  onListenerError?: (error: unknown) => void;
}

/** How long to wait. */
export interface Wait {
  /** Milliseconds; then it rejects with TimedOut. Infinity waits without end. */
  timeout?: number;
  /** Ends the wait: it rejects with the signal's reason. */
  signal?: AbortSignal;
}

interface Pending {
  resolve: (result: JsonValue) => void;
  reject: (error: unknown) => void;
}

const SUBPROTOCOL = "turnwire.v1";
const MAX_FRAME = 64 * 1024 * 1024;
const REPLY_TIMEOUT_MS = 120_000;

/** So many milliseconds a hub may take to agree that the connection ends; one that has gone silent never does. */
const CLOSE_MS = 2_000;

/** So many milliseconds a subscription waits that the hub has called one command too many. */
const ASK_AGAIN_MS = 500;

/** Timers count to here, some 24 days: one that is set for longer would end at once. */
const MOST_MS = 2 ** 31 - 1;

/** Calls after so many milliseconds; never where that is longer than a timer can wait, as with Infinity. */
function later(call: () => void, ms: number): ReturnType<typeof setTimeout> | undefined {
  return ms > MOST_MS ? undefined : setTimeout(call, ms);
}

export class Client {
  private readonly options: ClientOptions;
  private address = "";
  private token: string | undefined;
  private readonly factory: SocketFactory;
  private readonly backoff: Backoff;
  private readonly pending = new Map<string, Pending>();
  private readonly followings = new Map<string, Following[]>();
  /** Subscriptions asked for, by the id of the command. */
  private readonly asked = new Map<string, Subscription>();
  private readonly waiting = new Set<{ resolve: (welcome: Welcome) => void; reject: (error: unknown) => void }>();
  private socket: SocketLike | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private probe: ReturnType<typeof setInterval> | undefined;
  /** Sessions whose subscription the hub has called one command too many. */
  private readonly tooMany = new Set<string>();
  private askingAgain: ReturnType<typeof setTimeout> | undefined;
  private silentTicks = 0;
  private isWanted = false;
  /** What has kept it from a connection last. */
  private hindrance = "";
  /** Attempts to connect, each of which ends the former. */
  private attempt = 0;
  /** The last connection was refused for its token, which a function may renew. */
  private wasRefused = false;
  private nextId = 0;
  private current: ConnectionState = "connecting";
  private failure: TurnwireError | undefined;
  /** The session that the URL names, as the one that `turnwire run` prints does. */
  namedSession: string | undefined;
  /** What the hub said of itself on the present connection. */
  welcome: Welcome | undefined;
  /** All sessions, as the hub last told. */
  knownSessions: SessionSummary[] = [];

  constructor(options: ClientOptions) {
    this.options = options;
    if (typeof options.url === "string") this.place(options.url, undefined);
    this.factory = socketFactory(options.WebSocket);
    this.backoff = new Backoff(options.backoff);
    if (!options.lazy) this.want();
  }

  get state(): ConnectionState {
    return this.current;
  }

  /** Resolves when the hub has let us in; rejects with AccessRefused or ProtocolError when it never will, or as `wait` says. */
  connected({ timeout, signal }: Wait = {}): Promise<Welcome> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    this.want();
    if (this.welcome) return Promise.resolve(this.welcome);
    if (this.failure) return Promise.reject(this.failure);
    return new Promise<Welcome>((resolve, reject) => {
      const waiting = { resolve: (welcome: Welcome) => end(() => resolve(welcome)), reject: (error: unknown) => end(() => reject(error)) };
      const abort = () => waiting.reject(signal?.reason);
      const timer =
        timeout === undefined
          ? undefined
          : later(() => waiting.reject(new TimedOut(`The hub has not let us in within ${timeout} ms. ${this.hindrance}`.trim())), timeout);
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
   * With a UUID as `id` the hub of a fleet does it once, however often it is sent, and gives its first reply. A signal ends the
   * wait alone: what was sent may be done.
   */
  command<Command extends CommandInput>(
    command: Command,
    { timeout, signal, id }: Wait & { id?: string } = {},
  ): Promise<ResultOf<Command["type"]>> {
    return this.ask(command, { ...(timeout !== undefined && { timeout }), ...(signal && { signal }) }, id) as Promise<
      ResultOf<Command["type"]>
    >;
  }

  private ask(command: CommandInput, wait: Wait, id: string | undefined): Promise<unknown> {
    if (wait.signal?.aborted) return Promise.reject(wait.signal.reason);
    if (this.failure) return Promise.reject(this.failure);
    if (!this.isWanted) return this.connected({ timeout: this.replyTimeout, ...wait }).then(() => this.ask(command, wait, id));
    const socket = this.socket;
    if (!socket || !this.welcome) {
      return Promise.reject(new ConnectionLost(`There is no connection, so "${command.type}" was not sent.`));
    }
    if (id !== undefined && this.pending.has(id)) {
      return Promise.reject(
        new CommandFailed({ code: "invalid_params", message: `A command of this id waits for its reply.`, field: "id" }),
      );
    }
    return this.send(socket, command, wait, id);
  }

  private get replyTimeout(): number {
    return this.options.replyTimeout ?? REPLY_TIMEOUT_MS;
  }

  /** Follows a session, beside other followings of it: first what comes after the cursor, then live. */
  follow(session: string, listener: Listener, after: Cursor = BEGINNING): Following {
    this.want();
    const following = new Following(session, this.guarded(listener), after, (left) => this.unsubscribe(left));
    const { failure } = this;
    if (failure) {
      queueMicrotask(() => following.fail(failure));
      return following;
    }
    this.followings.set(session, [...(this.followings.get(session) ?? []), following]);
    this.subscribe(session);
    return following;
  }

  /** Follows a session by `for await`; leaving the loop ends it. */
  stream(session: string, options: StreamOptions = {}): AsyncGenerator<Received, void, undefined> {
    return streamed(this, session, options);
  }

  /** Tries now instead of when the wait is over, for instance when the network is said to be back. */
  reconnect(): void {
    if (this.retry === undefined) return;
    this.backoff.reset();
    void this.connect();
  }

  /** Ends the connection for good. */
  close(): void {
    if (this.current === "closed") return;
    const open = this.all();
    this.followings.clear();
    this.drop(new ConnectionLost("The client was closed."), "closed");
    for (const following of open) following.over();
  }

  private all(): Following[] {
    return [...this.followings.values()].flat();
  }

  private want(): void {
    if (this.isWanted) return;
    this.isWanted = true;
    void this.connect();
  }

  private place(url: string, token: string | undefined): void {
    const parsed = hubUrl(url);
    const carried = new URLSearchParams(parsed.hash.slice(1));
    this.address = addressOf(parsed);
    this.token = token ?? carried.get("token") ?? undefined;
    this.namedSession = carried.get("session") ?? undefined;
  }

  private async connect(): Promise<void> {
    clearTimeout(this.retry);
    this.retry = undefined;
    const { url, token } = this.options;
    this.attempt += 1;
    const { attempt } = this;
    if (typeof url === "string" && typeof token !== "function") this.place(url, token);
    else {
      try {
        const given = [typeof url === "string" ? url : await url(), typeof token === "function" ? await token() : token] as const;
        if (attempt !== this.attempt || this.failure) return;
        this.place(...given);
      } catch (error) {
        if (attempt !== this.attempt || this.failure) return;
        return this.again(new ConnectionLost(`The function for the URL or the token has failed: ${String(error)}`));
      }
    }
    let socket: SocketLike;
    try {
      socket = this.factory(this.address, [SUBPROTOCOL, ...(this.options.subprotocols?.() ?? [])]);
    } catch (error) {
      // A browser refuses a page of https a hub of http.
      return this.again(new ConnectionLost(`No WebSocket to ${this.address} can be made: ${String(error)}`));
    }
    this.socket = socket;
    this.silentTicks = 0;
    clearInterval(this.probe);
    const silence = this.options.silence ?? 15_000;
    if (silence > 0 && silence <= MOST_MS) this.probe = setInterval(() => this.listenForLife(socket), silence);
    let isOpen = false;
    socket.onopen = () => {
      isOpen = true;
      this.introduce(socket);
    };
    socket.onmessage = ({ data }) => {
      if (socket === this.socket) this.receive(data);
    };
    socket.onerror = () => undefined; // A close event follows, and says more.
    socket.onclose = ({ code, reason }) => {
      if (socket === this.socket) this.lose(code, reason || (isOpen ? "" : unreachable(this.address)));
    };
  }

  private introduce(socket: SocketLike): void {
    const { token } = this;
    const { name } = this.options;
    const hello: CommandOf<"hello"> = { type: "hello", ...(token !== undefined && { token }), ...(name !== undefined && { name }) };
    this.send(socket, hello, {}).catch((error: TurnwireError) => {
      if (error instanceof CommandFailed && socket === this.socket) this.refuse(error.message);
    });
  }

  private send(socket: SocketLike, command: CommandInput, { timeout = this.replyTimeout, signal }: Wait, own?: string): Promise<JsonValue> {
    return new Promise((resolve, reject) => {
      const id = this.post(socket, command, own);
      const end = () => {
        clearTimeout(late);
        signal?.removeEventListener("abort", abort);
        this.pending.delete(id);
      };
      const settle = {
        resolve: (result: JsonValue) => {
          end();
          resolve(result);
        },
        reject: (error: unknown) => {
          end();
          reject(error);
        },
      };
      const abort = () => settle.reject(signal?.reason);
      const late = later(() => settle.reject(new TimedOut(`The hub has not answered "${command.type}" in ${timeout} ms.`)), timeout);
      signal?.addEventListener("abort", abort);
      this.pending.set(id, settle);
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
        return this.each(frame.session, (following) => following.gap(frame));
      case "caught_up":
        // Not at the welcome: a hub that cannot read its log yet is not to be asked ever again at once.
        this.backoff.reset();
        return this.each(frame.session, (following) => following.caughtUp(frame.seq));
      case "lag":
        return this.each(frame.session, (following) => following.lag(frame.behind, frame.error?.message));
      case "shell_output":
      case "shell_exit":
        return this.guard(() => this.options.onShell?.(frame));
      default:
        frame satisfies never;
    }
  }

  private each(session: string, tell: (following: Following) => void): void {
    for (const following of this.followings.get(session) ?? []) tell(following);
  }

  private give(session: string, events: EventFrame[]): void {
    let isMissing = false;
    this.each(session, (following) => {
      if (following.events(events)) return;
      if (following.closed) this.unsubscribe(following);
      else isMissing = true;
    });
    if (isMissing) this.subscribe(session);
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
    if (this.followings.size === 0) this.backoff.reset();
    this.wasRefused = false;
    for (const { resolve } of this.waiting) resolve(welcome);
    this.waiting.clear();
    for (const session of this.followings.keys()) this.subscribe(session);
    this.become("open", undefined);
    this.guard(() => this.options.onWelcome?.(welcome));
  }

  /** Asks for what the followings of a session lack. */
  private subscribe(session: string): void {
    const followings = this.followings.get(session) ?? [];
    const { socket, welcome } = this;
    if (!socket || !welcome || followings.length === 0) return;
    // Places in another life of the log come first: all that follows is new to them.
    const order = ({ epoch, seq }: Cursor) => (seq > 0 && epoch !== welcome.epoch ? -1 : seq);
    const places = followings.map(({ cursor }) => (cursor.seq < 0 ? this.lastOf(session, welcome) : cursor));
    const cursor = places.reduce((one, other) => (order(other) < order(one) ? other : one));
    const subscription = { cursor, followings };
    for (const following of followings) following.asked(subscription);
    const { seq, epoch } = cursor;
    const id = this.post(socket, { type: "subscribe", session, after: seq, ...(seq > 0 && { epoch }) });
    this.asked.set(id, subscription);
  }

  /** The newest number that we know; the hub's own is no lower. */
  private lastOf(session: string, { epoch }: Welcome): Cursor {
    return { epoch, seq: this.knownSessions.find((one) => one.session === session)?.last_seq ?? 0 };
  }

  private unsubscribe(following: Following): void {
    this.forget(following);
    const { session } = following;
    if (this.socket && this.welcome && !this.followings.has(session)) this.post(this.socket, { type: "unsubscribe", session });
  }

  private forget(following: Following): void {
    const others = this.followings.get(following.session)?.filter((one) => one !== following) ?? [];
    if (others.length > 0) this.followings.set(following.session, others);
    else this.followings.delete(following.session);
  }

  private settle(reply: Extract<OutFrame, { type: "reply" }>): void {
    const id = reply.id ?? "";
    const refusal = reply.ok ? undefined : new CommandFailed(reply.error ?? { code: "unknown", message: "The hub gave no reason." });
    const subscription = this.asked.get(id);
    if (subscription) {
      // At once, and not in a promise: the events come right behind.
      this.asked.delete(id);
      if (refusal?.code === "rate_limited") return this.askLater(subscription);
      const last = Number((reply.result as { last?: number } | undefined)?.last ?? 0);
      for (const following of subscription.followings) {
        if (refusal === undefined) following.confirmed(subscription, this.welcome?.epoch ?? "", last);
        else {
          this.forget(following);
          following.fail(refusal);
        }
      }
      return;
    }
    const pending = this.pending.get(id);
    this.pending.delete(id);
    if (refusal === undefined) pending?.resolve(reply.result ?? null);
    else pending?.reject(refusal);
  }

  /** A page that follows many sessions asks for all of them at once, and a slow loop asks often. */
  private askLater({ followings }: Subscription): void {
    for (const following of followings) {
      following.lost();
      this.tooMany.add(following.session);
    }
    this.askingAgain ??= setTimeout(() => {
      this.askingAgain = undefined;
      const sessions = [...this.tooMany];
      this.tooMany.clear();
      for (const session of sessions) if (this.followings.get(session)?.some(({ idle }) => idle)) this.subscribe(session);
    }, ASK_AGAIN_MS);
  }

  private lose(code: number, reason: string): void {
    if (FINAL_CLOSE_CODES.includes(code)) return this.refuse(reason || "The token was not accepted.");
    this.again(new ConnectionLost(reason || `The connection was closed with code ${code}.`));
  }

  /** The token is not good: for good, unless a function may have a better one. */
  private refuse(reason: string): void {
    const renews = typeof this.options.token === "function" || typeof this.options.url === "function";
    if (!renews || this.wasRefused) return this.fail(new AccessRefused(reason));
    this.wasRefused = true;
    this.again(new ConnectionLost(reason));
  }

  private again(lost: ConnectionLost): void {
    this.drop(lost, "connecting");
    // Whoever is told may have closed the client.
    if (this.current === "connecting") this.retry = setTimeout(() => void this.connect(), this.backoff.next());
  }

  /** Ends all there is with this error, now and for good. */
  private fail(failure: TurnwireError): void {
    if (this.failure) return;
    this.drop(failure, "failed");
    const failed = this.all();
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
    clearTimeout(this.askingAgain);
    this.askingAgain = undefined;
    this.tooMany.clear();
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
      // Else the socket would keep a process of Node for half a minute; the timer alone keeps it for nothing.
      const end: unknown = socket.terminate && setTimeout(() => socket.terminate?.(), CLOSE_MS);
      (end as { unref?: () => void } | undefined)?.unref?.();
    }
    this.asked.clear();
    for (const following of this.all()) following.lost();
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
    this.hindrance = reason?.message ?? "";
    this.guard(() => this.options.onState?.(state, reason));
  }

  /** Calls a listener. What it throws is its own affair: the connection and all other listeners go on. */
  private guard(call: () => unknown): void {
    try {
      const done = call();
      if (done instanceof Promise) done.catch((error: unknown) => this.complain(error));
    } catch (error) {
      this.complain(error);
    }
  }

  private complain(error: unknown): void {
    try {
      if (this.options.onListenerError) return this.options.onListenerError(error);
    } catch (another) {
      console.error(another);
    }
    console.error(error);
  }

  private guarded(listener: Listener): Listener {
    return {
      onEvents: (events) => this.guard(() => listener.onEvents(events)),
      onCaughtUp: (seq) => this.guard(() => listener.onCaughtUp?.(seq)),
      onGap: (gap) => this.guard(() => listener.onGap?.(gap)),
      onLag: (behind, reason) => this.guard(() => listener.onLag?.(behind, reason)),
      // Nobody would know, as of a promise that is rejected and that nobody awaits.
      onFailed: (error) => (listener.onFailed ? this.guard(() => listener.onFailed?.(error)) : this.complain(error)),
      onClosed: () => this.guard(() => listener.onClosed?.()),
    };
  }

  /** Browsers show no pings, so silence is broken by the protocol's own; a dead connection answers nothing. */
  private listenForLife(socket: SocketLike): void {
    this.silentTicks += 1;
    if (this.silentTicks > 2) return this.lose(1006, "The hub has gone silent.");
    if (this.silentTicks === 2 && this.welcome) this.send(socket, { type: "ping" }, {}).catch(() => undefined);
  }
}

/** What may be wrong where no WebSocket opens: browsers do not say. */
function unreachable(address: string): string {
  const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
  const allow = origin ? ` Or it does not let in pages of ${origin}: start it with --allowed-origin ${origin}.` : "";
  return `No hub answers at ${address}. Does turnwire run there, and is the port right?${allow}`;
}

/** The URL, if a hub can be there; throws a TypeError that shows it without its token. */
function hubUrl(url: string): URL {
  if (URL.canParse(url)) {
    const parsed = new URL(url);
    if (["http:", "https:", "ws:", "wss:"].includes(parsed.protocol) && parsed.host) return parsed;
  }
  throw new TypeError(`"${url.split("#")[0]}" is no address of a hub: give http://HOST:PORT, as turnwire prints it.`);
}

/** The WebSocket's address: that of a hub, or below the path that a proxy has it at. */
function addressOf({ protocol, host, pathname }: URL): string {
  const scheme = protocol === "https:" || protocol === "wss:" ? "wss" : "ws";
  return `${scheme}://${host}${pathname.endsWith("/ws") ? pathname : `${pathname.replace(/\/+$/, "")}/ws`}`;
}

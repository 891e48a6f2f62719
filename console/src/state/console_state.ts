/** The console's own state: the connection, the sessions, the one on screen, and what went wrong. */
import {
  AccessRefused,
  Client,
  CommandFailed,
  type CommandInput,
  ConnectionLost,
  type ConnectionState,
  type Source as Given,
  type JsonValue,
  type SessionSummary,
  type ShellEnded,
  type ShellFrame,
  TimedOut,
  type Welcome,
} from "turnwire-client";
import type { Sought } from "../model/seek.js";
import { decoded, keyProtocols } from "./access.js";
import { type Attempt, identity, uuid4 } from "./attempt.js";
import { LiveSession } from "./live.js";
import { Source } from "./source.js";

export interface Toast {
  readonly key: number;
  readonly text: string;
}

/** A page that is not about one session. */
export interface View {
  readonly name: "history" | "usage";
  /** The words that are searched for. */
  readonly query: string;
}

/** What a double click would otherwise do twice. A prompt may well be sent twice. */
const ONCE: ReadonlySet<CommandInput["type"]> = new Set([
  "session.create",
  "session.fork",
  "session.resume",
  "session.retry",
  "session.close",
  "session.delete",
  "interrupt",
  "permission.respond",
  "question.answer",
  "set_permission_mode",
]);

/** Why a command was not done, for people: what went wrong and what to do. The client's own words name commands. */
export function whyNot(error: unknown): string {
  if (error instanceof ConnectionLost || error instanceof TimedOut)
    return "There is no connection to turnwire, so this may not have arrived. Try again once it is back.";
  return error instanceof Error ? error.message : String(error);
}

const KEPT = 4;
const SESSION = /^#\/s\/(.+)$/;
const VIEW = /^#\/(history|usage)(?:\/(.*))?$/;

export class ConsoleState {
  readonly client: Client;
  /** Connection, role and the list of sessions. */
  readonly changed = new Source();
  /** Another session is on screen. */
  readonly switched = new Source();
  readonly toasted = new Source();
  state: ConnectionState = "connecting";
  reason: string | undefined;
  /** The hub does not let this browser in. */
  refused = false;
  welcome: Welcome | undefined;
  private loadedFrom: string | undefined;
  sessions: SessionSummary[] = [];
  current: LiveSession | undefined;
  /** The page that the address names instead of a session. */
  view: View | undefined;
  /** The session that the address names, while there is none of that name. */
  missing: string | undefined;
  toasts: Toast[] = [];
  /** Who takes what the shells of this connection write, by their names; nothing is left of them once it is lost. */
  readonly shells = new Map<string, (frame: ShellFrame | ShellEnded | undefined) => void>();
  /** A session that was asked for just now and may not be in the list yet. */
  private expected: string | undefined;
  /** A place in a session that is to be shown there. */
  private sought: { readonly session: string; readonly what: Sought } | undefined;
  private toastKeys = 0;
  /** Sessions that were on screen lately go on being followed, so that switching between them is quick; oldest first. */
  private readonly kept = new Map<string, LiveSession>();

  /** With `fixed` it shows one session, leaves the page's address alone, and lets in by a token instead of the page's login. */
  constructor(
    url: string,
    name: string,
    private readonly fixed?: { readonly session: string; readonly token?: Given },
  ) {
    this.client = new Client({
      url,
      name,
      ...(fixed?.token === undefined ? {} : { token: fixed.token }),
      ...(fixed ? {} : { subprotocols: keyProtocols }),
      onState: (state, reason) => {
        this.state = state;
        this.reason = reason?.message;
        this.refused = state === "failed" && reason instanceof AccessRefused;
        if (state !== "open") for (const take of [...this.shells.values()]) take(undefined);
        this.changed.emit();
      },
      onWelcome: (welcome) => {
        // The page is of the version that it was loaded from.
        this.loadedFrom ??= welcome.version;
        this.welcome = welcome;
        this.list(welcome.sessions);
      },
      onSessions: (sessions) => this.list(sessions),
      onShell: (frame) => this.shells.get(frame.shell)?.(frame),
    });
    if (!fixed) addEventListener("hashchange", () => this.route());
    addEventListener("online", () => this.client.reconnect());
  }

  /** The version that the hub has by now, where it is another than that of this page. */
  get newer(): string | undefined {
    return this.welcome && this.welcome.version !== this.loadedFrom ? this.welcome.version : undefined;
  }

  /** Whether shells can be opened in the workspaces of sessions. */
  get mayOpenShells(): boolean {
    return this.welcome?.shell === true;
  }

  get mayControl(): boolean {
    return this.welcome?.role === "control";
  }

  /** Whether a session can be begun here: where recordings are played, there are no agents. */
  get mayCreate(): boolean {
    return this.mayControl && this.welcome?.agents !== undefined;
  }

  get summary(): SessionSummary | undefined {
    return this.sessions.find(({ session }) => session === this.current?.id);
  }

  /** Shows a session, and a place in it. */
  select(session: string, what?: Sought): void {
    if (this.fixed) return;
    this.expected = session;
    this.sought = what && { session, what };
    location.hash = `#/s/${encodeURIComponent(session)}`;
  }

  /** Shows what is shown when the address names no session. */
  deselect(): void {
    if (!this.fixed) location.hash = "";
  }

  visit(view: View["name"]): void {
    if (!this.fixed) location.hash = `#/${view}`;
  }

  /** Shows the newest session, whatever the address named. */
  selectNewest(): void {
    const newest = this.sessions.at(-1);
    if (newest) this.select(newest.session);
  }

  /** Commands that must not happen twice because of a second click, while the first is under way. */
  private readonly underWay = new Map<string, Promise<JsonValue | undefined>>();

  /**
   * Does a command for a view: says what went wrong, and gives undefined then. With an attempt, the same command after a
   * connection that broke is the same attempt: a prompt is said once, and the hub of a fleet does anything once. `onError` says it in
   * the place of a toast, which a dialog would cover.
   */
  run(command: CommandInput, attempt: Attempt = {}, onError?: (error: unknown) => void): Promise<JsonValue | undefined> {
    const sent = identity(command);
    const say = onError ?? ((error: unknown) => this.toast(whyNot(error)));
    if (!ONCE.has(command.type)) return this.send(command, sent, attempt, say);
    const first = this.underWay.get(sent);
    if (first) return first;
    const sending = this.send(command, sent, attempt, say).finally(() => this.underWay.delete(sent));
    this.underWay.set(sent, sending);
    return sending;
  }

  private async send(
    command: CommandInput,
    sent: string,
    attempt: Attempt,
    onError: (error: unknown) => void,
  ): Promise<JsonValue | undefined> {
    // The id of a prompt is its UUID, by which the log names it.
    const isNamed = command.type === "prompt" || this.welcome?.workers !== undefined;
    if (attempt.sent !== sent) Object.assign(attempt, { sent, id: isNamed ? uuid4() : undefined });
    try {
      const reply: unknown = await this.client.command(command, attempt.id === undefined ? {} : { id: attempt.id });
      delete attempt.sent;
      return reply as JsonValue;
    } catch (error) {
      if (error instanceof CommandFailed) delete attempt.sent;
      onError(error);
      return undefined;
    }
  }

  /** Why a command was not done, for people. */
  why(error: unknown): string {
    return whyNot(error);
  }

  toast(text: string): void {
    const key = ++this.toastKeys;
    this.toasts = [...this.toasts.slice(-3), { key, text }];
    this.toasted.emit();
    setTimeout(() => this.dismiss(key), 10_000);
  }

  dismiss(key: number): void {
    this.toasts = this.toasts.filter((toast) => toast.key !== key);
    this.toasted.emit();
  }

  private list(sessions: SessionSummary[]): void {
    this.sessions = sessions;
    for (const [id, live] of this.kept) {
      if (!sessions.some(({ session }) => session === id)) this.drop(id, live);
    }
    this.route();
    this.changed.emit();
  }

  private drop(id: string, live: LiveSession): void {
    live.close();
    this.kept.delete(id);
    if (this.current === live) {
      this.current = undefined;
      this.switched.emit();
    }
  }

  private route(): void {
    const hash = this.fixed ? `#/s/${encodeURIComponent(this.fixed.session)}` : location.hash;
    const [, name, query = ""] = VIEW.exec(hash) ?? [];
    this.view = name === "history" || name === "usage" ? { name, query: decoded(query) } : undefined;
    if (this.view) {
      this.missing = undefined;
      return this.leave();
    }
    const wanted = SESSION.exec(hash)?.[1];
    const id = wanted === undefined ? (this.current?.id ?? this.sessions.at(-1)?.session) : decoded(wanted);
    const known = this.sessions.find(({ session }) => session === id);
    this.missing = known || id === this.expected ? undefined : id;
    if (!known) return this.leave();
    this.expected = undefined;
    if (known.session === this.current?.id) return;
    const sought = this.sought?.session === known.session ? this.sought.what : undefined;
    this.sought = undefined;
    const summary = () => this.sessions.find(({ session }) => session === known.session);
    this.current = this.kept.get(known.session) ?? new LiveSession(this.client, known.session, summary);
    this.current.sought = sought;
    this.kept.delete(known.session);
    this.kept.set(known.session, this.current);
    for (const [other, live] of this.kept) {
      if (this.kept.size > KEPT) this.drop(other, live);
    }
    this.switched.emit();
  }

  /** Nothing is shown under an address that names no session of ours. */
  private leave(): void {
    this.current = undefined;
    this.switched.emit();
  }
}

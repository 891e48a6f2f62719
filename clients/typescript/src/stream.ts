/** A session that is followed by `for await`: what a listener is told, held until it is asked for. */
import type { TurnwireError } from "./errors.js";
import { BEGINNING, type Cursor, type Gap } from "./feed.js";
import type { Following, Listener } from "./following.js";
import type { CaughtUp, EventFrame, Lag } from "./schema.js";

/** What following a session gives: its events, and how it goes with them. */
export type Received = EventFrame | ({ readonly type: "gap" } & Gap) | CaughtUp | Lag;

export interface StreamOptions {
  /** From behind this event on. */
  after?: Cursor;
  /** Ends the iteration: it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** So many frames may wait for a slow consumer; then they wait at the hub. */
  held?: number;
}

/** What a stream needs of the client. */
interface Follower {
  readonly state: string;
  follow(session: string, listener: Listener, after: Cursor): Following;
}

export async function* streamed(
  client: Follower,
  session: string,
  { after = BEGINNING, signal, held = 4096 }: StreamOptions,
): AsyncGenerator<Received, void, undefined> {
  const waiting: Received[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  let following: Following | undefined;
  let cursor = after;
  const take = (...received: Received[]) => {
    waiting.push(...received);
    // What is closed gives nothing more, and goes on from its cursor.
    if (waiting.length >= held) following?.close();
    wake();
  };
  const fail = (error: unknown) => {
    failure = { error };
    wake();
  };
  const follow = () => {
    following = client.follow(
      session,
      {
        onEvents: (events) => take(...events),
        onGap: (gap) => take({ type: "gap", ...gap }),
        onCaughtUp: (seq) => take({ type: "caught_up", session, seq }),
        onLag: (behind, reason) =>
          take({ type: "lag", session, behind, ...(reason !== undefined && { error: { code: "journal_unavailable", message: reason } }) }),
        onFailed: (error: TurnwireError) => fail(error),
        onClosed: () => wake(),
      },
      cursor,
    );
    return following;
  };
  const abort = () => fail(signal?.reason);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  try {
    let current = follow();
    while (true) {
      cursor = current.cursor;
      if (failure && (signal?.aborted || waiting.length === 0)) throw failure.error;
      const next = waiting.shift();
      if (next) yield next;
      else if (client.state === "closed") return;
      else if (!current.closed) await new Promise<void>((resolve) => (wake = resolve));
      else if (!failure) current = follow();
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    following?.close();
  }
}

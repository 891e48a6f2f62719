/** Reads what a log has before a number, page by page from its beginning, while the session is followed from there on. */
import { type Client, CommandFailed, type EventFrame } from "turnwire-client";
import type { Hole } from "../model/tail.js";

interface Page {
  readonly events: readonly EventFrame[];
  readonly gap: Hole | null;
  readonly seq: number;
  readonly epoch: string;
}

/** What passes by itself, or when the hub has read its log again. */
const PASSING = new Set(["rate_limited", "internal"]);
const AGAIN_MS = 1000;

/**
 * Gives all pages to `take`, which returns false when no more are wanted. Returns true when it was all, false when no more were wanted, or
 * another life of the log has begun: the following tells of it. Rejects with CommandFailed when the hub gives none.
 */
export async function readEarlier(
  client: Client,
  session: string,
  { epoch, before }: { readonly epoch: string; readonly before: number },
  take: (events: readonly EventFrame[], gap: Hole | null) => boolean,
): Promise<boolean> {
  const ask = (after: number) => client.command({ type: "events.get", session, after, before, epoch });
  let read = 0;
  let asked = ask(read);
  while (true) {
    let page: Page;
    try {
      page = await asked;
    } catch (error) {
      if (client.state === "failed" || client.state === "closed") return false;
      if (error instanceof CommandFailed) {
        if (!PASSING.has(error.code)) throw error;
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
      await client.connected().catch(() => undefined);
      if (!take([], null)) return false;
      asked = ask(read);
      continue;
    }
    if (page.epoch !== epoch) return false;
    read = page.seq;
    const isAll = read >= before - 1;
    // The next one comes while this one is folded.
    if (!isAll) asked = ask(read);
    if (!take(page.events, page.gap)) {
      asked.catch(() => undefined);
      return false;
    }
    if (isAll) return true;
  }
}

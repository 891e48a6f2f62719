/** What the hub answers about old conversations, read into types; what is missing or odd in it is left out. */
import type { CommandInput, JsonValue } from "turnwire-client";
import type { Sought } from "../model/seek.js";
import { type Members, members } from "../state/ask.js";

/** A conversation that an agent has kept. Times are RFC 3339. */
export interface Kept {
  readonly id: string;
  readonly title: string;
  readonly folder: string;
  readonly agent: string;
  readonly ended: string | undefined;
  readonly turns: number;
  readonly cost: number | undefined;
  /** False: it cost that much, or more. */
  readonly whole: boolean;
  /** Some of the cost is an estimate. */
  readonly estimated: boolean;
  readonly model: string | undefined;
  readonly branch: string | undefined;
  /** Somebody's CLI has it open. */
  readonly running: boolean;
  /** turnwire's own session with it. */
  readonly session: string | undefined;
}

export interface Hit {
  /** One of turnwire's own sessions has it; else it is a conversation to be opened. */
  readonly live: boolean;
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly folder: string;
  readonly at: string | undefined;
  readonly snippet: ReadonlyArray<{ readonly text: string; readonly hit: boolean }>;
  readonly sought: Sought;
}

/** What was used, of one group; tokens of all kinds. */
export interface Spent {
  readonly name: string;
  readonly answers: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost: number | undefined;
  readonly whole: boolean;
  readonly estimated: boolean;
}

export type By = "day" | "week" | "month" | "block" | "session" | "project" | "model" | "agent";

const each = (value: JsonValue | undefined): Members[] => (Array.isArray(value) ? value.map(members) : []);
const text = (value: JsonValue | undefined) => (typeof value === "string" ? value : undefined);
const number = (value: JsonValue | undefined) => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

const isEstimated = (one: Members) => (number(one.estimated_usd) ?? 0) > 0;

export function conversations(answer: JsonValue): Kept[] {
  return each(members(answer).conversations).flatMap((one) => {
    const id = text(one.id);
    if (id === undefined) return [];
    return {
      id,
      title: text(one.title) ?? id,
      folder: text(one.folder) ?? "",
      agent: text(one.agent) ?? "",
      ended: text(one.ended),
      turns: number(one.turns) ?? 0,
      cost: number(one.cost_usd),
      whole: one.cost_is_whole !== false,
      estimated: isEstimated(one),
      model: text(one.model),
      branch: text(one.git_branch),
      running: one.running === true,
      session: text(one.session),
    };
  });
}

/** What goes into `before` for the next page; none after the last. */
export const next = (answer: JsonValue): string | undefined => text(members(answer).next);

/** What waits until the list is another one than in this answer. */
export function changedList(answer: JsonValue): CommandInput | undefined {
  const known = text(members(answer).version);
  return known === undefined ? undefined : { type: "library.list", known };
}

/** Older pages, where another first page has come: what it has is not in them, what newer ones have pushed out of it is. */
export function pushedOut(before: readonly Kept[], now: readonly Kept[], older: readonly Kept[]): Kept[] {
  const known = new Set(now.map(({ id }) => id));
  const last = now.at(-1)?.ended ?? "";
  // what was on the first page and is younger than its end is gone
  const out = before.filter(({ id, ended }) => !known.has(id) && (ended ?? "") <= last);
  for (const { id } of out) known.add(id);
  return [...out, ...older.filter(({ id }) => !known.has(id))];
}

/** False while the hub still reads the folders for the first time. */
export const isComplete = (answer: JsonValue): boolean => members(answer).complete !== false;

/** Of a fleet: the workers that have not answered in time. */
export const missing = (answer: JsonValue): string[] => {
  const names = members(answer).missing;
  return Array.isArray(names) ? names.flatMap((name) => text(name) ?? []) : [];
};

export function hits(answer: JsonValue): Hit[] {
  return each(members(answer).hits).flatMap((one) => {
    const id = text(one.id);
    if (id === undefined) return [];
    const snippet = each(one.snippet).map((part) => ({ text: text(part.text) ?? "", hit: part.hit === true }));
    const [seq, message, kind] = [number(one.seq), text(one.message), text(one.kind) ?? ""];
    return {
      live: one.source === "live",
      id,
      kind,
      title: text(one.title) ?? id,
      folder: text(one.folder) ?? "",
      at: text(one.at),
      snippet,
      // A title stands nowhere in the conversation: it opens where it ends.
      sought:
        kind === "title"
          ? {}
          : {
              ...(seq !== undefined && { seq }),
              ...(message !== undefined && { message }),
              kind,
              text: snippet
                .map((part) => part.text)
                .join("")
                .replace(/^…|…$/g, ""),
              words: snippet.flatMap((part) => (part.hit ? [part.text] : [])),
            },
    };
  });
}

export function usage(answer: JsonValue, by: By): Spent[] {
  return each(members(answer).usage).map((one) => ({
    name: text(members(one.group)[by]) ?? "unknown",
    answers: number(one.answers) ?? 0,
    input: number(one.input_tokens) ?? 0,
    output: number(one.output_tokens) ?? 0,
    cached: (number(one.cache_read_input_tokens) ?? 0) + (number(one.cache_creation_input_tokens) ?? 0),
    cost: number(one.cost_usd),
    whole: one.cost_is_whole !== false,
    estimated: isEstimated(one),
  }));
}

/** Conversations by folder; the folder that was used last comes first, and each keeps its order. */
export function byFolder(kept: readonly Kept[]): Array<readonly [folder: string, inside: readonly Kept[]]> {
  const folders = new Map<string, Kept[]>();
  for (const one of kept) {
    const inside = folders.get(one.folder);
    if (inside) inside.push(one);
    else folders.set(one.folder, [one]);
  }
  return [...folders];
}

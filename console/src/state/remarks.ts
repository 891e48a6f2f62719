/** Comments on lines that were not sent yet, by session; kept for this tab, so that a reload loses nothing. */
import type { Kept } from "./kept.js";
import { Source } from "./source.js";

/** A place that a comment can be about: a file, or something that was said. */
export interface Place {
  /** The file's path, or words for what was said, such as “your answer”. */
  readonly source: string;
  readonly file: boolean;
  /** Number of the line; absent where it is not known. */
  readonly line?: number;
  /** Number of the last line, of a comment on several. */
  readonly through?: number;
  /** The number is that of the line before the change. */
  readonly before?: boolean;
  /** The line itself. */
  readonly quote: string;
}

export interface Remark extends Place {
  readonly text: string;
}

const MOST = 200;
const LONGEST_QUOTE = 300;

const isRemark = (value: unknown): value is Remark =>
  typeof value === "object" &&
  value !== null &&
  "source" in value &&
  typeof value.source === "string" &&
  "quote" in value &&
  typeof value.quote === "string" &&
  "text" in value &&
  typeof value.text === "string";

export const cutQuote = (text: string) => (text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)} …` : text);

/** A path as an agent reads it: one that would break the line, or hide what is in it, in JSON's own quotes. */
const named = (path: string) => (/^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(path) ? path : JSON.stringify(path));

export function placeName({ source, file, line, through, before }: Place): string {
  const several = through !== undefined && through !== line;
  if (!file) return line === undefined ? source : `${source}, ${several ? `lines ${line} to ${through}` : `line ${line}`}`;
  return `${named(source)}${line === undefined ? "" : `:${line}${several ? `-${through}` : ""}`}${before ? " (before the change)" : ""}`;
}

const oneOf = (remark: Remark) => {
  const quote =
    remark.quote.trim() === ""
      ? ""
      : remark.through === undefined
        ? `> ${remark.quote.replace(/[\r\n]+/g, " ")}\n`
        : `${remark.quote
            .split("\n")
            .map((line) => `> ${line}`)
            .join("\n")}\n`;
  return `${placeName(remark)}\n${quote}${remark.text}`;
};

/** Comments as a prompt tells them: each with its file and line, what stands there, and what is said of it. */
export function formatComments(remarks: readonly Remark[]): string {
  return remarks.map(oneOf).join("\n\n");
}

export class Remarks {
  readonly changed = new Source();
  all: readonly Remark[];

  constructor(
    private readonly kept: Kept,
    private readonly session: string,
  ) {
    this.all = kept.list(`remarks.${session}`, isRemark).slice(0, MOST);
  }

  /** Those about this line. */
  of(place: Place): Remark[] {
    return this.all.filter(
      (one) =>
        one.source === place.source &&
        one.line === place.line &&
        (one.through ?? one.line) === (place.through ?? place.line) &&
        (one.before ?? false) === (place.before ?? false) &&
        one.quote === place.quote,
    );
  }

  add(remark: Remark): void {
    this.set([...this.all, remark].slice(-MOST));
  }

  remove(remark: Remark): void {
    this.set(this.all.filter((one) => one !== remark));
  }

  /** Takes all away, to be sent; they come back by `set` should that fail. */
  take(): readonly Remark[] {
    const taken = this.all;
    this.set([]);
    return taken;
  }

  set(remarks: readonly Remark[]): void {
    this.all = remarks;
    this.kept.setList(`remarks.${this.session}`, remarks);
    this.changed.emit();
  }
}

/** Comments on lines that were not sent yet, by session; kept for this tab, so that a reload loses nothing. */
import { Source } from "./source.js";

/** A place that a comment can be about: a file, or something that was said. */
export interface Place {
  /** The file's path, or words for what was said, such as “your answer”. */
  readonly source: string;
  readonly file: boolean;
  /** Number of the line; absent where it is not known. */
  readonly line?: number;
  /** The number is that of the line before the change. */
  readonly before?: boolean;
  /** The line itself. */
  readonly quote: string;
}

export interface Remark extends Place {
  readonly text: string;
}

const KEY = "turnwire.remarks.";
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

export function kept(text: string | null): Remark[] {
  try {
    const found: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(found) ? found.filter(isRemark).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export const cutQuote = (text: string) => (text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)} …` : text);

/** A path as an agent reads it: one that would break the line, or hide what is in it, in JSON's own quotes. */
const named = (path: string) => (/^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(path) ? path : JSON.stringify(path));

export function placeName({ source, file, line, before }: Place): string {
  if (!file) return line === undefined ? source : `${source}, line ${line}`;
  return `${named(source)}${line === undefined ? "" : `:${line}`}${before ? " (before the change)" : ""}`;
}

const oneOf = (remark: Remark) => {
  const quote = remark.quote.trim() === "" ? "" : `> ${remark.quote.replace(/[\r\n]+/g, " ")}\n`;
  return `${placeName(remark)}\n${quote}${remark.text}`;
};

/** Comments as a prompt tells them: each with its file and line, what stands there, and what is said of it. */
export function told(remarks: readonly Remark[]): string {
  return remarks.map(oneOf).join("\n\n");
}

export class Remarks {
  readonly changed = new Source();
  all: readonly Remark[];

  constructor(
    private readonly storage: Storage,
    private readonly session: string,
  ) {
    this.all = kept(storage.getItem(KEY + session));
  }

  /** Those about this line. */
  of(place: Place): Remark[] {
    return this.all.filter(
      (one) =>
        one.source === place.source &&
        one.line === place.line &&
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
    try {
      if (remarks.length === 0) this.storage.removeItem(KEY + this.session);
      else this.storage.setItem(KEY + this.session, JSON.stringify(remarks));
    } catch {
      // The storage is full: the page still has them.
    }
    this.changed.emit();
  }
}

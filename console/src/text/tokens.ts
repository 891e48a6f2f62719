/** Highlighted code line by line, as pieces of text with a class each: what a diff is drawn from, without any HTML. */
import { spans } from "./languages.js";

export interface Token {
  readonly text: string;
  readonly className: string;
}

/** A piece of a line that the line beside it has not. */
export interface MarkedToken extends Token {
  readonly mark: boolean;
}

/** From one column of a line to another. */
export type Range = readonly [from: number, to: number];

const PART = /<span class="([^"]*)">|<\/span>|([^<]+)/g;
const ENTITY = /&(amp|lt|gt|quot|#x27);/g;
const CHARACTERS: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** The lines of some code; undefined when it stays plain. */
export function tokenLines(code: string, language: string): Token[][] | undefined {
  const html = spans(code, language);
  if (html === undefined) return undefined;
  const lines: Token[][] = [[]];
  const open: string[] = [];
  for (const [whole, className, text] of html.matchAll(PART)) {
    if (className !== undefined) open.push(className);
    else if (whole === "</span>") open.pop();
    else if (text !== undefined) {
      text
        .replace(ENTITY, (_, name: string) => CHARACTERS[name] ?? "")
        .split("\n")
        .forEach((piece, index) => {
          if (index > 0) lines.push([]);
          if (piece) lines.at(-1)?.push({ text: piece, className: open.at(-1) ?? "" });
        });
    }
  }
  return lines;
}

/** Cuts pieces where a range begins or ends. */
export function marked(tokens: readonly Token[], ranges: readonly Range[]): MarkedToken[] {
  const cut: MarkedToken[] = [];
  let at = 0;
  for (const { text, className } of tokens) {
    const end = at + text.length;
    let from = at;
    for (const [begin, until] of ranges) {
      if (until <= from || begin >= end) continue;
      if (begin > from) cut.push({ text: text.slice(from - at, begin - at), className, mark: false });
      const to = Math.min(until, end);
      cut.push({ text: text.slice(Math.max(from, begin) - at, to - at), className, mark: true });
      from = to;
    }
    if (from < end) cut.push({ text: text.slice(from - at), className, mark: false });
    at = end;
  }
  return cut;
}

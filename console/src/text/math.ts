/** Formulas in Markdown, found before anything else reads their backslashes. A sum of money is none. */
import type { TokenizerAndRendererExtension, Tokens } from "marked";

const BLOCK = /^ {0,3}(?:\$\$([^$]{1,4000}?)\$\$|\\\[([\s\S]{1,4000}?)\\\])[ \t]*(?:\n|$)/;
const INLINE = /^(?:\$\$([^$\n]{1,2000}?)\$\$|\\\(([^\n]{1,2000}?)\\\)|\$(?![\s$])([^$\n]{1,500}?)(?<![\s\\])\$(?![\w$]))/;
/** Between single dollars there is a formula only if it looks like one. */
const LOOKS = /[\\^_=<>]|^[A-Za-z]$/;

/** In a longer text none is looked for: for every word it would be looked for in all that follows. */
const LONGEST = 10_000;

export const mayHaveFormulas = (text: string) => text.length <= LONGEST && /\$|\\[([]/.test(text);

export function formulaIn(source: string, pattern: RegExp): { raw: string; text: string } | undefined {
  const found = pattern.exec(source);
  if (!found || (found[3] !== undefined && !LOOKS.test(found[3]))) return undefined;
  return { raw: found[0], text: (found[1] ?? found[2] ?? found[3] ?? "").trim() };
}

const kind = (
  name: string,
  level: "block" | "inline",
  pattern: RegExp,
  shown: (text: string) => string,
): TokenizerAndRendererExtension => ({
  name,
  level,
  start: (source) => {
    const at = source.search(level === "block" ? /^ {0,3}(?:\$\$|\\\[)/m : /\$|\\\(/);
    return at < 0 ? undefined : at;
  },
  tokenizer: (source): Tokens.Generic | undefined => {
    const found = formulaIn(source, pattern);
    return found && { type: name, ...found };
  },
  renderer: ({ text }) => shown(String(text)),
});

/** They stand as code until somebody sets them, and where nobody can. */
export const formulas = (plain: (text: string) => string): TokenizerAndRendererExtension[] => [
  kind("mathBlock", "block", BLOCK, (text) => `<p><code class="math-block">${plain(text)}</code></p>\n`),
  kind("math", "inline", INLINE, (text) => `<code class="math">${plain(text)}</code>`),
];

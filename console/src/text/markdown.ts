/** Markdown to HTML that may be shown. Images become links: the console asks nobody else for anything. */
import { Marked } from "marked";
import { highlight } from "./highlight.js";
import { sanitize } from "./sanitize.js";
import { visibleProse } from "./visible.js";

const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Headings of a message stand below those of the page: the session is the first level, the turn the second. */
const BELOW = 2;

const marked = new Marked({
  gfm: true,
  renderer: {
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + BELOW);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
    },
    code: ({ text, lang }) => {
      const language = (lang ?? "").split(/\s/)[0] ?? "";
      return `<pre><code class="hljs">${String(highlight(text, language) ?? escapeHtml(text))}</code></pre>\n`;
    },
    image: ({ href, text }) => `<a class="image-link" href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    html: ({ text }) => escapeHtml(text),
  },
});

/** A longer piece is no prose; it is shown as it is. */
export const LONGEST_SEGMENT = 30_000;

const cache = new Map<string, string>();
const CACHE_SIZE = 500;

export function render(markdown: string): string {
  const known = cache.get(markdown);
  if (known !== undefined) return known;
  const html = sanitize(marked.parse(visibleProse(markdown), { async: false }));
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(markdown, html);
  return html;
}

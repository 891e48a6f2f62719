/** Markdown to HTML that may be shown. Images become links: the console asks nobody else for anything. */
import { Marked } from "marked";
import { highlight } from "./highlight.js";
import { sanitize } from "./sanitize.js";
import { visibleProse } from "./visible.js";

const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const marked = new Marked({
  gfm: true,
  renderer: {
    heading({ tokens, depth }) {
      // Below the session's and the turn's, and one level: a message's own may begin anywhere, and skip some.
      return `<h3 class="md-${depth}">${this.parser.parseInline(tokens)}</h3>\n`;
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

/** Markdown to HTML that may be shown. Images become links: the console asks nobody else for anything. */
import { Marked, type MarkedExtension } from "marked";
import { highlight } from "./highlight.js";
import { onGrammars } from "./languages.js";
import { formulas, mayHaveFormulas } from "./math.js";
import { sanitize } from "./sanitize.js";
import { visibleProse } from "./visible.js";

const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Languages of diagrams. What draws them is larger than all else here by far, so their source is what is shown. */
const DRAWN: Record<string, string> = { mermaid: "Mermaid", plantuml: "PlantUML", dot: "Graphviz", graphviz: "Graphviz" };

const options: MarkedExtension = {
  gfm: true,
  renderer: {
    heading({ tokens, depth }) {
      // Below the session's and the turn's, and one level: a message's own may begin anywhere, and skip some.
      return `<h3 class="md-${depth}">${this.parser.parseInline(tokens)}</h3>\n`;
    },
    code: ({ text, lang }) => {
      const language = (lang ?? "").split(/\s/)[0] ?? "";
      const drawn = DRAWN[language.toLowerCase()];
      const note = drawn ? `<p class="md-note">A diagram, as ${drawn} has it written:</p>` : "";
      return `${note}<pre><code class="hljs">${String(highlight(text, language) ?? escapeHtml(text))}</code></pre>\n`;
    },
    image: ({ href, text }) => `<a class="image-link" href="${escapeHtml(href)}">${escapeHtml(text || href)}</a>`,
    html: ({ text }) => escapeHtml(text),
  },
};
const marked = new Marked(options);
const withFormulas = new Marked(options, { extensions: formulas(escapeHtml) });

/** A longer piece is no prose; it is shown as it is. */
export const LONGEST_SEGMENT = 30_000;

const cache = new Map<string, string>();
/** What was rendered before code had colours has none. */
onGrammars(() => cache.clear());
const CACHE_SIZE = 500;

export function render(markdown: string): string {
  const known = cache.get(markdown);
  if (known !== undefined) return known;
  const html = sanitize((mayHaveFormulas(markdown) ? withFormulas : marked).parse(visibleProse(markdown), { async: false }));
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(markdown, html);
  return html;
}

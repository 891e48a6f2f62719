/**
 * The console's style for a shadow tree: what is of the page there is of the element here, and sizes do not follow the page's font.
 * Adopted as a style sheet, which a strict Content-Security-Policy allows.
 */
import console from "../../../console/src/style/index.css?inline";

const FRAME = `
:host { display: block; position: relative; overflow: hidden; contain: content; height: 480px; }
:host([hidden]) { display: none; }
.element { display: flex; flex-direction: column; height: 100%; background: var(--ground); color: var(--text); }
.element > main { display: flex; flex-direction: column; flex: 1; min-height: 0; min-width: 0; position: relative; }
.element .refusal { padding: 16px; }
.element .request :is(kbd, .way) { display: none; }
`;

/** Text of the page's style as that of a shadow tree. */
export function shadowed(css: string): string {
  return css
    .replaceAll(/:root(\[[^\]]*\]|:not\([^)]*\))?/g, (_, more: string | undefined) => (more ? `:host(${more})` : ":host"))
    .replaceAll(/(?<![\w.#-])html(?![\w-])/g, ":host")
    .replaceAll(/(?<![\w.#-])body(?![\w-])/g, ".element")
    .replaceAll("#root", ".element")
    .replaceAll(/(?<![\w-])(\d*\.?\d+)rem\b/g, "calc($1 * var(--turnwire-size, 15px))");
}

let sheet: CSSStyleSheet | undefined;

export function adopt(root: ShadowRoot): void {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(`${shadowed(console)}\n${FRAME}`);
  }
  root.adoptedStyleSheets = [sheet];
}

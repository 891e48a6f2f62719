/** The one way from text to HTML: DOMPurify, with a short list of what may stand in a conversation. */
import DOMPurify from "dompurify";

// biome-ignore format: a list to be read by the line.
const TAGS = [
  "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "strong", "em", "del", "code", "pre", "blockquote",
  "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "a", "span", "input", "kbd", "sub", "sup",
];
const ATTRIBUTES = ["href", "title", "class", "start", "type", "checked", "disabled", "align", "aria-label"];
/** What is written from right to left stands so, each by itself. */
const BLOCKS = new Set(["P", "LI", "H1", "H2", "H3", "H4", "H5", "H6", "TD", "TH", "BLOCKQUOTE"]);
const ADDRESS = /^(?:https?:|mailto:)/i;
const CLASSES = /^(?:hljs[\w-]*|language-[\w+#-]+|image-link|math(?:-block)?|md-(?:[1-6]|note))$/;

const purifier = DOMPurify(window);
purifier.addHook("uponSanitizeAttribute", (_node, attribute) => {
  if (attribute.attrName === "class" && !attribute.attrValue.split(/\s+/).every((name) => CLASSES.test(name))) {
    attribute.keepAttr = false;
  }
  if (attribute.attrName === "href" && !ADDRESS.test(attribute.attrValue)) attribute.keepAttr = false;
});
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (BLOCKS.has(node.nodeName)) node.setAttribute("dir", "auto");
  if (node.nodeName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
  if (node.nodeName === "INPUT") {
    // Task lists make check boxes; nothing else may make an input.
    if (node.getAttribute("type") !== "checkbox") node.remove();
    else {
      node.setAttribute("disabled", "");
      node.setAttribute("aria-label", node.hasAttribute("checked") ? "done" : "to do");
    }
  }
});

/** HTML that may be shown. The type says TrustedHTML where the browser enforces it, a string elsewhere. */
export function sanitize(html: string): string {
  return purifier.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    RETURN_TRUSTED_TYPE: "trustedTypes" in window,
  }) as unknown as string;
}

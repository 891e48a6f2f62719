/**
 * Formulas as MathML, which the browser itself lays out. Comes in a file of its own, once a text has a formula.
 * A formula is somebody else's: it may name no address and no element of the page, and it ends.
 */
import temml from "temml";

/** More of them in one text, or a longer one, stay as they were written. */
const MOST = 200;
const LONGEST = 2000;
const MATHML = "http://www.w3.org/1998/Math/MathML";
/** What of an element could lead elsewhere or be taken for another. */
const LEADS = /^(?:on|id$|href$|src$|xlink|xmlns|name$)/i;

function cleaned(node: Element): boolean {
  for (const inner of [node, ...node.querySelectorAll("*")]) {
    if (inner.namespaceURI !== MATHML) return false;
    for (const { name } of [...inner.attributes]) if (LEADS.test(name)) inner.removeAttribute(name);
  }
  return true;
}

/** The formula, or undefined where it cannot be read. */
function formula(text: string, displayMode: boolean): Element | undefined {
  const place = document.createElement("span");
  try {
    temml.render(text, place, { displayMode, throwOnError: true, trust: false, strict: false, maxSize: [20, 20], maxExpand: 200 });
  } catch {
    return undefined;
  }
  const found = place.firstElementChild;
  return found && cleaned(found) ? found : undefined;
}

/** Puts formulas in place of the code that stands for them. */
export function typeset(root: Element): void {
  for (const code of [...root.querySelectorAll("code.math, code.math-block")].slice(0, MOST)) {
    const text = code.textContent ?? "";
    const block = code.classList.contains("math-block");
    const made = text.length > LONGEST ? undefined : formula(text, block);
    if (!made) continue;
    const frame = document.createElement("span");
    frame.className = block ? "formula block" : "formula";
    frame.append(made);
    code.replaceWith(frame);
    // What is wider than its place is scrolled, by the keyboard, too.
    if (frame.scrollWidth > frame.clientWidth) {
      frame.tabIndex = 0;
      frame.setAttribute("role", "group");
      frame.setAttribute("aria-label", "Formula");
    }
  }
}

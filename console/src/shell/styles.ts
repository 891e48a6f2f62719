/**
 * Lets xterm.js keep to the page's policy, which allows no style within the page. The `style` elements that it makes when it is opened
 * become style sheets. The style attributes of its spans are set by the object model, which the policy allows.
 */

export function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return sheet;
}

function leave(sheet: CSSStyleSheet): void {
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
}

HTMLSpanElement.prototype.setAttribute = function (name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
};

/** Does something that makes `style` elements: their texts become sheets, which go with them. */
export function withSheets(act: () => void): void {
  const create = document.createElement.bind(document);
  function createElement(name: string, options?: ElementCreationOptions): Element {
    if (name !== "style") return create(name, options);
    const sheet = sheetOf("");
    const place = create("template");
    Object.defineProperty(place, "textContent", { set: (text: string) => sheet.replaceSync(text) });
    place.remove = () => {
      leave(sheet);
      Element.prototype.remove.call(place);
    };
    return place;
  }
  Object.assign(document, { createElement });
  try {
    act();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/**
 * A layout for a document that has none: every element is a line of its own, in the order of the document, and nothing lies over it.
 * What decides can then be seen, and stands still until something above it comes or goes.
 */
import { vi } from "vitest";
import { button } from "./page.js";

const LINE = 20;

/** Selectors of elements that are out of sight. */
export const outOfSight = new Set<string>();

/** Whether what is asked is higher than a window. */
let isLong = false;
export const makeLong = () => {
  isLong = true;
};

const lineOf = (node: Element) => [...document.querySelectorAll("*")].indexOf(node);
const isOutOfSight = (node: Element) => [...outOfSight].some((selector) => node.matches(selector));

/** Lays documents out until spies and globals are restored. */
export function layOut(): void {
  outOfSight.clear();
  isLong = false;
  vi.stubGlobal("visualViewport", null);
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
    // What holds others is as high as all of them.
    const lines = 1 + this.querySelectorAll("*").length;
    return new DOMRect(0, lineOf(this) * LINE, 100, this.matches(".request-body") ? lines * LINE : LINE);
  });
  vi.spyOn(Element.prototype, "scrollHeight", "get").mockImplementation(() => (isLong ? 2000 : 0));
  document.elementFromPoint = (_, y) => {
    const node = [...document.querySelectorAll("*")][Math.floor(y / LINE)] ?? null;
    return node && isOutOfSight(node) ? document.body : node;
  };
}

/** Lets time pass, in milliseconds, where the clock is the test's. */
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Presses a button with the pointer. */
export async function tap(name: string): Promise<void> {
  button(name).dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
  button(name).dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
  await pass(0);
}

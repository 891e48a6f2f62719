/** Where the keyboard is: it stays in a part of the page whose buttons make way for others, and is taken from nobody. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** The tree that a part is in: the document, or the shadow tree that shows a session in a page of somebody else. */
export const rootOf = (part: Node) => part.getRootNode() as Document | ShadowRoot;

/** Gives a part the focus, unless the page around a shadow tree has it. */
export function focusFromHere(part: HTMLElement | null): void {
  if (part && rootOf(part).activeElement !== null) part.focus({ preventScroll: true });
}

export const nothingHasFocus = () => document.activeElement === null || document.activeElement === document.body;

/** Gives the focus to a part when the button that had it has gone with a step of it; the part has a `tabIndex`. */
export function useKeyboardKept(part: RefObject<HTMLElement | null>, step: unknown): void {
  const before = useRef(step);
  useLayoutEffect(() => {
    if (before.current === step) return;
    before.current = step;
    if (nothingHasFocus()) part.current?.focus({ preventScroll: true });
  }, [step]);
}

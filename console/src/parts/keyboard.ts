/** Keeps the keyboard in a part of the page whose buttons make way for others. */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

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

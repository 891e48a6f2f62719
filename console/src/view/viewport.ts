/**
 * Keeps the page above the keyboard of a phone: some browsers lay it over the page and tell only by the part that is seen. Pure but for
 * `keepInSight`.
 */

/** Less than this is a bar of the browser, in pixels. */
const KEYBOARD = 80;

/** The height that the page may have, in pixels; undefined where it has the whole window, also while two fingers enlarge it. */
export function seenHeight(seen: { readonly height: number; readonly scale: number }, window: number): number | undefined {
  return Math.abs(seen.scale - 1) < 0.01 && window - seen.height > KEYBOARD ? seen.height : undefined;
}

export function keepInSight(): void {
  const seen = window.visualViewport;
  if (!seen) return;
  const { style } = document.documentElement;
  const fit = () => {
    const height = seenHeight(seen, window.innerHeight);
    if (height === undefined) style.removeProperty("--seen");
    else style.setProperty("--seen", `${height}px`);
    // The browser scrolled the page to the field; all of it has room now.
    if (height !== undefined) window.scrollTo(0, 0);
  };
  seen.addEventListener("resize", fit);
  fit();
}

/**
 * Whether a person can see the element as it is: what decides in it does nothing otherwise. The page around it, and pages around that
 * one, may cover it, fade it, shrink it or move it while somebody is about to click.
 *
 * Chromium tells by IntersectionObserver's `trackVisibility`, which also counts what pages of other origins lay over a frame. A browser
 * without it cannot know of those: there nothing is decided in a frame.
 */
import { watchHost } from "../../../console/src/request/sight.js";

/** Milliseconds between two looks of the browser; less is not allowed. */
const DELAY_MS = 100;
/** Pixels of a place in which somebody can read what they decide. */
export const LEAST = { width: 280, height: 240 };

interface Tracked extends IntersectionObserverEntry {
  readonly isVisible?: boolean;
}

/** Watches an element until the returned function is called. */
export function guard(host: Element): () => void {
  let isVisible = false;
  let tracks = false;
  const observer = new IntersectionObserver(
    (entries) => {
      const entry = entries.at(-1) as Tracked;
      tracks = entry.isVisible !== undefined;
      const { width, height } = entry.intersectionRect;
      isVisible = (entry.isVisible ?? entry.isIntersecting) && width >= LEAST.width && height >= LEAST.height;
    },
    { threshold: Array.from({ length: 21 }, (_, i) => i / 20), trackVisibility: true, delay: DELAY_MS } as IntersectionObserverInit,
  );
  observer.observe(host);
  const unwatch = watchHost(host, () => isVisible && (tracks || (window.top === window && isOpaque(host))));
  return () => {
    observer.disconnect();
    unwatch();
  };
}

/** Where the browser does not tell: nothing around it in this page fades, moves or blends it. */
function isOpaque(host: Element): boolean {
  for (let node: Element | null = host; node; node = node.parentElement) {
    const { opacity, filter, transform, mixBlendMode } = getComputedStyle(node);
    if (opacity !== "1" || filter !== "none" || transform !== "none" || mixBlendMode !== "normal") return false;
  }
  return true;
}

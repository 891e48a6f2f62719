/** Whether somebody can see a thing: it is on the screen, nothing clips it, nothing covers it. */
import type { Place } from "./arming.js";

/** How often what decides looks where it stands, in milliseconds. */
export const LOOK_MS = 100;

/** Where along its middle line a control is looked at, as shares of its width. */
const ALONG = [0.1, 0.5, 0.9];

/** Elements that hold the page's parts in a shadow tree, each with what tells whether it is to be seen. */
const hosts = new WeakMap<Element, () => boolean>();

/** Has an element that holds such parts ask whether it is to be seen, until the returned function is called. */
export function watchHost(host: Element, isSeen: () => boolean): () => void {
  hosts.set(host, isSeen);
  return () => void hosts.delete(host);
}

/** The tree that a thing is in, which knows what lies over what; undefined while its element is not to be seen. */
function treeOf(node: Element): Document | ShadowRoot | undefined {
  if (document.visibilityState !== "visible") return undefined;
  const root = node.getRootNode();
  if (!(root instanceof ShadowRoot)) return document;
  return hosts.get(root.host)?.() ? root : undefined;
}

/** Where a control stands, in pixels of the screen; undefined while it is out of sight or anything lies over it. */
export function placeOf(node: Element | null): Place | undefined {
  const tree = node && treeOf(node);
  if (!node || !tree) return undefined;
  const { left, top, width, height } = node.getBoundingClientRect();
  if (width === 0 || height === 0) return undefined;
  const isOnTop = (share: number) => node.contains(tree.elementFromPoint(left + width * share, top + height / 2));
  if (!ALONG.every(isOnTop)) return undefined;
  // On a phone two fingers or its keyboard move what is seen of the page, and nothing in the page.
  const { offsetLeft = 0, offsetTop = 0, scale = 1 } = visualViewport ?? {};
  return { left: (left - offsetLeft) * scale, top: (top - offsetTop) * scale, width: width * scale, height: height * scale };
}

/** Pixels of height that what is asked has in every window of usual size, a phone's included. */
const USUAL = 240;

const isAtEnd = (field: HTMLTextAreaElement) => field.scrollTop + field.clientHeight >= field.scrollHeight - 2;

/** Whether all that is read by scrolling has room in a window of usual size: a mark is at its end, and it may have a field. */
export function isShort(mark: Element | null, field: HTMLTextAreaElement | null): boolean {
  const box = mark?.closest(".request-body");
  if (!mark || !box || !treeOf(mark) || (field && !isAtEnd(field))) return false;
  return box.scrollHeight <= USUAL;
}

/** Whether the end of what is read by scrolling is in sight: a mark at the end of it, and the end of a field in it. */
export function isEndInSight(mark: Element | null, field: HTMLTextAreaElement | null): boolean {
  const box = mark?.closest(".request-body");
  const tree = mark && treeOf(mark);
  if (!mark || !box || !tree) return false;
  if (field && !isAtEnd(field)) return false;
  const { left, top, width, height } = mark.getBoundingClientRect();
  const middle = top + height / 2;
  const { top: first, bottom: last } = box.getBoundingClientRect();
  // Neither clipped by what it scrolls in, nor below anything else.
  if (middle < first || middle > last) return false;
  // Right above it: at the very edge of the box the browser rounds to what is below.
  return ALONG.every((share) => box.contains(tree.elementFromPoint(left + width * share, top - 1)));
}

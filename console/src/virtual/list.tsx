/**
 * A list of which only the visible part exists. Heights are estimated until an item was seen, then measured. What stands
 * above the first visible item never moves it, and a list that is at its end stays there while it grows.
 */
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { Heights, mergeEarlierItems } from "./heights.js";

export interface ListHandle {
  scrollTo(index: number): void;
  toEnd(): void;
  focus(): void;
}

interface Props<Item> {
  items: readonly Item[];
  itemKey: (item: Item) => number;
  estimate: (item: Item) => number;
  render: (item: Item, index: number) => ComponentChildren;
  label: string;
  /** Pixels that items take which come later, before all others; what stands there meanwhile. Once they are there: 0. */
  unloadedHeight?: number;
  leading?: ComponentChildren;
  /** Stay at the end while the list grows. */
  follow?: boolean;
  handle?: RefObject<ListHandle | null>;
  onFollow?: (following: boolean) => void;
  className?: string;
}

/** Pixels drawn beyond what is seen: few while the list moves, so that no step is long, more once it rests. */
const MOVING = 120;
const RESTING = 600;
const REST_MS = 100;
const NEAR_END = 40;
/** Room below the last item. */
const END_SPACE = 16;

export function VirtualList<Item>(props: Props<Item>) {
  const { items, itemKey, estimate, render, label, unloadedHeight = 0, leading, follow = false, handle, onFollow, className = "" } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const last = useRef<{ items: readonly Item[]; heights: Heights } | undefined>(undefined);
  /** By how much what is seen moves with this drawing. */
  const shift = useRef(0);
  const heights = useMemo(() => {
    const leads = last.current !== undefined && last.current.heights.unloadedHeight > 0;
    const place =
      leads && last.current ? mergeEarlierItems(last.current, items, itemKey, estimate, scroller.current?.scrollTop ?? 0) : undefined;
    const made = place?.heights ?? new Heights();
    if (!place) made.unloadedHeight = unloadedHeight;
    shift.current = place?.shift ?? 0;
    last.current = { items, heights: made };
    return made;
  }, [items]);
  const following = useRef(follow);
  const lastTop = useRef(0);
  const beyond = useRef(MOVING);
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const elements = useRef(new Map<Element, number>());
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  for (let i = heights.length; i < items.length; i += 1) heights.append(estimate(items[i] as Item));

  const observer = useMemo(
    () =>
      new ResizeObserver((entries) => {
        const node = scroller.current;
        if (!node) return;
        const anchor = heights.at(node.scrollTop);
        let above = 0;
        let changed = false;
        for (const entry of entries) {
          const index = elements.current.get(entry.target);
          if (index === undefined || !entry.target.isConnected) continue;
          const delta = heights.set(index, entry.borderBoxSize[0]?.blockSize ?? 0);
          if (delta !== 0) changed = true;
          if (index < anchor) above += delta;
        }
        if (!changed) return;
        if (above !== 0 && !following.current) node.scrollTop += above;
        redraw(undefined);
      }),
    [heights],
  );

  const top = (scroller.current?.scrollTop ?? 0) + shift.current;
  const view = scroller.current?.clientHeight ?? 800;
  const start = following.current ? Math.max(0, heights.total - view) : top;
  const first = heights.at(Math.max(0, start - beyond.current));
  const end = items.length === 0 ? -1 : heights.at(start + view + beyond.current);

  useLayoutEffect(() => {
    const node = scroller.current;
    if (!node) return;
    // Moved upwards a moment ago, with the scroll event still to come: that event lets go of the end.
    const moved = node.scrollTop < lastTop.current && node.scrollHeight - node.scrollTop - node.clientHeight > 1;
    if (following.current && moved) return;
    if (following.current) node.scrollTop = node.scrollHeight;
    else if (shift.current !== 0) node.scrollTop += shift.current;
    else return;
    shift.current = 0;
    lastTop.current = node.scrollTop;
  });

  useEffect(() => {
    const node = scroller.current;
    if (!node) return;
    const size = new ResizeObserver(() => redraw(undefined));
    size.observe(node);
    return () => size.disconnect();
  }, []);
  useEffect(() => () => observer.disconnect(), [observer]);

  function move(): void {
    beyond.current = MOVING;
    clearTimeout(rest.current);
    rest.current = setTimeout(() => {
      beyond.current = RESTING;
      redraw(undefined);
    }, REST_MS);
  }

  useEffect(() => {
    move();
    return () => clearTimeout(rest.current);
  }, [items]);

  function setFollowing(value: boolean): void {
    if (following.current === value) return;
    following.current = value;
    onFollow?.(value);
  }

  function onScroll(): void {
    const node = scroller.current;
    if (!node) return;
    // Any move upwards lets go of the end at once, or smooth scrolling could never leave it.
    const distance = node.scrollHeight - node.scrollTop - node.clientHeight;
    if (follow && node.scrollTop < lastTop.current && distance > 1) setFollowing(false);
    else if (follow && distance < NEAR_END) setFollowing(true);
    if (node.scrollTop !== lastTop.current) move();
    lastTop.current = node.scrollTop;
    redraw(undefined);
  }

  if (handle) {
    handle.current = {
      scrollTo(index) {
        setFollowing(false);
        const node = scroller.current;
        if (!node) return;
        node.scrollTop = heights.offset(index) - 12;
        // Items near the target are measured only once they are drawn, which can move it.
        requestAnimationFrame(() => requestAnimationFrame(() => (node.scrollTop = heights.offset(index) - 12)));
      },
      toEnd() {
        setFollowing(true);
        redraw(undefined);
      },
      focus() {
        scroller.current?.focus({ preventScroll: true });
      },
    };
  }

  const drawn = [];
  for (let index = first; index <= end; index += 1) {
    const item = items[index] as Item;
    drawn.push(
      <Measured key={itemKey(item)} index={index} observer={observer} elements={elements.current}>
        {render(item, index)}
      </Measured>,
    );
  }
  return (
    <div class={`scroller ${className}`} ref={scroller} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
      <div class="spacer" style={{ height: `${heights.total + END_SPACE}px` }}>
        {heights.unloadedHeight > 0 && (
          <div class="leading" style={{ height: `${heights.unloadedHeight}px` }}>
            {leading}
          </div>
        )}
        <div class="window" style={{ transform: `translateY(${heights.offset(first)}px)` }}>
          {drawn}
        </div>
      </div>
    </div>
  );
}

interface MeasuredProps {
  index: number;
  observer: ResizeObserver;
  elements: Map<Element, number>;
  children: ComponentChildren;
}

function Measured({ index, observer, elements, children }: MeasuredProps) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const node = ref.current;
    if (!node) return;
    elements.set(node, index);
    observer.observe(node);
    return () => {
      elements.delete(node);
      observer.unobserve(node);
    };
  }, [observer, index]);
  return (
    <div class="item" ref={ref}>
      {children}
    </div>
  );
}

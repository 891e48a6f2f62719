/**
 * Heights of a list's items, with sums and searches in logarithmic time (a Fenwick tree). Items are only appended; those that are not
 * there yet stand before them as `unloadedHeight`.
 */
export class Heights {
  unloadedHeight = 0;
  private tree = new Float64Array(1024 + 1);
  private values = new Float64Array(1024);
  private count = 0;

  get length(): number {
    return this.count;
  }

  get total(): number {
    return this.offset(this.count);
  }

  append(height: number): void {
    if (this.count === this.values.length) this.enlarge();
    const index = this.count;
    this.count += 1;
    this.add(index, height);
    this.values[index] = height;
  }

  get(index: number): number {
    return this.values[index] ?? 0;
  }

  /** Returns by how much the item grew. */
  set(index: number, height: number): number {
    const delta = height - this.get(index);
    if (delta !== 0) {
      this.add(index, delta);
      this.values[index] = height;
    }
    return delta;
  }

  /** Where an item begins: the sum of the heights before it. */
  offset(index: number): number {
    let sum = this.unloadedHeight;
    for (let i = Math.min(index, this.count); i > 0; i -= i & -i) sum += this.tree[i] ?? 0;
    return sum;
  }

  /** The item that covers this position; the nearest one when none does. */
  at(position: number): number {
    let index = 0;
    let left = position - this.unloadedHeight;
    for (let step = this.values.length; step > 0; step >>= 1) {
      const next = index + step;
      const sum = this.tree[next];
      if (next <= this.count && sum !== undefined && sum <= left) {
        index = next;
        left -= sum;
      }
    }
    return Math.max(0, Math.min(index, this.count - 1));
  }

  clear(): void {
    this.tree.fill(0);
    this.values.fill(0);
    this.count = 0;
  }

  private add(index: number, delta: number): void {
    for (let i = index + 1; i < this.tree.length; i += i & -i) this.tree[i] = (this.tree[i] ?? 0) + delta;
  }

  private enlarge(): void {
    const old = this.values;
    this.values = new Float64Array(old.length * 2);
    this.values.set(old);
    this.tree = new Float64Array(this.values.length + 1);
    for (let index = 0; index < this.count; index += 1) this.add(index, old[index] ?? 0);
  }
}

/** Heights that are estimated are not stretched beyond this. */
const STRETCHED = 8;

interface List<Item> {
  readonly items: readonly Item[];
  readonly heights: Heights;
}

/**
 * The heights of a list in which the items that were missing stand before those that were there: these keep theirs, the others share the
 * unloadedHeight, so that nothing moves. Items are told by their keys. `shift` is by how much what stands at a position moves nevertheless, where
 * others came between. Undefined where nothing is there any more that was.
 */
export function mergeEarlierItems<Item>(
  { items: was, heights: before }: List<Item>,
  items: readonly Item[],
  key: (item: Item) => number,
  estimate: (item: Item) => number,
  position: number,
): { heights: Heights; shift: number } | undefined {
  const known = new Map(was.map((item, index) => [key(item), before.get(index)]));
  const joint = items.findIndex((item) => known.has(key(item)));
  if (joint < 0) return undefined;
  const estimates = items.slice(0, joint).map(estimate);
  const total = estimates.reduce((sum, height) => sum + height, 0);
  const stretch = Math.min(STRETCHED, Math.max(1 / STRETCHED, before.unloadedHeight / Math.max(1, total)));
  const heights = new Heights();
  for (const height of estimates) heights.append(height * stretch);
  for (const item of items.slice(joint)) heights.append(known.get(key(item)) ?? estimate(item));
  if (position < before.unloadedHeight) return { heights, shift: 0 };
  const seen = before.at(position);
  const place = items.findIndex((item) => key(item) === key(was[seen] as Item));
  return { heights, shift: place < 0 ? 0 : heights.offset(place) - before.offset(seen) };
}

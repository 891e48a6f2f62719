/** Heights of a list's items, with sums and searches in logarithmic time (a Fenwick tree). Items are only appended. */
export class Heights {
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
    let sum = 0;
    for (let i = Math.min(index, this.count); i > 0; i -= i & -i) sum += this.tree[i] ?? 0;
    return sum;
  }

  /** The item that covers this position; the nearest one when none does. */
  at(position: number): number {
    let index = 0;
    let left = position;
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

/** Prompts sent before, for the arrow keys; kept for this tab. */
const KEY = "turnwire.history";
const MOST = 100;

export class History {
  private readonly entries: string[];
  private at: number;
  /** What was being written when looking back began. */
  private written = "";

  constructor(private readonly storage: Storage) {
    const kept: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    this.entries = Array.isArray(kept) ? kept.filter((entry) => typeof entry === "string") : [];
    this.at = this.entries.length;
  }

  add(text: string): void {
    if (text && this.entries.at(-1) !== text) this.entries.push(text);
    this.entries.splice(0, this.entries.length - MOST);
    this.at = this.entries.length;
    this.storage.setItem(KEY, JSON.stringify(this.entries));
  }

  /** The one before; undefined when there is none. */
  older(current: string): string | undefined {
    if (this.at === 0) return undefined;
    if (this.at === this.entries.length) this.written = current;
    this.at -= 1;
    return this.entries[this.at];
  }

  newer(): string | undefined {
    if (this.at >= this.entries.length) return undefined;
    this.at += 1;
    return this.at === this.entries.length ? this.written : this.entries[this.at];
  }
}

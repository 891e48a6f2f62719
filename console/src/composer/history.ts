/** Prompts sent before, for the arrow keys; kept for this tab. */
import type { Kept } from "../state/kept.js";

const MOST = 100;

export class History {
  private readonly entries: string[];
  private at: number;
  /** What was being written when looking back began. */
  private written = "";

  constructor(private readonly kept: Kept) {
    this.entries = kept.list("history", (entry) => typeof entry === "string");
    this.at = this.entries.length;
  }

  add(text: string): void {
    if (text && this.entries.at(-1) !== text) this.entries.push(text);
    this.entries.splice(0, this.entries.length - MOST);
    this.at = this.entries.length;
    this.kept.setList("history", this.entries);
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

/** What is being written, by session; kept for this tab, so that a reload loses nothing. */
import type { Kept } from "./kept.js";

export class Drafts {
  constructor(private readonly kept: Kept) {}

  of(session: string): string {
    return this.kept.text(`draft.${session}`) ?? "";
  }

  keep(session: string, text: string): void {
    this.kept.set(`draft.${session}`, text === "" ? undefined : text);
  }
}

/** What is being written, by session; kept for this tab, so that a reload loses nothing. */
const KEY = "turnwire.draft.";

export class Drafts {
  constructor(private readonly storage: Storage) {}

  of(session: string): string {
    return this.storage.getItem(KEY + session) ?? "";
  }

  keep(session: string, text: string): void {
    try {
      if (text === "") this.storage.removeItem(KEY + session);
      else this.storage.setItem(KEY + session, text);
    } catch {
      // The storage is full: the field still has it.
    }
  }
}

/**
 * What the page keeps in the browser, all of it. A value that is damaged counts as absent. A storage that is full, or forbidden, costs
 * nothing but itself: the page goes on with what it has in memory.
 */

/** The names of what is kept; some are followed by a session's id. */
type Name = "theme" | "notify" | "split" | "editor" | "seen" | "viewed" | "name" | "key" | "token" | "history" | "models" | "folded";
type NameOfSession = `draft.${string}` | `remarks.${string}`;

const PREFIX = "turnwire.";

export class Kept {
  /** A function, as reading the browser's own storage throws where cookies are forbidden. */
  constructor(private readonly storage: () => Storage) {}

  text(name: Name | NameOfSession): string | undefined {
    try {
      return this.storage().getItem(PREFIX + name) ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Keep a text; undefined keeps nothing under the name any more. */
  set(name: Name | NameOfSession, text: string | undefined): void {
    try {
      if (text === undefined) this.storage().removeItem(PREFIX + name);
      else this.storage().setItem(PREFIX + name, text);
    } catch {
      // Full or forbidden.
    }
  }

  /** The entries of a list that are what they should be. */
  list<Entry>(name: Name | NameOfSession, isEntry: (value: unknown) => value is Entry): Entry[] {
    try {
      const entries: unknown = JSON.parse(this.text(name) ?? "[]");
      return Array.isArray(entries) ? entries.filter(isEntry) : [];
    } catch {
      return [];
    }
  }

  setList(name: Name | NameOfSession, entries: readonly unknown[]): void {
    this.set(name, entries.length === 0 ? undefined : JSON.stringify(entries));
  }
}

/** Kept for all tabs of this browser. */
export const inBrowser = new Kept(() => localStorage);

/** Kept for this tab, over a reload. */
export const inTab = new Kept(() => sessionStorage);

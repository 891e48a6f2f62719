/** Files whose changes the reader has looked at, and in which state; kept in this browser, so that a reload knows them. */
const KEY = "turnwire.viewed";
/** Marks that are kept, of all sessions together; the oldest go. */
const MOST = 2000;

/** Session, file and the file's state. */
type Mark = readonly [string, string, string];

export class Viewed {
  private readonly versions: Map<string, string>;

  constructor(
    private readonly storage: Storage,
    private readonly session: string,
  ) {
    this.versions = new Map(this.kept().flatMap(([of, file, version]) => (of === session ? [[file, version]] : [])));
  }

  /** False also of a file that was changed since. */
  has(file: string, version: string): boolean {
    return this.versions.get(file) === version;
  }

  mark(file: string, version: string): void {
    this.versions.set(file, version);
    this.keep(file, [[this.session, file, version]]);
  }

  unmark(file: string): void {
    this.versions.delete(file);
    this.keep(file, []);
  }

  /** Other tabs and sessions keep theirs in the same place: it is read before it is written. */
  private keep(file: string, marks: readonly Mark[]): void {
    const others = this.kept().filter(([session, other]) => session !== this.session || other !== file);
    try {
      this.storage.setItem(KEY, JSON.stringify([...others, ...marks].slice(-MOST)));
    } catch {
      // The storage is full: this page still knows.
    }
  }

  private kept(): Mark[] {
    try {
      const marks: unknown = JSON.parse(this.storage.getItem(KEY) ?? "[]");
      return Array.isArray(marks) ? marks.filter(isMark) : [];
    } catch {
      return [];
    }
  }
}

function isMark(value: unknown): value is Mark {
  return Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string");
}

/** Files whose changes the reader has looked at, and in which state; kept in this browser, so that a reload knows them. */
import type { Kept } from "./kept.js";

/** Marks that are kept, of all sessions together; the oldest go. */
const MOST = 2000;

/** Session, file and the file's state. */
type Mark = readonly [string, string, string];

export class Viewed {
  private readonly versions: Map<string, string>;

  constructor(
    private readonly kept: Kept,
    private readonly session: string,
  ) {
    this.versions = new Map(kept.list("viewed", isMark).flatMap(([of, file, version]) => (of === session ? [[file, version]] : [])));
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
    const others = this.kept.list("viewed", isMark).filter(([session, other]) => session !== this.session || other !== file);
    this.kept.setList("viewed", [...others, ...marks].slice(-MOST));
  }
}

function isMark(value: unknown): value is Mark {
  return Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === "string");
}

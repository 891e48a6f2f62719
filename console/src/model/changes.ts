/** The files a session changed, each with its changes in order. */
import { counted, hunksOf } from "../text/diff.js";
import type { ToolRow, Turn } from "./rows.js";

export interface Change {
  readonly row: ToolRow;
  readonly turn: Turn | undefined;
  readonly added: number;
  readonly removed: number;
}

export interface FileChange {
  readonly path: string;
  readonly changes: readonly Change[];
  readonly added: number;
  readonly removed: number;
}

/** How much was changed, kept up to date so that no turn's end has to look at all of it. */
export class Total {
  readonly paths = new Set<string>();
  added = 0;
  removed = 0;
}

export class Changes {
  readonly total = new Total();
  private readonly files = new Map<string, Change[]>();
  private readonly turns = new Map<Turn | undefined, Total>();
  private readonly known = new Set<ToolRow>();

  get size(): number {
    return this.files.size;
  }

  /** Takes a call that ended; true when it changed a file. */
  note(row: ToolRow, turn: Turn | undefined): boolean {
    if (row.payload?.kind !== "modify_file" || row.status !== "complete" || this.known.has(row)) return false;
    const { file_path: path, mutations, output } = row.payload.modify_file;
    if (output?.applied === false) return false;
    this.known.add(row);
    const { added, removed } =
      output?.added_lines === undefined && output?.removed_lines === undefined
        ? counted(mutations.flatMap((mutation) => hunksOf(mutation) ?? []))
        : { added: output.added_lines ?? 0, removed: output.removed_lines ?? 0 };
    const change = { row, turn, added, removed };
    const ofTurn = this.turns.get(turn) ?? new Total();
    this.turns.set(turn, ofTurn);
    for (const total of [this.total, ofTurn]) {
      total.paths.add(path);
      total.added += added;
      total.removed += removed;
    }
    const before = this.files.get(path);
    if (before) before.push(change);
    else this.files.set(path, [change]);
    return true;
  }

  totalOf(turn: Turn): Total {
    return this.turns.get(turn) ?? new Total();
  }

  /** What was changed, in the whole session or in one turn; by path. */
  of(turn?: Turn): FileChange[] {
    const found: FileChange[] = [];
    for (const [path, all] of this.files) {
      const changes = turn === undefined ? all : all.filter((change) => change.turn === turn);
      if (changes.length > 0) found.push({ path, changes, ...sum(changes) });
    }
    return found.sort((one, other) => (one.path < other.path ? -1 : 1));
  }
}

export function sum(changes: ReadonlyArray<{ added: number; removed: number }>): { added: number; removed: number } {
  return changes.reduce((total, { added, removed }) => ({ added: total.added + added, removed: total.removed + removed }), {
    added: 0,
    removed: 0,
  });
}

/** Something views can watch: it says that it changed, they read it anew. */
import { useEffect, useReducer } from "preact/hooks";

export type Unwatch = () => void;

export class Source {
  /** Counts the changes. */
  version = 0;
  private readonly watchers = new Set<() => void>();

  watch(watcher: () => void): Unwatch {
    this.watchers.add(watcher);
    return () => void this.watchers.delete(watcher);
  }

  emit(): void {
    this.version += 1;
    for (const watcher of [...this.watchers]) watcher();
  }
}

/** Render again whenever one of the sources says that it changed. */
export function useSource(...sources: Array<Source | undefined>): void {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const sum = () => sources.reduce((total, source) => total + (source?.version ?? 0), 0);
  const drawn = sum();
  useEffect(() => {
    const unwatch = sources.map((source) => source?.watch(() => render(undefined)));
    // Something may have changed between drawing and watching.
    if (sum() !== drawn) render(undefined);
    return () => {
      for (const stop of unwatch) stop?.();
    };
  }, sources);
}

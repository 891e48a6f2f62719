/** Parts that show less than the whole, counted: where something is decided, nobody may think that a part is all of it. */
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { Source } from "../state/source.js";

export class Cuts {
  count = 0;
  readonly changed = new Source();

  add(number: number): void {
    this.count += number;
    this.changed.emit();
  }
}

/** Absent where nothing is decided: there long contents are cut early. */
export const CutsContext = createContext<Cuts | undefined>(undefined);

/** What is shown of a long content at first: more where it is decided on. */
export function useLimit(usual: number, decided: number): number {
  return useContext(CutsContext) ? decided : usual;
}

/** Counts a part that is cut, for as long as it is drawn. */
export function useCut(): void {
  const cuts = useContext(CutsContext);
  useEffect(() => {
    cuts?.add(1);
    return () => cuts?.add(-1);
  }, [cuts]);
}

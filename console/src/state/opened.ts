/** What the reader opened and closed. It stays with the row: a list draws only the rows in sight. */
import { useReducer } from "preact/hooks";
import type { Row } from "../model/rows.js";

/** Whether a row, or the group that it leads, is open, and what changes that; `usual` holds until the reader chose. */
export function useOpened(row: Row, usual: boolean, what: "open" | "grouped" = "open"): readonly [open: boolean, toggle: () => void] {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const open = row.view[what] ?? usual;
  return [
    open,
    () => {
      row.view[what] = !open;
      render(undefined);
    },
  ];
}

/** What is being written in a request. It is kept with the request's row, and so outlives what draws it. */
import { useState } from "preact/hooks";
import type { RequestRow } from "../model/rows.js";

/** The draft, and what changes it. A change starts from what is there by then: a program that fills in a form makes several before any is drawn. */
export function useDraft<Draft>(row: RequestRow, empty: () => Draft): [Draft, (change: (before: Draft) => Draft) => void] {
  const [draft, show] = useState(() => (row.view.draft as Draft | undefined) ?? empty());
  return [
    draft,
    (change) =>
      show((before) => {
        const next = change(before);
        row.view.draft = next;
        return next;
      }),
  ];
}

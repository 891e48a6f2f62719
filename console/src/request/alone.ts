import type { RequestRow } from "../model/rows.js";

/** Where a request stands in the conversation: nowhere while it waits in the dock, and not twice. */
export function standsAlone(row: RequestRow): boolean {
  return (row.resolved !== undefined || row.cancelled !== undefined) && !inCard(row);
}

/** Its verdict is told in the card of the call it is about. */
function inCard({ tool, ...row }: RequestRow): boolean {
  return tool !== undefined && tool.parent === undefined && tool.request?.key === row.key;
}

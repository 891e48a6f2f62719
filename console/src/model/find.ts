/** Finds words in a conversation: in all of its rows, drawn or not. Pure. */
import type { Row, ToolRow } from "./rows.js";

/** Rows that are given at most. */
const MOST = 1000;

const texts = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" && value !== null ? Object.values(value).map(texts).join("\n") : "";

function ofTool({ title, payload, update, plan }: ToolRow): string {
  return [title, texts(payload), update?.error ?? "", plan?.plan_content ?? ""].join("\n");
}

/** What a row says, as far as people look for it. */
function said(row: Row): string {
  switch (row.kind) {
    case "user":
    case "text":
    case "reasoning":
      return row.text;
    case "tool":
      return ofTool(row);
    case "plan":
      return row.plan.plan_content;
    case "request":
      return [
        row.request.type === "permission_request" ? row.request.permission_title : texts(row.request.questions),
        row.resolved?.message ?? "",
      ].join("\n");
    case "notice":
      return row.text;
    case "minorEvents":
      return row.entries.map(({ text }) => text).join("\n");
    case "fact":
      return texts(row.event);
    case "unrecognised":
      return row.event.raw;
    case "turn":
    case "end":
    case "gap":
      return "";
    default:
      row satisfies never;
      return "";
  }
}

/** The rows that have all of these letters in one stretch, whatever their case; in the order of the conversation. */
export function find(rows: readonly Row[], words: string): Row[] {
  const wanted = words.trim().toLowerCase();
  const found: Row[] = [];
  const look = (some: readonly Row[]) => {
    for (const row of some) {
      if (found.length >= MOST) return;
      if (said(row).toLowerCase().includes(wanted)) found.push(row);
      if (row.kind === "tool") look(row.children);
    }
  };
  if (wanted !== "") look(rows);
  return found;
}

/** Turns and where their time went: model, tools, humans. Times stay the strings of the log until they are drawn. */
import type { CompleteData } from "turnwire-client";
import { between } from "../text/format.js";
import { namedPath } from "../text/path.js";
import type { Span, Turn } from "./rows.js";

export function newTurn(id: string, origin: string, seq: number, ts: string, trace?: string): Turn {
  return {
    id,
    seq,
    origin,
    trace,
    start: ts,
    end: undefined,
    result: undefined,
    error: undefined,
    spans: [],
    tools: 0,
    whole: true,
    boundary: ts,
    model: undefined,
  };
}

/** The model said something at `ts`: its span goes from when it got the word to now. */
export function modelSpoke(turn: Turn, messageId: string | undefined, seq: number, ts: string): void {
  if (turn.model && turn.model.messageId === messageId) {
    turn.model.span.end = ts;
    return;
  }
  const span: Span = {
    kind: "model",
    label: "model",
    path: undefined,
    start: turn.boundary,
    end: ts,
    waited: 0,
    failed: false,
    seq,
    nested: false,
  };
  turn.spans.push(span);
  turn.model = { messageId, span };
  turn.boundary = ts;
}

export function openSpan(turn: Turn, what: Pick<Span, "kind" | "label" | "path" | "seq" | "nested">, ts: string): Span {
  const span: Span = { ...what, start: ts, end: undefined, waited: 0, failed: false };
  turn.spans.push(span);
  return span;
}

/** The label where there is little room: of a path only the file's name, so that what is cut is not the name. */
export function shortLabel({ label, path }: Pick<Span, "label" | "path">): string {
  return path === undefined ? label : label.replace(path, () => namedPath(path).name);
}

/** How long a span took, without what a human was waited for. */
export function took(span: Span, end: string): number {
  return Math.max(0, between(span.start, span.end ?? end) - span.waited);
}

export function closeSpan(turn: Turn | undefined, span: Span | undefined, ts: string, failed = false): void {
  if (!span || span.end !== undefined) return;
  span.end = ts;
  span.failed = failed;
  if (turn) turn.boundary = ts;
}

export function endTurn(turn: Turn, ts: string, result: CompleteData, error: string | undefined): void {
  turn.end = ts;
  turn.result = result;
  turn.error = error;
  for (const span of turn.spans) span.end ??= ts;
}

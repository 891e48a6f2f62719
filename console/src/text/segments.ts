/**
 * Cuts Markdown into pieces that can be rendered one by one, so that a text that grows costs only its last piece.
 * A cut is made at a blank line outside of fences and before something that surely begins anew.
 */
/** What is shown of a long output: its beginning and, where most errors stand, its end. Cut at lines where some are near. */
export function bothEnds(text: string, shown: number): { head: string; tail: string } {
  if (text.length <= shown) return { head: text, tail: "" };
  const from = Math.floor(shown / 3);
  const line = text.lastIndexOf("\n", from);
  const head = text.slice(0, line > from / 2 ? line + 1 : from);
  const to = text.length - (shown - from);
  const next = text.indexOf("\n", to);
  return { head, tail: text.slice(next >= 0 && next < to + from ? next + 1 : to) };
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CONTINUES = /^(?:\s|[-*+] |\d+[.)] |>|\||<)/;

export function segments(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let fence = "";
  let blank = false;
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    const next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, Math.min(next, at + 200));
    const mark = FENCE.exec(line)?.[1];
    if (!fence && blank && line.trim() && !CONTINUES.test(line)) {
      found.push(text.slice(start, at));
      start = at;
    }
    if (mark) {
      if (!fence) fence = mark;
      else if (mark.startsWith(fence) && line.trim() === mark) fence = "";
    }
    blank = !line.trim();
    at = next;
  }
  found.push(text.slice(start));
  return found;
}

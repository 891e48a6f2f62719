/**
 * Cuts Markdown into pieces that can be rendered one by one, so that a text that grows costs only its last piece.
 * A cut is made at a blank line outside of fences and before something that surely begins anew.
 */
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

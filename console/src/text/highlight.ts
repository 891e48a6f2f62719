/** Syntax highlighting as HTML that may be shown. */
import { spans } from "./languages.js";
import { sanitize } from "./sanitize.js";

/** Highlighted HTML, already sanitised; undefined when the code stays plain. */
export function highlight(code: string, language: string): string | undefined {
  const html = spans(code, language);
  return html === undefined ? undefined : sanitize(html);
}

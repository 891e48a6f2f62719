/**
 * Characters that change what is seen without being seen: bidirectional overrides could show a command other than the
 * one that runs, so they are spelt out, as are control characters that no terminal sequence explains.
 */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff]/g;

const spell = (character: string) => `⟨U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** For prose: only what reorders text is spelt out. */
export function visibleProse(text: string): string {
  return text.replace(BIDI, spell);
}

/** For code, commands, paths and titles: everything invisible is spelt out. */
export function visibleCode(text: string): string {
  return text.replace(CONTROL, spell);
}

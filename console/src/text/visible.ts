/**
 * Characters that change what is seen without being seen. A bidirectional override can show another command than the one that
 * runs, and an invisible character makes two names look alike: they are spelt out, as are control characters that no terminal
 * sequence explains. In code, words in a right-to-left script are isolated too, so that they reorder nothing around them.
 */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;
/** Everything that takes no room or looks like a blank. Of these a tab and a newline belong in code. */
const INVISIBLE = /(?![\t\n]|\r(?:\n|$))[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;
/** An emoji may be followed by U+FE0F and joined by U+200D: both are seen there. */
const EMOJI =
  /\p{Extended_Pictographic}\ufe0f?(?:\u200d\p{Extended_Pictographic}\ufe0f?)+|\p{Extended_Pictographic}\ufe0f|[0-9#*]\ufe0f\u20e3/gu;
const NOT_ASCII = /[^\t\n -~]/;
const RIGHT_TO_LEFT =
  /[\u0590-\u05ff\u0600-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}][\u0590-\u05ff\u0600-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}\p{M}]*/gu;
const FIRST_STRONG_ISOLATE = "\u2068";
const POP_ISOLATE = "\u2069";

const spell = (character: string) => `⟨U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`;

/** For prose: only what reorders text is spelt out. */
export function visibleProse(text: string): string {
  return text.replace(OVERRIDES, spell);
}

/** For names, titles and paths: everything invisible is spelt out. */
export function visibleCode(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  const emoji = new Set<number>();
  for (const { 0: whole, index } of text.matchAll(EMOJI)) for (let at = 0; at < whole.length; at += 1) emoji.add(index + at);
  return text.replace(INVISIBLE, (character, index: number) => (emoji.has(index) ? character : spell(character)));
}

/** For code and commands: the same, and the words stand in the order in which they are written. */
export function orderedCode(text: string): string {
  return visibleCode(text).replace(RIGHT_TO_LEFT, (word) => `${FIRST_STRONG_ISOLATE}${word}${POP_ISOLATE}`);
}

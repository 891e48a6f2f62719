/** Code in the colours of its language. What knows the languages is loaded when the first code is drawn; until then code is plain. */
import hljs from "highlight.js/lib/core";

/** Longer code is shown plain: grammars can take very long on it. */
const LONGEST = 20_000;
const LONGEST_LINE = 1000;

// The grammar of TypeScript has that of JavaScript in it.
hljs.registerAliases(["tsx", "mts", "cts", "javascript", "js", "jsx", "mjs", "cjs"], { languageName: "typescript" });
hljs.registerAliases(["html", "svg", "vue"], { languageName: "xml" });
hljs.registerAliases(["sh", "zsh", "shell", "console"], { languageName: "bash" });

let isLoaded = false;
let loading: Promise<void> | undefined;
const waiting: Array<() => void> = [];

/** Call this as soon as code has colours. */
export function onGrammars(then: () => void): void {
  if (isLoaded) then();
  else waiting.push(then);
}

/** Load what knows the languages, once. Where that fails code stays plain, and the next code tries again. */
export function loadGrammars(): Promise<void> {
  loading ??= import("./grammars.js").then(
    ({ grammars }) => {
      for (const [name, grammar] of Object.entries(grammars)) hljs.registerLanguage(name, grammar);
      isLoaded = true;
      for (const then of waiting.splice(0)) then();
    },
    () => {
      loading = undefined;
    },
  );
  return loading;
}

export function languageOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).toLowerCase();
}

/** HTML of spans as highlight.js makes it; undefined when the code stays plain. */
export function spans(code: string, language: string): string | undefined {
  if (language === "" || code.length > LONGEST) return undefined;
  if (!isLoaded) {
    void loadGrammars();
    return undefined;
  }
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return undefined;
  return hljs.getLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : undefined;
}

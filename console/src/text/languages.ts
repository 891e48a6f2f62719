/** The languages agents write most, as highlight.js knows them; anything else stays plain. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = { bash, css, diff, go, java, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
// The grammar of TypeScript has that of JavaScript in it.
hljs.registerAliases(["tsx", "mts", "cts", "javascript", "js", "jsx", "mjs", "cjs"], { languageName: "typescript" });
hljs.registerAliases(["html", "svg", "vue"], { languageName: "xml" });
hljs.registerAliases(["sh", "zsh", "shell", "console"], { languageName: "bash" });

/** Longer code is shown plain: grammars can take very long on it. */
const LONGEST = 20_000;
const LONGEST_LINE = 1000;

export function languageOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1).toLowerCase();
}

/** HTML of spans as highlight.js makes it; undefined when the code stays plain. */
export function spans(code: string, language: string): string | undefined {
  if (code.length > LONGEST || !hljs.getLanguage(language)) return undefined;
  if (code.split("\n").some((line) => line.length > LONGEST_LINE)) return undefined;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

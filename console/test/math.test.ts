import { Marked } from "marked";
import { describe, expect, test } from "vitest";
import { formulas, mayHaveFormulas } from "../src/text/math.js";

const plain = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const marked = new Marked({ gfm: true }, { extensions: formulas(plain) });
const shown = (text: string) => marked.parse(text, { async: false });

describe("formulas in Markdown", () => {
  test("are what stands between their marks, backslashes and all", () => {
    expect(shown("So $x^2_i$ and \\(a_1 * b_1\\) hold")).toBe(
      '<p>So <code class="math">x^2_i</code> and <code class="math">a_1 * b_1</code> hold</p>\n',
    );
    expect(shown("$$\n\\frac{a}{b}\n$$")).toBe('<p><code class="math-block">\\frac{a}{b}</code></p>\n');
    expect(shown("Text\n\n\\[ a < b \\]\n\nmore")).toContain('<code class="math-block">a &lt; b</code>');
  });

  test("are no sums of money, no names of variables, nothing in code", () => {
    for (const text of ["from $5 to $10", "$5-$10", "PATH=$HOME/bin:$PATH", "`$x^2$`", "a $ b $ c", "\\$x^2\\$", "US$ 3 = 4 US$ x"]) {
      expect(shown(text)).not.toContain('class="math');
    }
  });

  test("are not looked for where there would be no end to it", () => {
    expect(mayHaveFormulas("no such mark")).toBe(false);
    expect(mayHaveFormulas(`$x^2$ ${"word ".repeat(5000)}`)).toBe(false);
    expect(shown("\\(".repeat(3000))).not.toContain("math");
    expect(shown("$a ".repeat(3000))).not.toContain("math");
  });
});

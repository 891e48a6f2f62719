import { describe, expect, test } from "vitest";
import { fits, mention, mentioned } from "../src/composer/completion.js";
import { differing } from "../src/inspector/git_answer.js";
import { Kept } from "../src/state/kept.js";
import { cutQuote, formatComments, placeName, Remarks } from "../src/state/remarks.js";
import { fromUnified } from "../src/text/diff.js";

class Shelf implements Storage {
  private readonly items = new Map<string, string>();
  full = false;
  get length() {
    return this.items.size;
  }
  clear = () => this.items.clear();
  key = (index: number) => [...this.items.keys()][index] ?? null;
  getItem = (key: string) => this.items.get(key) ?? null;
  removeItem = (key: string) => void this.items.delete(key);
  setItem = (key: string, value: string) => {
    if (this.full) throw new Error("full");
    this.items.set(key, value);
  };
}

const LINE = { source: "src/a.py", file: true, line: 3, quote: "return x", text: "Why?" };

describe("comments on lines", () => {
  test("are kept over a reload, by session, and taken by the prompt that they go with", () => {
    const storage = new Shelf();
    const remarks = new Remarks(new Kept(() => storage), "s-1");
    remarks.add(LINE);
    remarks.add({ ...LINE, line: 9, before: true });
    expect(new Remarks(new Kept(() => storage), "s-2").all).toEqual([]);
    const again = new Remarks(new Kept(() => storage), "s-1");
    expect(again.of({ source: "src/a.py", file: true, line: 3, quote: "return x" })).toEqual([LINE]);
    expect(again.of({ source: "src/a.py", file: true, line: 3, quote: "return y" })).toEqual([]);
    expect(again.take().length).toBe(2);
    expect(new Remarks(new Kept(() => storage), "s-1").all).toEqual([]);
    storage.full = true;
    again.add(LINE);
    expect(again.all).toEqual([LINE]);
  });

  test("are told with file, line and what stands there", () => {
    const said = { source: "Your plan", file: false, line: 2, quote: "", text: "No" };
    expect(formatComments([LINE, { ...LINE, before: true }, said])).toBe(
      "src/a.py:3\n> return x\nWhy?\n\nsrc/a.py:3 (before the change)\n> return x\nWhy?\n\nYour plan, line 2\nNo",
    );
  });

  test("of odd names and lines stay on their line", () => {
    expect(placeName({ ...LINE, source: "a b\n> c.py" })).toBe('"a b\\n> c.py":3');
    expect(placeName({ ...LINE, source: "a\u202eb.py" })).toBe('"a\u202eb.py":3');
    expect(formatComments([{ ...LINE, quote: "a\r\rb" }])).toBe("src/a.py:3\n> a b\nWhy?");
    expect(cutQuote("x".repeat(1000)).length).toBeLessThan(310);
  });

  test("that were spoilt in the storage are left out", () => {
    const storage = new Shelf();
    const after = (text: string) => {
      storage.setItem("turnwire.remarks.s-1", text);
      return new Remarks(new Kept(() => storage), "s-1").all;
    };
    expect(after("{")).toEqual([]);
    expect(after('{"a":1}')).toEqual([]);
    expect(after(JSON.stringify([1, null, { source: 1 }, LINE]))).toEqual([LINE]);
  });
});

describe("files mentioned in a prompt", () => {
  test("begin with an @ of their own", () => {
    expect(mention("look at @src/a", 14)).toEqual({ at: 8, text: "src/a" });
    expect(mention("@", 1)).toEqual({ at: 0, text: "" });
    expect(mention("(@a", 3)).toEqual({ at: 1, text: "a" });
    for (const text of ["ada@example", "look at @src/a now", "", "@a b"]) expect(mention(text, text.length)).toBeUndefined();
    const long = `${"@x ".repeat(100_000)}@y`;
    expect(mention(long, long.length)).toEqual({ at: long.length - 2, text: "y" });
  });

  test("are put in place of what was written", () => {
    expect(mentioned("see @sr, please", { at: 4, text: "sr" }, "src/a.py")).toEqual({ text: "see @src/a.py , please", caret: 14 });
    expect(mentioned("@a", { at: 0, text: "a" }, "a b.txt").text).toBe('@"a b.txt" ');
    expect(fits("src/App.tsx", "sapp")).toBe(true);
    expect(fits("src/App.tsx", "ppa")).toBe(false);
  });
});

describe("what git tells", () => {
  test("is read as far as it can be", () => {
    const file = { path: "a", status: "renamed", old_path: "b", added: 1, removed: null, binary: false, filtered: false, version: "v" };
    expect(differing({ base: null, complete: false, files: [file, { path: 1 }, null, { path: "c" }] })).toEqual({
      complete: false,
      files: [
        { path: "a", status: "renamed", before: "b", added: 1, removed: 0, binary: false, filtered: false, version: "v" },
        { path: "c", status: "", before: undefined, added: 0, removed: 0, binary: false, filtered: false, version: "" },
      ],
    });
    expect(differing(undefined).files).toEqual([]);
  });

  test("are hunks without a head, also of ten thousand lines", () => {
    expect(fromUnified("@@ -1,2 +1,2 @@\n-a\n+--- b\n c\n")?.[0]?.lines.map(({ sign, before, after }) => [sign, before, after])).toEqual([
      ["-", 1, undefined],
      ["+", undefined, 1],
      [" ", 2, 2],
    ]);
    const lines = Array.from({ length: 10_000 }, (_, index) => `+line ${index}`).join("\n");
    expect(fromUnified(`@@ -0,0 +1,10000 @@\n${lines}\n`)?.[0]?.lines.length).toBe(10_000);
  });
});

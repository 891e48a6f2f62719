import type { EventFrame } from "turnwire-client";
import { describe, expect, test, vi } from "vitest";
import { completions } from "../src/composer/completion.js";
import { History } from "../src/composer/history.js";
import { Matcher } from "../src/inspector/search.js";
import { Drafts } from "../src/state/drafts.js";
import { Kept } from "../src/state/kept.js";
import { runs } from "../src/text/ansi.js";
import { fromPassages, fromUnified } from "../src/text/diff.js";
import { bytes, duration, money, plural } from "../src/text/format.js";
import { bothEnds, segments } from "../src/text/segments.js";
import { visibleCode, visibleProse } from "../src/text/visible.js";
import { Heights } from "../src/virtual/heights.js";

describe("segments", () => {
  test("cut at blank lines, and lose nothing", () => {
    const text = "One.\n\nTwo,\nstill two.\n\n\nThree.";
    expect(segments(text)).toEqual(["One.\n\n", "Two,\nstill two.\n\n\n", "Three."]);
  });

  test("never cut inside a fence, a list or a quotation", () => {
    for (const text of ["```\na\n\nb\n```", "1. a\n\n2. b\n\n   more", "> a\n\n> b", "~~~~\n```\n\nx\n~~~~"]) {
      expect(segments(text)).toEqual([text]);
    }
  });

  test("a longer fence is not closed by a shorter one", () => {
    expect(segments("````\n```\n\nin\n````\n\nout")).toEqual(["````\n```\n\nin\n````\n\n", "out"]);
  });

  test("growth at the end leaves all but the last segment as they were", () => {
    const text = "# A\n\npara\n\n```\ncode\n\n```\n\nlast";
    for (let length = 1; length < text.length; length += 1) {
      const before = segments(text.slice(0, length)).slice(0, -1);
      expect(segments(text).slice(0, before.length)).toEqual(before);
    }
  });
});

describe("terminal output", () => {
  test("keeps colours as classes", () => {
    expect(runs("\u001b[31mred\u001b[0m plain")).toEqual([
      { text: "red", className: "ansi-red" },
      { text: " plain", className: "" },
    ]);
  });

  test("drops what a terminal would obey", () => {
    expect(
      runs("\u001b]0;title\u0007a\u001b[2J\u001b[3;4Hb\u001b[?25l\u001b(Bc")
        .map((run) => run.text)
        .join(""),
    ).toBe("abc");
  });

  test("shows what a carriage return leaves", () => {
    expect(runs("10%\r50%\r100%\ndone\r\n")[0]?.text).toBe("100%\ndone\n");
  });

  test("takes time in proportion to its length, whatever is in it", () => {
    // One that looked again from each place would not end in the runner's two minutes, nor in ten.
    for (const nasty of ["\u001b]0;", "\u001b[", "\u001bP", "\r", "a", "\u001b[31m"]) {
      expect(runs(nasty.repeat(1_000_000))).toHaveLength(1);
    }
  });

  test("keeps the colours that have no names, and refuses what is none", () => {
    expect(runs("\u001b[38;5;208ma\u001b[0m\u001b[48;2;10;20;30mb\u001b[0m\u001b[38;5;240mc")).toEqual([
      { text: "a", className: "ansi-own", colour: "rgb(255 135 0)" },
      { text: "b", className: "ansi-own-bg", ground: "rgb(10 20 30)" },
      { text: "c", className: "ansi-own", colour: "rgb(88 88 88)" },
    ]);
    expect(runs("\u001b[38;2;900;1;1mx\u001b[0my").map(({ colour }) => colour)).toEqual([undefined, undefined]);
  });

  test("with too many colours is shown without any", () => {
    expect(runs("\u001b[31mx\u001b[0m".repeat(5000))).toEqual([{ text: "x".repeat(5000), className: "" }]);
  });
});

test("a long output is shown from both its ends", () => {
  const text = Array.from({ length: 1000 }, (_, line) => `line ${line}\n`).join("");
  const { head, tail } = bothEnds(text, 900);
  expect(head.startsWith("line 0\n")).toBe(true);
  expect(head.endsWith("\n")).toBe(true);
  expect(tail.startsWith("line ")).toBe(true);
  expect(tail.endsWith("line 999\n")).toBe(true);
  expect(head.length + tail.length).toBeLessThanOrEqual(900);
  expect(bothEnds("short", 900)).toEqual({ head: "short", tail: "" });
  const flat = bothEnds("x".repeat(5000), 900);
  expect(flat.head.length + flat.tail.length).toBe(900);
});

describe("a search of the log", () => {
  const chunk = (seq: number, text: string, message = "m1"): EventFrame => ({
    type: "event",
    session: "s",
    seq,
    ts: "",
    event: { type: "message_chunk", text, message_id: message, block_index: 0, is_delta: true },
  });
  const hits = (words: string, ...frames: EventFrame[]) => {
    const matcher = new Matcher({ type: "", words });
    return frames.filter((frame) => matcher.matches(frame)).map(({ seq }) => seq);
  };

  test("finds words across the pieces in which they streamed, once", () => {
    const said = [chunk(1, "the qu"), chunk(2, "ick bro"), chunk(3, "wn fox"), chunk(4, " jumps")];
    expect(hits("Quick brown", ...said)).toEqual([3]);
    expect(hits("qu", ...said)).toEqual([1]);
    expect(hits("fox", ...said)).toEqual([3]);
  });

  test("joins no pieces of different texts", () => {
    expect(hits("quick", chunk(1, "qu"), chunk(2, "ick", "m2"))).toEqual([]);
  });
});

test("a draft is kept, and forgotten when it is emptied", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  } as unknown as Storage;
  const drafts = new Drafts(new Kept(() => storage));
  drafts.keep("s", "half a sen");
  expect(new Drafts(new Kept(() => storage)).of("s")).toBe("half a sen");
  expect(drafts.of("other")).toBe("");
  drafts.keep("s", "");
  expect(kept.size).toBe(0);
  const full = new Drafts(
    new Kept(() => {
      throw new DOMException("forbidden", "SecurityError");
    }),
  );
  expect(() => full.keep("s", "x")).not.toThrow();
});

test("what hides or reorders text is spelt out", () => {
  expect(visibleCode("a\u202eb\u200b\u0007")).toBe("a⟨U+202E⟩b⟨U+200B⟩⟨U+0007⟩");
  expect(visibleCode("tab\tand\nline")).toBe("tab\tand\nline");
  expect(visibleProse("a\u202eb \u200fשלום")).toBe("a⟨U+202E⟩b \u200fשלום");
});

describe("diffs", () => {
  test("carry the numbers of both sides", () => {
    const [hunk] = fromUnified("@@ -3,2 +3,2 @@\n same\n-old\n+new\n") ?? [];
    expect(hunk?.lines).toEqual([
      { sign: " ", before: 3, after: 3, text: "same" },
      { sign: "-", before: 4, after: undefined, text: "old" },
      { sign: "+", before: undefined, after: 4, text: "new" },
    ]);
  });

  test("that are none are not made up", () => {
    expect(fromUnified("no diff at all")).toBeUndefined();
    expect(fromUnified("@@ -1,5 +1 @@\nbroken")).toBeUndefined();
  });

  test("of two passages are found", () => {
    expect(fromPassages("a\nb\n", "a\nc\n")?.[0]?.lines.map(({ sign, text }) => sign + text)).toEqual([" a", "-b", "+c"]);
  });

  test("of two passages are a matter of their lines, whatever the clock says", () => {
    const lines = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word}${at}\n`).join("");
    const clock = vi.spyOn(Date, "now").mockImplementation(() => performance.now() * 1e9);
    expect(fromPassages(lines(200, "a"), lines(200, "b"))?.[0]?.lines).toHaveLength(400);
    expect(fromPassages(lines(20_000, "a"), lines(20_000, "b"))).toBeUndefined();
    clock.mockRestore();
  });
});

describe("the prompt field", () => {
  const storage = () => {
    const kept = new Map<string, string>();
    return {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    } as unknown as Storage;
  };

  test("completes commands that begin with, then those that contain, what was typed", () => {
    const commands = [{ name: "recompact" }, { name: "compact" }, { name: "help" }];
    expect(completions(commands, "/comp").map(({ name }) => name)).toEqual(["compact", "recompact"]);
    expect(completions(commands, "/compact now")).toEqual([]);
    expect(completions(commands, "not /comp")).toEqual([]);
  });

  test("goes back through what was sent, and forth to what was being written", () => {
    const shelf = storage();
    const history = new History(new Kept(() => shelf));
    for (const text of ["one", "two"]) history.add(text);
    expect([history.older("draft"), history.older("two"), history.older("one")]).toEqual(["two", "one", undefined]);
    expect([history.newer(), history.newer(), history.newer()]).toEqual(["two", "draft", undefined]);
    for (const spoilt of ["no JSON", "{}", '[1, null, "two"]']) {
      shelf.setItem("turnwire.history", spoilt);
      const after = new History(new Kept(() => shelf));
      expect([after.older(""), after.older("")]).toEqual(spoilt.startsWith("[") ? ["two", undefined] : [undefined, undefined]);
    }
  });
});

test("numbers read as people say them", () => {
  expect([duration(12), duration(1500), duration(83_000), duration(3_780_000)]).toEqual(["12 ms", "1.5 s", "1 min 23 s", "1 h 3 min"]);
  expect([money(0), money(0.0042), money(1.5)]).toEqual(["$0", "$0.0042", "$1.50"]);
  expect([bytes(10), bytes(2048), bytes(5 * 1024 * 1024)]).toEqual(["10 B", "2.0 kB", "5.0 MB"]);
  expect([plural(1, "tool"), plural(2, "tool")]).toEqual(["1 tool", "2 tools"]);
});

test("sums and searches of heights agree with counting one by one", () => {
  const heights = new Heights();
  const plain: number[] = [];
  for (let i = 0; i < 3000; i += 1) {
    const height = (i * 7919) % 101;
    heights.append(height);
    plain.push(height);
  }
  for (let i = 0; i < 3000; i += 37) {
    heights.set(i, i % 50);
    plain[i] = i % 50;
  }
  let sum = 0;
  plain.forEach((height, index) => {
    expect(heights.offset(index)).toBe(sum);
    if (height > 0) expect(heights.at(sum + height / 2)).toBe(index);
    sum += height;
  });
  expect(heights.total).toBe(sum);
  expect(heights.at(sum + 10)).toBe(2999);
  heights.clear();
  expect(heights.total).toBe(0);
});

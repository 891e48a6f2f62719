import { describe, expect, test } from "vitest";
import { ARMING_MS, Arming, type Place } from "../src/request/arming.js";
import { AT_REST, KeyGuard, writes } from "../src/request/key_guard.js";
import { namedPath } from "../src/text/path.js";

const key = (name: string, ctrlKey = false) => ({ key: name, ctrlKey, metaKey: false });

describe("keys that may answer a request", () => {
  test("do so after a stretch of rest, and typing begins it anew", () => {
    const guard = new KeyGuard(1000);
    expect([guard.ready(1000), guard.ready(1000 + AT_REST - 1), guard.ready(1000 + AT_REST)]).toEqual([false, false, true]);
    guard.disturb(2000);
    expect([guard.ready(2100), guard.ready(2000 + AT_REST)]).toEqual([false, true]);
  });

  test("typed at any pace faster than the rest, none of a sentence ever answers", () => {
    let now = 0;
    for (let seed = 1; seed < 200; seed += 1) {
      const guard = new KeyGuard(now);
      for (let letter = 0; letter < 20; letter += 1) {
        now += (seed * 7919 * (letter + 1)) % AT_REST;
        expect(guard.ready(now)).toBe(false);
        guard.disturb(now);
      }
    }
  });

  test("are those that write something", () => {
    expect(["1", "e", "Enter", "ß", "Dead"].map((name) => writes(key(name)))).toEqual([true, true, true, true, true]);
    expect(["Tab", "Shift", "ArrowDown", "Escape", "F5"].map((name) => writes(key(name)))).toEqual([false, false, false, false, false]);
    expect(writes(key("c", true))).toBe(false);
  });
});

describe("a control decides", () => {
  const place: Place = { left: 10, top: 20, width: 80, height: 30 };

  /** Milliseconds after which it does, when it is looked at in these steps; undefined when it never does. */
  function armedAfter(step: number, where: (look: number) => Place | undefined = () => place): number | undefined {
    const arming = new Arming();
    for (let look = 0; look < 100; look += 1) if (arming.observe(where(look), "allow", 5000 + look * step)) return look * step;
    return undefined;
  }

  test("once it has stood still for its time", () => {
    expect([50, 100, 125].map((step) => armedAfter(step))).toEqual([ARMING_MS, ARMING_MS, ARMING_MS]);
  });

  test.each([300, 701, 1000, 5000, 3_600_000])("after a few looks %i ms apart, on however busy a machine", (step) => {
    expect(armedAfter(step)).toBe(4 * step);
  });

  test("never while it moves, however slowly, is out of sight or means another thing", () => {
    expect(armedAfter(100, (look) => ({ ...place, top: place.top + look }))).toBeUndefined();
    expect(armedAfter(100, (look) => (look % 5 === 0 ? undefined : place))).toBeUndefined();
    const arming = new Arming();
    const decided = Array.from({ length: 100 }, (_, look) => arming.observe(place, `request ${Math.floor(look / 5)}`, look * 100));
    expect(decided).not.toContain(true);
  });

  test("not because nobody looked for a long time", () => {
    const arming = new Arming();
    const looks = [0, 100, 60_000, 60_100];
    expect(looks.map((now) => arming.observe(place, "allow", now))).toEqual([false, false, false, false]);
  });

  test("some time after it came back to where it was", () => {
    const arming = new Arming();
    for (let now = 0; now <= 1000; now += 100) arming.observe(place, "allow", now);
    expect(arming.observe({ ...place, top: 78 }, "allow", 1050)).toBe(false);
    expect(arming.observe(place, "allow", 1100)).toBe(false);
    expect(arming.observe(place, "allow", 1300)).toBe(false);
  });

  test("never while it is pressed too early again and again, and says how far it is", () => {
    const arming = new Arming();
    const presses: boolean[] = [];
    for (let now = 0; now <= 5000; now += 100) {
      const ready = arming.observe(place, "allow", now);
      if (now % 400 !== 0) continue;
      presses.push(ready);
      arming.restart();
    }
    expect(presses).not.toContain(true);
    expect(arming.share).toBe(0.4);
    expect([5100, 5200, 5300, 5400].map((now) => arming.observe(place, "allow", now))).toEqual([false, false, true, true]);
    expect(arming.share).toBe(1);
  });
});

test.each([
  ["/home/ada/greeting/src/app.py", "/home/ada/greeting", { name: "app.py", folder: "src" }],
  ["/home/ada/greeting/app.py", "/home/ada/greeting/", { name: "app.py", folder: "" }],
  ["/home/ada/greeting-2/app.py", "/home/ada/greeting", { name: "app.py", folder: "/home/ada/greeting-2" }],
  ["/etc/passwd", "/home/ada", { name: "passwd", folder: "/etc" }],
  ["/init", "", { name: "init", folder: "/" }],
  ["app.py", "", { name: "app.py", folder: "" }],
  ["src/folder/", "", { name: "folder/", folder: "src" }],
  ["C:\\work\\a.cs", "C:\\work", { name: "a.cs", folder: "" }],
  ["/", "", { name: "/", folder: "" }],
  ["", "/home", { name: "", folder: "" }],
])("the path %s, told from %s, begins with its file's name", (path, home, told) => {
  expect(namedPath(path, home)).toEqual(told);
});

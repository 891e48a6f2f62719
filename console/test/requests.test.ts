import { describe, expect, test } from "vitest";
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

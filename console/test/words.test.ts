/** The page's own words: no name of the wire is left in them. */
import type { PermissionOption } from "turnwire-client";
import { expect, test } from "vitest";
import { modelsOf, rememberModels } from "../src/state/models.js";
import { isInside } from "../src/text/path.js";
import { answerer, limitText, optionName, policyName, resetText, spaced } from "../src/text/words.js";

test("who answered is told as people say it", () => {
  const told = ["console-ab", "console-cd", "notification", "policy:autonomous", "policy:new", "rule:3", "ada"];
  expect(told.map((by) => answerer(by, "console-ab"))).toEqual([
    "you",
    "another browser",
    "a notification",
    "the policy “Approve everything”",
    "the policy “new”",
    "rule 3",
    "ada",
  ]);
  expect([policyName("supervised"), policyName("constructor")]).toEqual(["Ask me", "constructor"]);
});

test("a refusal has one name, and an allowance its own", () => {
  const named = (name: string, kind: PermissionOption["kind"]) => optionName({ option_id: "o", name, kind });
  expect([named("Reject", "reject_once"), named("Reject and stop", "reject_once"), named("Decline", "reject_always")]).toEqual([
    "Deny",
    "Deny and stop",
    "Deny",
  ]);
  expect(named("Rejecting nothing", "reject_once")).toBe("Rejecting nothing");
  expect(named("Reject the old plan", "allow_once")).toBe("Reject the old plan");
});

test("a limit is told in words, and its end only where it can be one", () => {
  expect(limitText("Close to the rate limit (five_hour): 91% used")).toBe("Close to the rate limit (five hours): 91% used.");
  expect(limitText("Limit (a_new_one).")).toBe("Limit (a new one).");
  const reset = (resets_at: number) => resetText({ type: "rate_limit", rate_limit_message: "", resets_at });
  expect([0, 7, Number.NaN, 1_790_000_000_000].map(reset)).toEqual(["", "", "", ""]);
  expect(reset(1_790_000_000)).not.toBe("");
  expect(reset(4_102_444_800)).toContain("2100");
  expect(spaced("max_turns")).toBe("max turns");
});

test("a path is in a folder only where that is plain", () => {
  expect(["/a", "/a/b", "/a/b/c.txt"].map((path) => isInside(path, "/a/"))).toEqual([true, true, true]);
  expect(["/ab", "/a/../b", "/a/b/..", "/a/./b", "b", "", "/"].map((path) => isInside(path, "/a"))).not.toContain(true);
  expect(isInside("/a", "")).toBe(false);
});

test("models that an agent listed are offered for its next session, also where the storage is damaged", () => {
  const items = new Map<string, string>();
  globalThis.localStorage = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  } as unknown as Storage;
  rememberModels("claude", [{ id: "opus", name: "Opus" }, { id: "sonnet" }]);
  rememberModels("qwen", [{ id: "q" }]);
  rememberModels("claude", [{ id: "opus", name: "Opus 5" }]);
  const used = [{ session: "s", state: "idle" as const, last_seq: 1, pending: 0, agent: "claude", model: "haiku" }];
  expect(modelsOf(used, "claude")).toEqual([
    ["haiku", "haiku"],
    ["opus", "Opus 5"],
  ]);
  items.set("turnwire.models", "{");
  expect(modelsOf([], "claude")).toEqual([]);
});

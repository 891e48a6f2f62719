/** What goes to a shell and back: in order, few at a time, and nothing of it after an error. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Seen, Typing } from "../src/shell/flow.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function typed(answer: () => Promise<unknown> = () => Promise.resolve()) {
  const sent: string[] = [];
  const failures: unknown[] = [];
  const typing = new Typing(
    (text) => {
      sent.push(text);
      return answer();
    },
    (error) => failures.push(error),
  );
  return { typing, sent, failures };
}

test("what is typed before there is a shell waits for it", async () => {
  const { typing, sent } = typed();
  typing.add("l");
  typing.add("s\r");
  await vi.advanceTimersByTimeAsync(1000);
  expect(sent).toEqual([]);
  typing.begin();
  await vi.advanceTimersByTimeAsync(1000);
  expect(sent).toEqual(["ls\r"]);
});

test("one command is on the way at a time, and what is typed meanwhile goes together", async () => {
  const answers: (() => void)[] = [];
  const { typing, sent } = typed(() => new Promise<void>((resolve) => answers.push(resolve)));
  typing.begin();
  typing.add("a");
  await vi.advanceTimersByTimeAsync(100);
  typing.add("b");
  typing.add("c");
  await vi.advanceTimersByTimeAsync(100);
  expect(sent).toEqual(["a"]);
  answers.shift()?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(sent).toEqual(["a", "bc"]);
});

test("a long text is cut between characters", async () => {
  const { typing, sent } = typed();
  typing.begin();
  const text = `${"x".repeat(8191)}🌊${"y".repeat(9000)}`;
  typing.add(text);
  await vi.advanceTimersByTimeAsync(1000);
  expect(sent.join("")).toBe(text);
  expect(sent.length).toBe(3);
  for (const part of sent) expect(part).toBe(new TextDecoder().decode(new TextEncoder().encode(part)));
});

test("after an error the rest is dropped, and the next word is sent again", async () => {
  let refuses = true;
  const { typing, sent, failures } = typed(() => (refuses ? Promise.reject(new Error("full")) : Promise.resolve()));
  typing.begin();
  typing.add("a".repeat(10_000));
  await vi.advanceTimersByTimeAsync(1000);
  expect(failures).toEqual([new Error("full")]);
  expect(sent.length).toBe(1);
  refuses = false;
  typing.add("b");
  await vi.advanceTimersByTimeAsync(1000);
  expect(sent.at(-1)).toBe("b");
});

test("nothing is sent once it has stopped", async () => {
  const { typing, sent } = typed();
  typing.begin();
  typing.add("a");
  await vi.advanceTimersByTimeAsync(100);
  typing.add("b");
  typing.add("c");
  typing.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(sent).toEqual(["a", "b"]);
});

test("frames are acknowledged several at a time, and no more often than ten times a second", async () => {
  const told: number[] = [];
  const seen = new Seen((number) => told.push(number));
  for (let number = 1; number < 8; number += 1) seen.draw(number);
  expect(told).toEqual([]);
  seen.draw(8);
  expect(told).toEqual([8]);
  for (let number = 9; number <= 40; number += 1) seen.draw(number);
  expect(told).toEqual([8]);
  await vi.advanceTimersByTimeAsync(100);
  expect(told).toEqual([8, 40]);
  seen.draw(60);
  seen.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(told).toEqual([8, 40]);
});

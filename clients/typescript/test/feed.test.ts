import { expect, test } from "vitest";
import { Backoff, type EventFrame, Feed } from "../src/index.js";

const event = (seq: number): EventFrame => ({
  type: "event",
  session: "s",
  seq,
  ts: "2026-01-01T00:00:00.000000Z",
  event: { type: "notice", kind: "test", level: "info", text: "" },
});

const gap = (from: number, to: number, epoch: string) => ({ type: "gap" as const, session: "s", from, to, epoch });

test("events that retention took are a gap, not a restart", () => {
  const feed = new Feed({ epoch: "a", seq: 2 });
  feed.begin("a");
  expect(feed.gap(gap(3, 9, "a"))).toBe(false);
  expect(feed.take([event(10)]).fresh).toHaveLength(1);
  expect(feed.cursor).toEqual({ epoch: "a", seq: 10 });
});

test("a first subscription to a log whose beginning is gone is no restart", () => {
  const feed = new Feed({ epoch: undefined, seq: 0 });
  feed.begin("a");
  expect(feed.gap(gap(1, 4, "a"))).toBe(false);
  expect(feed.take([event(5), event(6)]).fresh).toHaveLength(2);
});

test("a cursor of another epoch is a restart", () => {
  const feed = new Feed({ epoch: "a", seq: 7 });
  feed.begin("b");
  expect(feed.gap(gap(1, 7, "b"))).toBe(true);
  expect(feed.take([event(1)]).fresh).toHaveLength(1);
  expect(feed.cursor).toEqual({ epoch: "b", seq: 1 });
});

test("events after a hole are not given", () => {
  const feed = new Feed({ epoch: "a", seq: 2 });
  const { fresh, hole } = feed.take([event(3), event(5), event(6)]);
  expect(fresh.map(({ seq }) => seq)).toEqual([3]);
  expect(hole).toBe(true);
});

test("waits double up to a bound and begin anew after a success", () => {
  const backoff = new Backoff({ first: 100, most: 350, random: () => 0 });
  expect([backoff.next(), backoff.next(), backoff.next(), backoff.next()]).toEqual([50, 100, 175, 175]);
  backoff.reset();
  expect(backoff.next()).toBe(50);
});

/** What was used, summed up and laid out for a plot. Pure; days are those of the machine that the hub runs on. */
import { money } from "../text/format.js";
import type { By, Spent } from "./answers.js";

export interface Bar {
  readonly name: string;
  readonly value: number;
}

export type Measure = "cost" | "tokens";

/** Bars of a plot; days beyond are summed up by month, other groups into one. */
const DAYS = 92;
const YEARS = 5;
const GROUPS = 12;
const TIMES: ReadonlySet<By> = new Set(["day", "week", "month", "block"]);
const DAY_MS = 86_400_000;

export const tokens = (spent: Spent): number => spent.input + spent.output + spent.cached;

/** A cost in words: of what is not all known the least, and of what agents do not tell about how much. */
export function costOf({ cost, whole, estimated }: Pick<Spent, "cost" | "whole" | "estimated">): string {
  return cost === undefined ? "" : `${whole ? "" : "at least "}${estimated ? "about " : ""}${money(cost)}`;
}

export function total(spent: readonly Spent[]): Spent {
  const sum = (of: (one: Spent) => number) => spent.reduce((all, one) => all + of(one), 0);
  const known = spent.some(({ cost }) => cost !== undefined);
  return {
    name: "All",
    answers: sum(({ answers }) => answers),
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cached: sum(({ cached }) => cached),
    cost: known || spent.length === 0 ? sum(({ cost }) => cost ?? 0) : undefined,
    whole: spent.every(({ whole }) => whole),
    estimated: spent.some(({ estimated }) => estimated),
  };
}

/** Whether groups follow each other in time. */
export const isTime = (by: By): boolean => TIMES.has(by);

/** The bars of a plot, without costs that are unknown: days in order and without gaps, of others the largest first. */
export function bars(spent: readonly Spent[], by: By, measure: Measure): Bar[] {
  const priced = measure === "cost" ? spent.filter(({ cost }) => cost !== undefined) : spent;
  const found = priced.map((one) => ({ name: one.name, value: measure === "cost" ? (one.cost ?? 0) : tokens(one) }));
  if (by === "day") return days(found);
  if (isTime(by)) return found.sort((one, other) => (one.name < other.name ? -1 : 1)).slice(-DAYS);
  found.sort((one, other) => other.value - one.value);
  if (found.length <= GROUPS) return found;
  const rest = found.splice(GROUPS - 1);
  return [...found, { name: `${rest.length} others`, value: rest.reduce((sum, { value }) => sum + value, 0) }];
}

function days(found: readonly Bar[]): Bar[] {
  const dated = found.filter(({ name }) => !Number.isNaN(Date.parse(name)));
  const at = dated.map(({ name }) => Date.parse(name));
  const [first, last] = [Math.min(...at), Math.max(...at)];
  const count = (last - first) / DAY_MS;
  const long = count >= DAYS;
  const sums = new Map<string, number>();
  const nameOf = (day: string) => (long ? day.slice(0, 7) : day);
  // A time that is far off, as a wrong clock gives one, is no reason to draw a bar for each month up to it.
  if (count < YEARS * 366) for (let day = first; day <= last; day += DAY_MS) sums.set(nameOf(new Date(day).toISOString().slice(0, 10)), 0);
  for (const { name, value } of dated) sums.set(nameOf(name), (sums.get(nameOf(name)) ?? 0) + value);
  return [...sums].map(([name, value]) => ({ name, value })).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Round values for an axis from 0 up to the first that no bar is above. */
export function ticks(largest: number): number[] {
  if (!(largest > 0)) return [0, 1];
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough * (1 - 1e-9)) ?? rough;
  const count = Math.ceil(largest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** The day so many days before one, which counts itself, in local time: `2026-01-31`. */
export function since(today: number, count: number): string {
  const day = new Date(today);
  day.setDate(day.getDate() - (count - 1));
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

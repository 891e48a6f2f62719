/** Numbers and times as people read them. */
const counts = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dates = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" });

export function count(value: number): string {
  return value < 10_000 ? value.toLocaleString("en") : counts.format(value);
}

export function money(value: number): string {
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  return value < 1024 * 1024 ? `${(value / 1024).toFixed(1)} kB` : `${(value / 1024 / 1024).toFixed(1)} MB`;
}

export function time(ts: string): string {
  const date = new Date(ts);
  return Number.isNaN(date.getTime()) ? "" : clock.format(date);
}

const years = new Intl.DateTimeFormat("en-GB", { dateStyle: "long" });

/** A day and a time, of milliseconds since 1970; of another year the day with its year. */
export function moment(ms: number): string {
  const date = new Date(ms);
  return (date.getFullYear() === new Date().getFullYear() ? dates : years).format(date);
}

export function between(start: string, end: string): number {
  return Math.max(0, Date.parse(end) - Date.parse(start));
}

export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** A time that goes on, in whole seconds: `0:07`, `12:34`, `1:02:03`. */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** How long ago, in the largest unit. */
export function age(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** What a table says of a word; undefined of one that it does not know, also where every object has a member of that name. */
export function known<Value>(table: Readonly<Record<string, Value>>, word: string | undefined): Value | undefined {
  return word !== undefined && Object.hasOwn(table, word) ? table[word] : undefined;
}

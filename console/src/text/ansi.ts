/** Terminal output as styled runs. Colours only: everything else a terminal would obey is dropped or spelt out. */
import Anser from "anser";
import { orderedCode } from "./visible.js";

export interface Run {
  readonly text: string;
  readonly className: string;
  /** A colour of its own, `rgb(r g b)`, beyond the sixteen that have names. */
  readonly colour?: string;
  readonly ground?: string;
}

/** More runs than this are no output for a human; such text is shown without colours. */
const MOST_RUNS = 3000;
/** Sequences other than colours: commands to the system, the cursor and the screen. Bounded, so that none is looked for far. */
const OTHER =
  /\u001b\][^\u0007\u001b]{0,4000}(?:\u0007|\u001b\\)|\u001b\[[0-9;?]{0,40}[@-ln-~]|\u001b[PX^_][^\u001b]{0,4000}\u001b\\|\u001b[()][A-Z0-9]|\u001b[=>78cDEHMNOZ]/g;
const COLOUR = /\u001b\[[0-9;:]{0,200}m/g;

/** A carriage return starts the line again, as progress bars do: what stood there before is gone. */
function lastOfLine(line: string): string {
  const end = line.endsWith("\r") ? line.length - 1 : line.length;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}

/** The levels of the colour cube that the numbers 16 to 231 stand for. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** A colour that is none of the sixteen, as CSS has it. */
function own(name: string | null, rgb: string | null): string | undefined {
  if (name === "ansi-truecolor") {
    const parts = rgb?.split(",").map(Number) ?? [];
    return parts.length === 3 && parts.every((part) => part >= 0 && part <= 255) ? `rgb(${parts.join(" ")})` : undefined;
  }
  const number = Number(/^ansi-palette-(\d{1,3})$/.exec(name ?? "")?.[1] ?? Number.NaN);
  if (!(number >= 16 && number <= 255)) return undefined;
  if (number >= 232)
    return `rgb(${Array(3)
      .fill(8 + 10 * (number - 232))
      .join(" ")})`;
  const at = number - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) => LEVELS[level]).join(" ")})`;
}

export function runs(text: string): Run[] {
  const plain = text.split("\n").map(lastOfLine).join("\n").replace(OTHER, "");
  let count = 0;
  for (let at = plain.indexOf("\u001b["); at >= 0 && count <= MOST_RUNS; at = plain.indexOf("\u001b[", at + 2)) count += 1;
  if (count === 0 || count > MOST_RUNS) return [{ text: orderedCode(plain.replace(COLOUR, "")), className: "" }];
  return Anser.ansiToJson(plain, { use_classes: true, remove_empty: true, json: true }).map((part) => {
    const colour = own(part.fg, part.fg_truecolor);
    const ground = own(part.bg, part.bg_truecolor);
    return {
      text: orderedCode(part.content),
      className: [
        colour ? "ansi-own" : part.fg,
        ground ? "ansi-own-bg" : part.bg && `${part.bg}-bg`,
        ...part.decorations.map((name) => `ansi-${name}`),
      ]
        .filter((name) => typeof name === "string" && /^ansi-[a-z-]+$/.test(name))
        .join(" "),
      ...(colour && { colour }),
      ...(ground && { ground }),
    };
  });
}

/** The text of a terminal without what sets its colours. */
export const withoutColours = (text: string) => Anser.ansiToText(text);

/**
 * Reads what a hub sends, also a newer one: a frame of a type this version does not know is passed over, an event of such
 * a type is an event like any other. What is no frame at all is ProtocolError: the hub is none, or something is broken.
 */
import { ProtocolError } from "./errors.js";
import type { OutFrame } from "./schema.js";

type Fields = Record<string, unknown>;

const SHOWN = 80;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const isSummary = (value: unknown) => isFields(value) && isText(value.session);
const isPlaced = (value: unknown): value is Fields =>
  isFields(value) && isText(value.session) && Number.isInteger(value.seq) && isFields(value.event) && isText(value.event.type);
const isError = (value: unknown) => isFields(value) && isText(value.code) && isText(value.message);

/** What of a frame this client itself relies on; the rest is as the types say, or the hub's fault that the caller sees. */
const FITS: { [Type in OutFrame["type"]]: (frame: Fields) => boolean } = {
  welcome: ({ epoch, sessions }) => isText(epoch) && Array.isArray(sessions) && sessions.every(isSummary),
  sessions: ({ sessions }) => Array.isArray(sessions) && sessions.every(isSummary),
  event: isPlaced,
  events: ({ events }) => Array.isArray(events) && events.every(isPlaced),
  caught_up: ({ session, seq }) => isText(session) && Number.isInteger(seq),
  gap: ({ session, from, to, epoch }) => isText(session) && Number.isInteger(from) && Number.isInteger(to) && isText(epoch),
  lag: ({ session, behind }) => isText(session) && Number.isInteger(behind),
  shell_output: ({ session, shell, number, text }) => isText(session) && isText(shell) && Number.isInteger(number) && isText(text),
  shell_exit: ({ session, shell }) => isText(session) && isText(shell),
  reply: ({ id, ok, error }) => (id === null || isText(id)) && typeof ok === "boolean" && (error === undefined || isError(error)),
};

/** Returns a frame; undefined when this version does not know its type. Throws ProtocolError. */
export function readFrame(data: unknown, maxFrame: number): OutFrame | undefined {
  if (!isText(data)) throw new ProtocolError("The hub sent a binary frame; is it a turnwire hub?");
  if (data.length > maxFrame) {
    throw new ProtocolError(`The hub sent a frame of ${data.length} characters; it may have ${maxFrame} (\`maxFrame\`).`);
  }
  let frame: unknown;
  try {
    frame = JSON.parse(data);
  } catch {
    throw new ProtocolError(`The hub sent a frame that is no JSON; is it a turnwire hub? ${shown(data)}`);
  }
  if (!isFields(frame) || !isText(frame.type)) throw misfit(data);
  if (!Object.hasOwn(FITS, frame.type)) return undefined;
  if (!FITS[frame.type as OutFrame["type"]](frame)) throw misfit(data);
  return frame as unknown as OutFrame;
}

function misfit(data: string): ProtocolError {
  return new ProtocolError(`The hub sent a frame this client cannot read: ${shown(data)}`);
}

function shown(text: string): string {
  return JSON.stringify(text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`);
}

/** turnwire's client for browsers and Node: see README.md. */
export { allowOnce, deny, label } from "./answers.js";
export { Backoff, type BackoffOptions } from "./backoff.js";
export {
  Client,
  type ClientOptions,
  type CommandInput,
  type CommandOf,
  type ConnectionState,
  type ResultOf,
  type Source,
  type Wait,
} from "./client.js";
export { CLOSE_CODES, FINAL_CLOSE_CODES, REPLY_CODES } from "./codes.js";
export { AccessRefused, CommandFailed, ConnectionLost, ProtocolError, TimedOut, TurnwireError } from "./errors.js";
export { BEGINNING, type Cursor, Feed, type Gap, LATEST } from "./feed.js";
export type { Following, Listener } from "./following.js";
export type * from "./schema.js";
export type { SocketLike } from "./socket.js";
export type { Received, StreamOptions } from "./stream.js";

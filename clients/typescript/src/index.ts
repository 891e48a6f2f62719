/** turnwire's client for browsers and Node: see README.md. */
export { Backoff, type BackoffOptions } from "./backoff.js";
export { Client, type ClientOptions, type CommandInput, type CommandOf, type ConnectionState } from "./client.js";
export { AccessDenied, CommandError, Disconnected, ProtocolError, TurnwireError } from "./errors.js";
export { type Cursor, Feed } from "./feed.js";
export type * from "./schema.js";
export type { SocketLike } from "./socket.js";
export type { Listener, Subscription } from "./subscription.js";

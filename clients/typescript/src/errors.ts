/**
 * What can go wrong, as classes a caller can tell apart:
 *
 *     TurnwireError
 *     ├── CommandError      the hub refused a command; `code` says why
 *     ├── Disconnected      the connection broke before the reply: the command may or may not have been done
 *     ├── AccessDenied      the token or the role is wrong; the client does not try again
 *     └── ProtocolError     the hub said something this client cannot understand
 */
import type { ReplyError } from "./schema.js";

export class TurnwireError extends Error {
  override name = "TurnwireError";
}

export class CommandError extends TurnwireError {
  override name = "CommandError";
  readonly code: string;
  /** The field of the command that is wrong. */
  readonly field: string | undefined;

  constructor(error: ReplyError) {
    super(error.message);
    this.code = error.code;
    this.field = error.field;
  }
}

export class Disconnected extends TurnwireError {
  override name = "Disconnected";
}

export class AccessDenied extends TurnwireError {
  override name = "AccessDenied";
}

export class ProtocolError extends TurnwireError {
  override name = "ProtocolError";
}

/**
 * What can go wrong, as classes a caller can tell apart; the Python client has the same:
 *
 *     TurnwireError
 *     ├── CommandFailed     the hub refused a command or a following; `code` says why
 *     ├── ConnectionLost    there is no connection, or it broke before the reply: the command may or may not have been done
 *     ├── TimedOut          the hub did not answer in time: the command may or may not have been done
 *     ├── AccessRefused     the token is wrong, or this client may not come in at all; it is not tried again
 *     └── ProtocolError     the hub said something this client cannot understand; it is not tried again
 */
import type { ReplyError } from "./schema.js";

export class TurnwireError extends Error {
  override name = "TurnwireError";
}

export class CommandFailed extends TurnwireError {
  override name = "CommandFailed";
  /** Why: one of REPLY_CODES, or of a newer hub's. */
  readonly code: string;
  /** The field of the command that is wrong. */
  readonly field: string | undefined;

  constructor(error: ReplyError) {
    super(error.message);
    this.code = error.code;
    this.field = error.field;
  }
}

export class ConnectionLost extends TurnwireError {
  override name = "ConnectionLost";
}

export class TimedOut extends TurnwireError {
  override name = "TimedOut";
}

export class AccessRefused extends TurnwireError {
  override name = "AccessRefused";
}

export class ProtocolError extends TurnwireError {
  override name = "ProtocolError";
}

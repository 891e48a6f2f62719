"""What can go wrong, as classes a caller can tell apart; the TypeScript client has the same.

TurnwireError
├── CommandFailed     the hub refused a command or a following; `code` says why
├── ConnectionLost    there is no connection, or it broke before the reply: the command may or may not have been done
├── TimedOut          the hub did not answer in time: the command may or may not have been done
├── AccessRefused     the token is wrong, or this client may not come in at all; it is not tried again
└── ProtocolError     the hub said something this client cannot understand; it is not tried again
"""


class TurnwireError(Exception):
    """Anything that goes wrong between a client and a hub."""


class CommandFailed(TurnwireError):
    """The hub refused a command, or to let a session be followed."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        """Why: one of turnwire_client.codes.REPLY_CODES, or of a newer hub's."""
        self.message = message
        """Whose fault, where, and what to do."""
        self.field = field
        """The field of the command that is wrong."""


class ConnectionLost(TurnwireError):
    """There is no connection, or it broke before the reply came: whether the command was done is then not known."""


class TimedOut(TurnwireError, TimeoutError):
    """The hub did not answer in time: whether the command was done is not known."""


class AccessRefused(TurnwireError):
    """The hub does not accept the token, or this client at all; trying again would not help."""


class ProtocolError(TurnwireError):
    """The hub said something this client cannot understand; trying again would not help."""

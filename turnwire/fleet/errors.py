"""What goes wrong at the start of a worker, and in an operator's hands."""

from turnwire.protocol.errors import TurnwireError


class OperationRefused(TurnwireError):
    """What an operator wants cannot be done; the message says why and what to do."""


class NameTaken(TurnwireError):
    """Another worker of this name lives; the message says what to do."""

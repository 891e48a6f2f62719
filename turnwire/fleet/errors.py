"""What goes wrong at the start of a worker."""

from turnwire.protocol.errors import TurnwireError


class NameTaken(TurnwireError):
    """Another worker of this name lives; the message says what to do."""

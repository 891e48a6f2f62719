"""What a dialect is: a pair of peers, each a pure state machine over lines and messages."""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct, field

from turnwire.protocol.claude.messages import Message


class Exchange(Struct, frozen=True):
    """What follows from one line or one message."""

    messages: list[Message] = field(default_factory=list)
    """To be taken as received from the other side, in order."""
    lines: list[bytes] = field(default_factory=list)
    """To be written to the other side, in order; each ends in a newline."""


class Peer(Protocol):
    """One end of a conversation; it lives as long as the other end's process."""

    def read(self, line: bytes) -> Exchange:
        """Take a line of the other side, without its newline. Never raises."""
        ...

    def write(self, message: Message, line: bytes | None = None) -> Exchange:
        """Say a message; `line` is the line it came as, if it came from a CLI, so that nothing of it is lost.

        An exchange without lines means that the dialect has no word for it. Raises EncodeError for what would kill
        the other side.
        """
        ...


class AgentPeer(Peer, Protocol):
    """Our end towards a caller."""

    def refuse(self, prompt: Message, reason: str) -> Exchange:
        """Say that a prompt which was just read is not taken, and will have no result."""
        ...

    def pause(self) -> list[bytes]:
        """Return the lines that wait for more of the same message: nothing has come for a while."""
        ...


class Dialect(Struct, frozen=True):
    """A way to speak."""

    name: str
    """Its name."""
    host: Callable[[], Peer]
    """Make our end towards an agent."""
    agent: Callable[[], AgentPeer]
    """Make our end towards a caller."""
    untold: Mapping[str, str] = field(default_factory=dict)
    """What Claude Code says that a caller of this dialect is not told: its name on Claude's wire, and what becomes of it."""
    untaken: Mapping[str, str] = field(default_factory=dict)
    """What can be said to Claude Code that an agent of this dialect cannot be told, likewise."""

"""What the client needs of a CLI: bytes out, lines in, and how it ended. A process, a recording or a test can be one."""

from typing import Protocol

from msgspec import Struct

from turnwire.protocol.errors import TurnwireError


class ProcessGone(TurnwireError):
    """The CLI takes no more input: it has exited, or its stdin is closed."""


class Exit(Struct, frozen=True):
    """How a process ended."""

    code: int | None = None
    """Exit code; None when a signal ended it."""
    signal: str | None = None
    """The signal that ended it, such as SIGKILL."""


class Transport(Protocol):
    """A byte stream in both directions."""

    async def read(self) -> bytes:
        """Return the next chunk of output; b"" at its end."""
        ...

    async def write(self, line: bytes) -> None:
        """Write a whole line; returns when the CLI takes more. Raises ProcessGone."""
        ...

    def close_input(self) -> None:
        """Say that no more input comes."""
        ...

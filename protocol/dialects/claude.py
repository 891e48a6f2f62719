"""The dialect of Claude Code itself: every line is one message, every message one line."""

from protocol.decode import decode
from protocol.dialects.base import Dialect, Exchange
from protocol.encode import encode, encode_input
from protocol.messages import Malformed, Message
from protocol.miriad import SystemFailure


class ClaudeHost:
    """Drives a CLI."""

    def read(self, line: bytes) -> Exchange:
        """Take a line of the CLI."""
        return Exchange([decode(line)])

    def write(self, message: Message, line: bytes | None = None) -> Exchange:  # noqa: ARG002 - a line of a CLI is never told to a CLI
        """Write to the CLI's stdin; raises EncodeError for what would kill it."""
        return Exchange(lines=[encode_input(message)])


class ClaudeAgent:
    """Stands in for a CLI."""

    def read(self, line: bytes) -> Exchange:
        """Take a line of the host."""
        return Exchange([decode(line)])

    def write(self, message: Message, line: bytes | None = None) -> Exchange:
        """Say a message to the host, byte for byte as it came if it came."""
        if isinstance(message, Malformed):
            return Exchange()
        return Exchange(lines=[encode(message) if line is None else line + b"\n"])

    def refuse(self, prompt: Message, reason: str) -> Exchange:  # noqa: ARG002 - the dialect has no word for which one
        """Say that a prompt is not taken."""
        return Exchange(lines=[encode(SystemFailure(message=reason))])


CLAUDE = Dialect("claude", ClaudeHost, ClaudeAgent)

"""Both sides of a conversation in the Agent Client Protocol, for recordings."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from turnwire.protocol.acp.decode import decode, malformed
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing import glued


class AcpWire:
    """Reads lines of this protocol only."""

    def heard(self, lines: Sequence[bytes | OversizeLine]) -> Iterator[tuple[bytes | None, Struct]]:
        """Return the messages in lines of the agent, each with its line (None for an oversized one)."""
        for line in lines:
            if not isinstance(line, bytes):
                yield None, malformed(line)
                continue
            message = decode(line)
            if type(message) is Malformed and (pieces := glued.cut(line)):
                yield from ((piece, decode(piece)) for piece in pieces)
            else:
                yield line, message

    def sent(self, line: bytes) -> Sequence[Struct]:
        """Return the messages in a line that was sent to the agent."""
        return (decode(line),)

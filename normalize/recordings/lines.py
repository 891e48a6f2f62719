"""Raw lines of a session as its inputs: the one place where a file, a pipe or a recording is decoded.

The lines themselves decide the family, so the same lines give the same events wherever they are stored. `family` names it if
the lines
do not decide.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import Unknown
from turnwire.protocol.dialects.line_decoder import LineDecoder
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import Wire


class LineReader:
    """Reads the lines of one session, in order; no method raises."""

    def __init__(self, family: str | None = None, *, holds: bool = False) -> None:
        """`family`: the family of the lines; None lets them decide. Raises UnknownFamily.

        `holds`: keep back a few ambiguous lines until one decides the family, or until `close`. Only for an agent's output.
        """
        self._transcript = LineDecoder(_wire_of, holds=holds)
        if family is not None:
            from turnwire.normalize.families import named  # noqa: PLC0415 - families know their readers

            self._transcript.reads_as(named(family).wire())

    @property
    def looks_like(self) -> str | None:
        """The wire of an agent that turnwire cannot read, if the lines are in one."""
        return self._transcript.looks_like

    @property
    def is_readable(self) -> bool | None:
        """Was any line understood? None before there was one."""
        return self._transcript.is_readable

    def heard(self, lines: Sequence[bytes | OversizeLine]) -> Iterable[tuple[bytes | None, Struct]]:
        """Return the messages in lines of the agent, each with its line (None for an oversized one)."""
        return self._transcript.heard(lines)

    def close(self) -> Sequence[Received]:
        """Return the lines that were kept back when none has decided the family."""
        return [Received(line or b"", message) for line, message in self._transcript.close()]

    def received(self, line: bytes | OversizeLine) -> Sequence[Received]:
        """Return the messages in a line of the agent. A line may contain several messages, or none."""
        if not isinstance(line, bytes):
            return [Received(line.head, message) for _, message in self._transcript.heard((line,))]
        return [Received(own or line, message) for own, message in self._transcript.heard((line,))]

    def sent(self, line: bytes | OversizeLine) -> Sequence[Sent]:
        """Return the messages in a line that was sent to the agent. Empty for an oversized line."""
        if not isinstance(line, bytes):
            return []
        return [Sent(line, message) for message in self._transcript.sent(line)]


def tells_nothing(line: bytes) -> bool:
    """Return whether a line is an object without meaning for any of turnwire's own families."""
    message = decode(line)
    if not isinstance(message, Unknown) or not isinstance(message.raw, dict):
        return False
    from turnwire.normalize.families import claiming_of_ours  # noqa: PLC0415 - as below

    return claiming_of_ours(message.raw) is None


def _wire_of(value: JsonObject) -> Wire | None:
    from turnwire.normalize.families import claiming  # noqa: PLC0415 - most lines are Claude's, and ask nobody

    found = claiming(value)
    return None if found is None else found.wire()

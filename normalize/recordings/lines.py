"""Raw lines of a session as its inputs: the one place where a file, a pipe or a recording is decoded.

The family is told by the lines themselves, so that the same lines give the same events wherever they are kept.
"""

from collections.abc import Sequence

from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.dialects.transcript import Transcript
from turnwire.protocol.framing import OversizeLine


class LineReader:
    """Reads the lines of one session, in order; neither method raises."""

    def __init__(self) -> None:
        self._transcript = Transcript()

    @property
    def looks_like(self) -> str | None:
        """The wire of another agent that the lines are in, of which nothing is read."""
        return self._transcript.looks_like

    @property
    def is_readable(self) -> bool | None:
        """Was any line understood? None before there was one."""
        return self._transcript.is_readable

    def received(self, line: bytes | OversizeLine) -> Sequence[Received]:
        """Return what a line is that the agent wrote; a line may hold several messages, or none."""
        if not isinstance(line, bytes):
            return [Received(line.head, message) for _, message in self._transcript.heard((line,))]
        return [Received(own or line, message) for own, message in self._transcript.heard((line,))]

    def sent(self, line: bytes | OversizeLine) -> Sequence[Sent]:
        """Return what a line is that the agent was told; nothing for one that was too long to be kept."""
        if not isinstance(line, bytes):
            return []
        return [Sent(line, message) for message in self._transcript.sent(line)]

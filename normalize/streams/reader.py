"""The reader: the only part that a wire of JSON objects adds."""

from collections.abc import Sequence
from typing import Protocol

from turnwire.normalize.inputs import Ended
from turnwire.normalize.streams.observations import Observation
from turnwire.protocol.json_values import JsonObject


class Reader(Protocol):
    """Interprets the lines of one process. A session makes a new reader for each process. No method raises."""

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return the observations in an agent's line. Empty for a known line without news, None for an unknown line."""
        ...

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        """Return the observations in a line that the agent was sent."""
        ...

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return the observations of the process's end, for wires without a last line. Called only while a turn is open."""
        ...


class OneWay:
    """Base class of readers for agents that receive no lines."""

    def sent(self, value: JsonObject) -> Sequence[Observation]:  # noqa: ARG002 - whatever it is
        """Return nothing."""
        return ()

    def ended(self, end: Ended) -> Sequence[Observation]:  # noqa: ARG002 - however it ends
        """Return nothing: an open turn was broken off."""
        return ()

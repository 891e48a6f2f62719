"""What a reader is: all that a wire of JSON objects needs of its own."""

from collections.abc import Sequence
from typing import Protocol

from turnwire.normalize.inputs import Ended
from turnwire.normalize.streams.observations import Observation
from turnwire.protocol.json_values import JsonObject


class Reader(Protocol):
    """Says what the lines of one process tell. It is made anew for each process of a session; no method raises."""

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return what a line of the agent tells: nothing where it is known and tells nothing new, None where it is not known."""
        ...

    def sent(self, value: JsonObject) -> Sequence[Observation]:
        """Return what a line tells that the agent was told."""
        ...

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return what the end of the process tells, where the wire has no last line. Called while a turn is open."""
        ...


class OneWay:
    """The base of readers of agents that are told nothing line by line."""

    def sent(self, value: JsonObject) -> Sequence[Observation]:  # noqa: ARG002 - whatever it is
        """Return nothing."""
        return ()

    def ended(self, end: Ended) -> Sequence[Observation]:  # noqa: ARG002 - however it ends
        """Return nothing: a turn that is open then was broken off."""
        return ()

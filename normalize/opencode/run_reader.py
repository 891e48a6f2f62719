"""Lines of `opencode run --format json` (1.18.33).

Texts arrive whole, and a call is one line at its end. There is no first line, no prompt and no last line. A run ends with a
step whose
reason is not `tool-calls`, or just with the process. With `--attach` the last lines are often lost.
"""

from collections.abc import Sequence

from turnwire.normalize.inputs import Ended
from turnwire.normalize.opencode import parts
from turnwire.normalize.payloads.fields import fields, text
from turnwire.normalize.streams.observations import (
    Observation,
    SessionStarted,
    TextWhole,
    TurnEnded,
    TurnStarted,
)
from turnwire.normalize.streams.reader import OneWay
from turnwire.protocol.json_values import JsonObject


class OpenCodeRunReader(OneWay):
    """Reads one process."""

    def __init__(self) -> None:
        self._session: str | None = None
        self._in_turn = False
        self._has_failed = False

    def received(self, value: JsonObject) -> Sequence[Observation] | None:
        """Return the observations in a line."""
        told = self._told(value, fields(value.get("part")))
        if told is None:
            return None
        session = text(value, "sessionID")
        if session is None or session == self._session:
            return told
        self._session = session
        return [SessionStarted(id=session, agent="opencode"), *told]

    def ended(self, end: Ended) -> Sequence[Observation]:
        """Return how the run ended: failed after an error, otherwise by the exit code."""
        if self._has_failed:
            return [TurnEnded(outcome="error")]
        return [TurnEnded()] if end.exit_code == 0 else []

    def _told(self, value: JsonObject, part: JsonObject) -> Sequence[Observation] | None:
        match value.get("type"):
            case "step_start":
                return self._begin()
            case "text" | "reasoning" as kind:
                words = text(part, "text") or ""
                return [*self._begin(), TextWhole(words, text(part, "id"), is_thought=kind == "reasoning")]
            case "tool_use":
                return [*self._begin(), parts.called(part), parts.ended(part)]
            case "step_finish":
                end = parts.turn_end(text(part, "reason"))
                begun = self._begin()
                self._in_turn = end is None
                return [*begun, parts.step_usage(part), *([] if end is None else [end])]
            case "error":
                self._has_failed = True
                return [*self._begin(), parts.failure(fields(value.get("error")))]
            case _:
                return None

    def _begin(self) -> list[Observation]:
        """Begin a turn if none is open: the first line of a run may be its error."""
        if self._in_turn:
            return []
        self._in_turn = True
        return [TurnStarted()]

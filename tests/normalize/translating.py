"""Recordings through the translator, for tests: stdout alone, or the whole session with what was sent."""

import json
from typing import Any

from recordings import Recording
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.core import Stats
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.inputs import Ended, Sent
from turnwire.protocol.claude.decode import decode

JsonObject = dict[str, Any]


def of_lines(*lines: bytes) -> list[AgentEvent]:
    """Events of lines received, then the end of the input."""
    translator = ClaudeCore()
    events = [event for line in lines for event in translator.receive(decode(line), line)]
    return [*events, *translator.handle(Ended("end_of_input"))]


def of_stdout(recording: Recording) -> list[AgentEvent]:
    """Events of a recording's stdout."""
    return of_lines(*recording.received())


def of_session(recording: Recording) -> tuple[list[AgentEvent], Stats]:
    """Events of a recording's lines in both directions, and what became of the lines received."""
    received, sent = recording.received(), recording.sent()
    translator = ClaudeCore()
    events: list[AgentEvent] = []
    signal: str | None = None
    end = Ended("end_of_input")
    for row in recording.timeline():
        if row.dir == "signal":
            signal = row.signal
        elif row.dir == "exit":
            end = Ended(
                "exited", None if row.code is None or row.code < 0 else row.code, signal, recording.stderr
            )
        elif row.line is not None and row.dir == "recv":
            events += translator.receive(decode(received[row.line]), received[row.line])
        elif row.line is not None:
            events += translator.handle(Sent(b"", decode(sent[row.line])))
    return [*events, *translator.handle(end)], translator.stats


def as_json(events: list[AgentEvent]) -> list[JsonObject]:
    """Events as a frontend gets them."""
    return [json.loads(to_json(event)) for event in events]

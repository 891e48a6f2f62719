"""JSON Schema (2020-12) of events, commands, their results and frames, generated from the models. `turnwire schema` prints it."""

from collections.abc import Callable
from typing import Literal

from pydantic import JsonValue

from turnwire.hub.schema.asyncapi import asyncapi
from turnwire.hub.schema.shapes import Schema, all_as_sent, as_received, as_sent
from turnwire.hub.wire.frames import AnyCommand, commands
from turnwire.hub.wire.frames_out import OutFrame
from turnwire.hub.wire.results import RESULTS
from turnwire.normalize.events import AgentEvent

DIALECT = "https://json-schema.org/draft/2020-12/schema"

What = Literal["events", "commands", "results", "frames", "asyncapi"]


def document(what: What) -> dict[str, JsonValue]:
    """Return one of the documents."""
    return _DOCUMENTS[what]()


def _results() -> Schema:
    roots, definitions = all_as_sent(list(RESULTS.values()))
    schema: Schema = {
        "type": "object",
        "properties": dict(zip(RESULTS, roots, strict=True)),
        "$defs": definitions,
    }
    return _titled("results", "The `result` of each command's reply, by the command's `type`.", schema)


def _titled(what: str, description: str, schema: Schema) -> Schema:
    return {
        "$schema": DIALECT,
        "$id": f"urn:turnwire:v1:{what}",
        "title": f"turnwire {what}",
        "description": description,
        **schema,
    }


_DOCUMENTS: dict[What, Callable[[], Schema]] = {
    "events": lambda: _titled("events", "An event of a session; `type` tells which.", as_sent(AgentEvent)),
    "commands": lambda: _titled(
        "commands", "A frame a frontend sends; `type` tells which.", as_received(commands, AnyCommand)
    ),
    "results": _results,
    "frames": lambda: _titled("frames", "A frame the hub sends; `type` tells which.", as_sent(OutFrame)),
    "asyncapi": asyncapi,
}

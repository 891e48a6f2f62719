"""Session updates held to the official models, and the events of all recordings to make them of."""

import json
from pathlib import Path

import msgspec
from acp import schema
from pydantic import BaseModel

from recordings import ROOT
from turnwire.client import events as ev
from turnwire.client.values import JsonObject

GOLDENS = sorted((ROOT / "tests" / "normalize" / "goldens").rglob("*.jsonl"))
"""The events of all recordings."""

decoder: msgspec.json.Decoder[ev.AgentEvent] = msgspec.json.Decoder(ev.AgentEvent)


def read(golden: Path) -> list[ev.AgentEvent]:
    return [decoder.decode(line) for line in golden.read_bytes().splitlines()]


def is_whole(model: BaseModel) -> bool:
    """Whether a model is of a kind the protocol names: `other` ones take anything."""
    return "Other" not in type(model).__name__


def valid(update: JsonObject) -> JsonObject:
    """The update, once the official model has taken it from its JSON, and knows it."""
    said = json.loads(msgspec.json.encode({"sessionId": "s-1", "update": update}))
    model = schema.SessionNotification.model_validate(said)
    assert is_whole(model.update)
    assert model.model_dump(mode="json", by_alias=True, exclude_unset=True) == said
    return update

"""Differences of agents from the protocol: one file per agent, with a class that overrides what differs.

Members in `_meta` or in results are read wherever any agent puts them. This folder contains only
what changes the meaning of the same line, and what agents add to the protocol. Each entry is a fact seen in
recordings.
"""

from collections.abc import Callable, Mapping

from turnwire.normalize.acp.agents import (
    codex,
    copilot,
    gemini,
    grok,
    hermes,
    kimi,
    oh_my_pi,
    pi,
)
from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.acp.own_requests import OwnRequest, task
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import Request
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import Json, JsonObject, text_at

__all__ = ["OWN_REQUESTS", "SAFE", "TOLD_BY_REQUEST", "Quirks", "agent_info", "quirks"]

SAFE = Quirks()
"""Quirks of an unknown agent: none."""

_KNOWN: tuple[tuple[str, Quirks], ...] = (
    ("gemini", gemini.Gemini(shows_whole_files=True, forgets_refused_calls=True)),
    ("qwen", Quirks(shows_whole_files=True)),
    ("copilot", copilot.Copilot(counts="session")),
    ("codex", codex.Codex()),
    ("opencode", Quirks(joins_prompts=True, counts="last_call")),
    ("kilo", Quirks(counts="last_call")),
    ("kimi", kimi.Kimi()),
    ("pi-acp", pi.Pi()),
    ("oh-my-pi", oh_my_pi.OhMyPi()),
    ("@factory/", Quirks(batches_permissions=True)),
    ("hermes", hermes.Hermes(counts="session")),
    ("grok", grok.Grok()),
)
"""Part of the agent's name in lower case -> its quirks. The first match counts."""

OWN_REQUESTS: Mapping[str, OwnRequest] = grok.REQUESTS
"""Method -> how an agent asks a human by a method that it adds to the protocol."""

TOLD_BY_REQUEST: Mapping[str, Callable[[Request], ToolCallUpdate]] = {"cursor/task": task}
"""Method -> what it tells of a call. Nobody is asked: the response is an empty object."""


def agent_info(initialized: Json) -> JsonObject:
    """Return an agent's name, title and version from its answer to `initialize`, as far as they are there."""
    said = fields(initialized)
    return fields(said.get("agentInfo")) or fields(said.get("info")) or grok.info(said)


def quirks(info: Json) -> Quirks:
    """Return an agent's quirks by its name."""
    name = text_at(info, "name").lower()[:200]
    return next((known for part, known in _KNOWN if part in name), SAFE)

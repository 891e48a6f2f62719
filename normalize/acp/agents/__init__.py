"""What agents do that the protocol does not say: one file an agent, each a class that says otherwise where it differs.

What an agent writes in `_meta` or in its results is read wherever it stands, for every agent. This folder has only
what changes the meaning of the same line, and what agents add to the protocol. Each entry is a fact seen in
recordings.
"""

from collections.abc import Mapping

from turnwire.normalize.acp.agents import (
    codex,
    copilot,
    droid,
    gemini,
    grok,
    hermes,
    kilo,
    kimi,
    oh_my_pi,
    opencode,
    pi,
    qwen,
)
from turnwire.normalize.acp.agents.quirks import Quirks
from turnwire.normalize.acp.own_requests import OwnRequest
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.json_values import Json, JsonObject, text_at

__all__ = ["OWN_REQUESTS", "SAFE", "Quirks", "agent_info", "quirks"]

SAFE = Quirks()
"""An agent of which nothing is known."""

_KNOWN: tuple[tuple[str, Quirks], ...] = (
    ("gemini", gemini.Gemini()),
    ("qwen", qwen.Qwen()),
    ("copilot", copilot.Copilot()),
    ("codex", codex.Codex()),
    ("opencode", opencode.OpenCode()),
    ("kilo", kilo.Kilo()),
    ("kimi", kimi.Kimi()),
    ("pi-acp", pi.Pi()),
    ("oh-my-pi", oh_my_pi.OhMyPi()),
    ("@factory/", droid.Droid()),
    ("hermes", hermes.Hermes()),
    ("grok", grok.Grok()),
)
"""A part of the agent's name in small letters -> what is special; the first that fits."""

OWN_REQUESTS: Mapping[str, OwnRequest] = grok.REQUESTS
"""What agents ask a human by methods that they add to the protocol."""


def agent_info(initialized: Json) -> JsonObject:
    """Return what an agent says of itself in its answer to `initialize`: name, title and version, as far as it tells them."""
    said = fields(initialized)
    return fields(said.get("agentInfo")) or fields(said.get("info")) or grok.info(said)


def quirks(info: Json) -> Quirks:
    """Return what is known of an agent by what it says of itself."""
    name = text_at(info, "name").lower()[:200]
    return next((known for part, known in _KNOWN if part in name), SAFE)

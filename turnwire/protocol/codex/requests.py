"""Requests to `codex app-server` (0.169.0): the parameters of each, and what its replies name."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct, field

from turnwire.protocol.json_values import Json, JsonObject, text_at

Approvals: TypeAlias = Literal["untrusted", "on-request", "never"]
"""What Codex asks about: all commands and patches, what it wants to do outside of its sandbox, nothing."""

Sandbox: TypeAlias = Literal["read-only", "workspace-write", "danger-full-access"]
"""What commands can do that nobody was asked about."""

_SANDBOX_POLICIES: Mapping[Sandbox, JsonObject] = {
    "read-only": {"type": "readOnly", "networkAccess": False},
    "workspace-write": {
        "type": "workspaceWrite",
        "writableRoots": [],
        "networkAccess": False,
        "excludeTmpdirEnvVar": False,
        "excludeSlashTmp": False,
    },
    "danger-full-access": {"type": "dangerFullAccess"},
}


class Safety(Struct, frozen=True):
    """How Codex keeps to what it may do; None leaves it to its own configuration."""

    approvals: Approvals | None = None
    sandbox: Sandbox | None = None


class ThreadWish(Struct, frozen=True, kw_only=True):
    """What a thread is to be."""

    workspace: str
    safety: Safety = Safety()
    model: str | None = None
    instructions: str | None = None
    """Instead of Codex's own."""
    more_instructions: str | None = None
    """Beside them."""
    servers: Mapping[str, JsonObject] = field(default_factory=dict)
    """MCP servers, as Codex's configuration has them."""


class TurnWish(Struct, frozen=True, kw_only=True):
    """What a turn is to be, and those after it."""

    model: str | None = None
    effort: str | None = None
    schema: JsonObject | None = None
    """JSON Schema of its last message."""
    mode: str | None = None
    """Collaboration mode; None leaves it as it is. It needs a model."""
    safety: Safety = Safety()


def initialize(version: str) -> JsonObject:
    """Return how turnwire introduces itself; experimental methods are those of questions and plan mode."""
    about: JsonObject = {"name": "turnwire", "title": "turnwire", "version": version}
    return {
        "clientInfo": about,
        "capabilities": {"experimentalApi": True, "requestAttestation": False},
    }


def thread(wish: ThreadWish) -> JsonObject:
    """Return the parameters that open a thread."""
    params: JsonObject = {"cwd": wish.workspace}
    wanted: dict[str, Json] = {
        "model": wish.model,
        "approvalPolicy": wish.safety.approvals,
        "sandbox": wish.safety.sandbox,
        # a person or turnwire decides, and no model
        "approvalsReviewer": None if wish.safety.approvals is None else "user",
        "baseInstructions": wish.instructions,
        "developerInstructions": wish.more_instructions,
        "config": {"mcp_servers": dict(wish.servers)} if wish.servers else None,
    }
    return {**params, **_given(wanted)}


def turn(thread_id: str, name: str, said: Sequence[JsonObject], wish: TurnWish) -> JsonObject:
    """Return the parameters that begin a turn with a prompt, which is called `name` in what follows."""
    mode: Json = None
    if wish.mode is not None:
        mode = {
            "mode": wish.mode,
            "settings": {
                "model": wish.model or "",
                "reasoning_effort": wish.effort,
                "developer_instructions": None,
            },
        }
    wanted: dict[str, Json] = {
        "model": wish.model,
        "effort": wish.effort,
        "outputSchema": wish.schema,
        "collaborationMode": mode,
        "approvalPolicy": wish.safety.approvals,
        "sandboxPolicy": None if wish.safety.sandbox is None else _SANDBOX_POLICIES[wish.safety.sandbox],
    }
    return {
        "threadId": thread_id,
        "clientUserMessageId": name,
        "input": list(said),
        **_given(wanted),
    }


def steer(thread_id: str, turn_id: str, name: str, said: Sequence[JsonObject]) -> JsonObject:
    """Return the parameters that say a prompt to a turn that runs."""
    return {
        "threadId": thread_id,
        "expectedTurnId": turn_id,
        "clientUserMessageId": name,
        "input": list(said),
    }


def words(text: str) -> JsonObject:
    """Return a text of a prompt."""
    return {"type": "text", "text": text, "text_elements": []}


def image(path: str) -> JsonObject:
    """Return an image of a prompt, which is in a file."""
    return {"type": "localImage", "path": path}


def server(configured: JsonObject) -> JsonObject | None:
    """Return an MCP server as Codex's configuration has it; None for a kind that Codex does not connect to."""
    url, kind = text_at(configured, "url"), text_at(configured, "type")
    if url and kind != "sse":
        headers = configured.get("headers")
        return {"url": url, "http_headers": headers} if headers else {"url": url}
    if text_at(configured, "command"):
        return {name: configured[name] for name in ("command", "args", "env") if configured.get(name)}
    return None


def _given(wanted: Mapping[str, Json]) -> JsonObject:
    return {name: value for name, value in wanted.items() if value is not None}

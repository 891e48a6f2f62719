"""The parts of OpenCode's messages, which both of its wires tell: calls with their states, steps with their tokens, errors."""

import re

from turnwire.normalize.common.problems import problem
from turnwire.normalize.payloads.fields import fields, text, whole
from turnwire.normalize.streams.observations import Failure, Kind, ToolCalled, ToolEnded, TurnEnded, Usage
from turnwire.protocol.acp.messages import RpcError
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.quantities import amount

_KINDS: dict[str, Kind] = {
    "apply_patch": "edit",
    "bash": "execute",
    "codesearch": "search",
    "edit": "edit",
    "glob": "search",
    "grep": "search",
    "list": "search",
    "multiedit": "edit",
    "patch": "edit",
    "read": "read",
    "shell": "execute",
    "webfetch": "fetch",
    "websearch": "fetch",
    "write": "edit",
}
_OWN = frozenset(
    {*_KINDS, "invalid", "plan_enter", "plan_exit", "question", "skill", "task", "todoread", "todowrite"}
)
_REJECTED = re.compile(r"(?i)\Athe user (?:has )?(?:rejected|dismissed)|specified a rule which prevents")


def called(part: JsonObject, *, parent: str | None = None) -> ToolCalled:
    """Return the call that a part of the type `tool` is."""
    state, name = fields(part.get("state")), text(part, "tool") or ""
    server, _, tool = name.partition("_")
    return ToolCalled(
        id=text(part, "callID") or "",
        name=name,
        arguments=state.get("input"),
        kind=_KINDS.get(name),
        mcp=(server, tool) if tool and name not in _OWN else None,
        parent=parent,
    )


def ended(part: JsonObject) -> ToolEnded:
    """Return the end of a call whose state is `completed` or `error`."""
    state, call, name = fields(part.get("state")), text(part, "callID") or "", text(part, "tool") or ""
    if state.get("status") == "error":
        words = text(state, "error") or ""
        denied = _REJECTED.search(words) is not None
        return ToolEnded(id=call, name=name, status="denied" if denied else "failed", error=words)
    metadata = fields(state.get("metadata"))
    return ToolEnded(
        id=call,
        name=name,
        status="failed" if name == "invalid" else "complete",
        output={"output": state.get("output"), "metadata": metadata},
        exit_code=whole(metadata, "exit"),
    )


def step_usage(part: JsonObject) -> Usage:
    """Return the tokens and the cost of a part of the type `step-finish`: one call of the model."""
    tokens = fields(part.get("tokens"))
    cache = fields(tokens.get("cache"))
    return Usage(
        of="call",
        sent=whole(tokens, "input") or 0,
        received=(whole(tokens, "output") or 0) + (whole(tokens, "reasoning") or 0),
        cache_read=whole(cache, "read"),
        cache_written=whole(cache, "write"),
        cost_usd=amount(part.get("cost")),
    )


def failure(error: JsonObject) -> Failure:
    """Return the failure in an error of the form `{name, data}`."""
    data = fields(error.get("data"))
    words = text(data, "message") or text(error, "name") or ""
    status = whole(data, "statusCode")
    told = problem(RpcError(message=words if status is None else f"HTTP {status}: {words}"))
    return Failure(message=words or told.message, status=status or told.status, code=told.code)


def turn_end(reason: str | None) -> TurnEnded | None:
    """Return the end of the turn by the reason of a step; None if the agent continues."""
    match reason:
        case "length":
            return TurnEnded(outcome="max_tokens", stop_reason=reason)
        case "content-filter":
            return TurnEnded(outcome="refusal", stop_reason=reason)
        case "error":
            return TurnEnded(outcome="error", stop_reason=reason)
        case "tool-calls":
            return None
        case _:
            return TurnEnded(stop_reason=reason)

"""Answers to what `codex app-server` asks its client (0.169.0)."""

from collections.abc import Mapping

from turnwire.protocol.json_values import Json, JsonObject

ACCEPT = "accept"
DECLINE = "decline"
CANCEL = "cancel"
AMEND = "acceptWithExecpolicyAmendment"
"""Allow, and from now on every command that begins like this one."""

NO_METHOD = -32601
"""JSON-RPC's error: nothing is done for such a request."""

FAILED = -32603
"""JSON-RPC's error of something that cannot be done."""


def result(request: JsonObject, value: Json) -> JsonObject:
    """Return the line that answers a request."""
    return {"id": request["id"], "result": value}


def error(name: Json, code: int, message: str) -> JsonObject:
    """Return the line that answers a request of this id with an error; Codex takes one for a refusal."""
    return {"id": name, "error": {"code": code, "message": message}}


def decision(params: JsonObject, option: str) -> JsonObject:
    """Return what is decided about a command or a patch, by the name of the option."""
    if option == AMEND:
        return {"decision": {AMEND: {"execpolicy_amendment": params.get("proposedExecpolicyAmendment")}}}
    offered = params.get("availableDecisions")
    for one in offered if isinstance(offered, list) else []:
        if isinstance(one, dict) and option in one:
            return {"decision": {option: one[option]}}
    return {"decision": option}


def permissions(params: JsonObject, *, allow: bool) -> JsonObject:
    """Return what is granted beyond the sandbox, for the turn: all that is asked for, or nothing."""
    return {"permissions": params.get("permissions") if allow else {}, "scope": "turn"}


def questions(params: JsonObject, given: Mapping[str, Json]) -> JsonObject:
    """Return the answers to questions; `given` has them by the words of each question."""
    asked = params.get("questions")
    answers: JsonObject = {}
    for one in asked if isinstance(asked, list) else []:
        name, words = (one.get("id"), one.get("question")) if isinstance(one, dict) else (None, None)
        if isinstance(name, str) and isinstance(words, str) and words in given:
            answers[name] = {"answers": [given[words]]}
    return {"answers": answers}


def elicitation(action: str, content: Json = None) -> JsonObject:
    """Return the answer to what an MCP server asks: accept, decline or cancel; a form has its content."""
    return {"action": action, "content": content, "_meta": None}

"""Requests that agents add to the protocol, read as forms and permission requests.

Reading and answering are both here, so that the code that asks a human and the code that answers the agent need not know any
agent's words.
"""

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from turnwire.normalize.payloads.fields import fields, flag, objects, text
from turnwire.protocol.acp.messages import Option, PermissionParams, PermissionRequest, Request
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import Json, JsonObject

_MOST = 20
"""Questions of one form."""
APPROVE, REJECT = "approve", "reject"


class Form(Struct, frozen=True, kw_only=True):
    """A request that asks questions."""

    answers: Callable[[JsonObject], JsonObject]
    """Makes an answer of the answers by question."""
    declined: JsonObject
    """The response when a human declines to answer."""
    cancelled: JsonObject
    """The response when nobody answers."""

    def form(self, asked: Request) -> JsonObject:
        """Return it as the params of an elicitation: each field is called as its question."""
        params = fields(asked.params)
        listed = objects(params, "questions")[:_MOST]
        words = [text(question, "question") or "" for question in listed]
        return {
            "sessionId": text(params, "sessionId"),
            "toolCallId": text(params, "toolCallId"),
            "mode": "form",
            "message": "\n".join(words),
            "requestedSchema": {
                "type": "object",
                "properties": {word: _field(one) for word, one in zip(words, listed, strict=True)},
                "required": words,
            },
        }

    def action(self, result: Json) -> str:
        """Return what a response to the agent means."""
        return "accept" if "answers" in fields(result) else "decline" if result == self.declined else "cancel"

    def answer(self, action: str, content: Json) -> JsonObject:
        """Return the answer to the agent."""
        if action == "accept":
            return self.answers(fields(content))
        return self.declined if action == "decline" else self.cancelled


class Plan(Struct, frozen=True, kw_only=True):
    """A request that asks for approval of a plan."""

    name: str
    """The tool's."""
    plan: str
    """The parameter that has the plan."""
    yes: JsonObject
    no: JsonObject

    def permission(self, asked: Request) -> PermissionRequest:
        """Return it as a permission request."""
        params = fields(asked.params)
        plan = text(params, self.plan)
        return PermissionRequest(
            asked.id,
            PermissionParams(
                session_id=text(params, "sessionId") or "",
                tool_call=ToolCallUpdate(
                    tool_call_id=text(params, "toolCallId") or "",
                    name=self.name,
                    raw_input=None if plan is None else {"plan": plan},
                ),
                options=[
                    Option(APPROVE, "Approve the plan", "allow_once"),
                    Option(REJECT, "Reject the plan", "reject_once"),
                ],
            ),
        )

    def answer(self, option_id: str | None) -> JsonObject:
        """Return the response to the agent. None for an option that does not exist."""
        return self.yes if option_id == APPROVE else self.no

    def chosen(self, result: Json) -> JsonObject:
        """Return an answer as the protocol has it."""
        chosen = APPROVE if fields(result) == self.yes else REJECT
        return {"outcome": {"outcome": "selected", "optionId": chosen}}


OwnRequest: TypeAlias = Form | Plan


def task(asked: Request) -> ToolCallUpdate:
    """Return what Cursor tells of a subagent by a request, which may come before the call."""
    params = fields(asked.params)
    given: JsonObject = {
        name: params[name] for name in ("description", "prompt", "model", "agentId") if params.get(name)
    }
    return ToolCallUpdate(
        tool_call_id=text(params, "toolCallId") or "",
        name="task",
        title=text(params, "description"),
        kind="other",
        raw_input=given,
    )


def _field(question: JsonObject) -> JsonObject:
    options: list[Json] = [
        {"const": label, "title": label, "description": text(option, "description")}
        for option in objects(question, "options")
        if (label := text(option, "label"))
    ]
    named: JsonObject = {
        "title": text(question, "header", "question"),
        "description": text(question, "question"),
    }
    if flag(question, "multiSelect", "multi_select"):
        return {"type": "array", **named, "items": {"anyOf": options}}
    return {"type": "string", **named, **({"oneOf": options} if options else {})}

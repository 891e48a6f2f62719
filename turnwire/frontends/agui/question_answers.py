"""Requests that wait for a human as interrupts, and the resume entries that answer them. Pure."""

from typing import TypeAlias

import msgspec
from ag_ui.core import Interrupt, ResumeEntry

from turnwire.client import commands, events
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.web.payload_text import fitting

ANSWER_FIELDS = frozenset({"option_id", "updated_input", "message", "interrupt", "destination", "mode"})
"""What an answer to a permission request may have."""

Request: TypeAlias = events.PermissionRequest | events.QuestionRequest


class InvalidAnswer(Exception):
    """An answer that does not fit its request: where it is wrong, and what it must be."""

    def __init__(self, interrupt: str, message: str) -> None:
        super().__init__(f"resume entry for {interrupt!r}: {message}")


def interrupt_of(request: Request) -> Interrupt:
    """Return a request as the interrupt that a run ends with."""
    said = fitting(msgspec.to_builtins(request))
    if isinstance(request, events.PermissionRequest):
        return Interrupt(
            id=request.pending_id,
            reason="permission",
            message=request.permission_title,
            tool_call_id=request.tool_call_id,
            response_schema=_permission_schema(request),
            metadata={"turnwire": said},
        )
    return Interrupt(
        id=request.pending_id,
        reason="question",
        message=request.message or "\n".join(each.question for each in request.questions or ()) or None,
        tool_call_id=request.tool_call_id,
        response_schema=_question_schema(request),
        metadata={"turnwire": said},
    )


def _permission_schema(request: events.PermissionRequest) -> JsonObject:
    options = [
        {"const": option.option_id, "title": option.label()}
        | ({} if option.effect is None else {"description": option.effect})
        for option in request.permission_options
    ]
    return {
        "type": "object",
        "properties": {
            "option_id": {"type": "string", "oneOf": options},
            "message": {"type": "string", "description": "What to tell the agent, on rejecting."},
            "updated_input": {"type": "object", "description": "The tool's arguments, edited."},
        },
        "required": ["option_id"],
    }


def _question_schema(request: events.QuestionRequest) -> JsonObject:
    if request.kind == "ask_user":
        answers: JsonObject = {}
        for question in request.questions or ():
            one: JsonObject = {"type": "string", "examples": [choice.label for choice in question.options]}
            answers[question.question] = {"type": "array", "items": one} if question.multi_select else one
        return {
            "type": "object",
            "properties": {"answers": {"type": "object", "properties": answers}},
            "required": ["answers"],
        }
    schema: JsonValue = request.requested_schema
    return schema if isinstance(schema, dict) else {"type": "object"}


def command_of(session: str, request: Request, entry: ResumeEntry) -> commands.AnyCommand:
    """Return what a resume entry asks for; raises InvalidAnswer."""
    if isinstance(request, events.PermissionRequest):
        return _permission(session, request, entry)
    return _question(session, request, entry)


def _permission(
    session: str, request: events.PermissionRequest, entry: ResumeEntry
) -> commands.PermissionRespond:
    options = {option.option_id: option for option in request.permission_options}
    if entry.status == "cancelled":
        return _respond(session, request, {"option_id": _once(request, allowed=False)})
    match entry.payload:
        case bool(allowed):
            answer: JsonObject = {"option_id": _once(request, allowed=allowed)}
        case str(option):
            answer = {"option_id": option}
        case dict(given):
            answer = dict(given)
            if "option_id" not in answer and isinstance(allowed := answer.pop("approved", None), bool):
                # what AG-UI's own pages send for a tool call
                answer["option_id"] = _once(request, allowed=allowed)
                if "editedArgs" in answer:
                    answer["updated_input"] = answer.pop("editedArgs")
        case _:
            raise InvalidAnswer(
                entry.interrupt_id, "payload must be an object with option_id, its text, or a boolean"
            )
    if answer.get("option_id") not in list(options):
        raise InvalidAnswer(entry.interrupt_id, f"payload.option_id must be one of {', '.join(options)}")
    if unknown := answer.keys() - ANSWER_FIELDS:
        raise InvalidAnswer(
            entry.interrupt_id, f"payload has unknown fields: {', '.join(sorted(map(str, unknown)))}"
        )
    return _respond(session, request, answer)


def _respond(session: str, request: Request, answer: JsonObject) -> commands.PermissionRespond:
    try:
        return msgspec.convert(
            {"session": session, "pending_id": request.pending_id, **answer, "type": "permission.respond"},
            commands.PermissionRespond,
        )
    except msgspec.ValidationError as error:
        raise InvalidAnswer(request.pending_id, f"payload: {error}") from None


def _once(request: events.PermissionRequest, *, allowed: bool) -> str:
    try:
        return request.allow_once() if allowed else request.deny()
    except LookupError as none:
        raise InvalidAnswer(
            request.pending_id, f"payload does not name an option by option_id. {none}"
        ) from None


def _question(session: str, request: events.QuestionRequest, entry: ResumeEntry) -> commands.QuestionAnswer:
    pending = request.pending_id
    if entry.status == "cancelled":
        return commands.QuestionAnswer(session=session, pending_id=pending, action="cancel")
    payload = entry.payload
    if isinstance(payload, dict) and payload.get("action") in {"decline", "cancel"}:
        return commands.QuestionAnswer(session=session, pending_id=pending, action=payload["action"])
    if request.kind != "ask_user":
        return commands.QuestionAnswer(session=session, pending_id=pending, action="accept", content=payload)
    questions = [question.question for question in request.questions or ()]
    answers = payload.get("answers") if isinstance(payload, dict) else payload
    if isinstance(answers, str) and len(questions) == 1:
        answers = {questions[0]: answers}
    try:
        given = msgspec.convert(answers, dict[str, str | list[str]])
    except msgspec.ValidationError:
        raise InvalidAnswer(
            entry.interrupt_id,
            "payload.answers must be an object of question to answer, or to a list of answers",
        ) from None
    if unknown := given.keys() - set(questions):
        raise InvalidAnswer(entry.interrupt_id, f"payload.answers has no question {min(unknown)!r}")
    return commands.QuestionAnswer(session=session, pending_id=pending, action="accept", answers=given)

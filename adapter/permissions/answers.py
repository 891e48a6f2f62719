"""A frontend's answer -> what the agent is told; pure.

An answer that does not fit its request is an InvalidAnswer: the request goes on waiting, nothing is allowed. An allow
always carries the arguments and a deny always a message, as the CLI demands (see turnwire/protocol/claude/answers.py).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.requests import (
    Allow,
    Answer,
    Deny,
    Dismissed,
    ForHumans,
    QuestionRequest,
    Reply,
    ToolRequest,
)
from turnwire.normalize.inputs import Decision
from turnwire.protocol.errors import TurnwireError

DENIED = "The user does not want to proceed with this tool call."
"""Message to the agent when a human rejects without words."""

NOT_ANSWERED = "The user did not answer the question."
"""Message to the agent when a question is declined."""

STOPPED = "The session was stopped before anybody answered."
"""Message to the agent when it is stopped with an open request."""

TOO_MANY = "Too many requests of this session wait for an answer; this one was refused without being shown."
"""Message to the agent when too many requests wait."""

TIMED_OUT = "Nobody answered in time."
"""Message to the agent when its request has expired."""

NOBODY = "Nobody can be asked."
"""Message to the agent when no human can answer."""

_STOPS = "reject_interrupt"
"""The option that stops the turn besides."""


class InvalidAnswer(TurnwireError):
    """The answer does not fit the request; names the field of the command that is wrong."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Outcome(NamedTuple):
    """What an answer comes to."""

    reply: Reply
    decision: Decision
    grants: tuple[tuple[Grant, str], ...] = ()


def answer_tool(request: ToolRequest, answer: PermissionAnswer, by: str, waited: int) -> Outcome:
    """Answer a permission request; raises InvalidAnswer."""
    _check(request, answer)
    offer = request.offer(answer.option_id)
    if offer is None:
        known = ", ".join(offer.option.option_id for offer in request.offers)
        raise InvalidAnswer(f"option_id must be one of {known}", "option_id")
    match offer.option.kind:
        case "allow_once" | "allow_always":
            if request.call.kind == "question" and not (answer.updated_input or {}).get("answers"):
                # of a question that is allowed without an answer, the agent hears that nobody answered
                raise InvalidAnswer("this is a question; answer it with question.answer")
            _check_distinct(request)
            if answer.destination is not None and offer.is_movable:
                offer = offer.moved(answer.destination)
            asked = request.call.arguments
            return Outcome(
                Allow(
                    asked if answer.updated_input is None else answer.updated_input,
                    answer.option_id,
                    offer.changes,
                    answer.mode,
                ),
                Decision(
                    request.request_id,
                    "allow",
                    by,
                    waited,
                    option_id=answer.option_id,
                    updated_input=answer.updated_input,
                    destination=offer.destination,
                ),
                offer.grants,
            )
        case "reject_once" | "reject_always":
            interrupt = answer.interrupt or answer.option_id == _STOPS
            return deny(request, answer.message or DENIED, by, waited, answer.option_id, interrupt=interrupt)


def _check(request: ToolRequest, answer: PermissionAnswer) -> None:
    if answer.destination is not None and answer.destination not in request.destinations:
        raise InvalidAnswer(_one_of("destination", request.destinations), "destination")
    if answer.mode is not None and answer.mode not in request.modes:
        raise InvalidAnswer(_one_of("mode", request.modes), "mode")
    if answer.updated_input is not None and not request.is_editable:
        raise InvalidAnswer(
            "this agent does not accept changed arguments; leave out updated_input", "updated_input"
        )


def _one_of(name: str, known: Sequence[str]) -> str:
    return f"{name} must be one of {', '.join(known)}" if known else f"this agent takes no {name} here"


def answer_user_question(request: ToolRequest, answer: QuestionAnswer, by: str, waited: int) -> Outcome:
    """Answer AskUserQuestion, whose answers travel as an edited input; raises InvalidAnswer."""
    if answer.action != "accept":
        return deny(request, answer.message or NOT_ANSWERED, by, waited)
    if not answer.answers:
        raise InvalidAnswer("answers must give the answer of each question", "answers")
    _check_distinct(request)
    asked = {question.question: question.multi_select for question in request.questions}
    joined = {question: _joined(question, given, asked) for question, given in answer.answers.items()}
    updated = {**request.call.arguments, "answers": joined}
    return Outcome(Allow(updated), Decision(request.request_id, "answer", by, waited, updated_input=updated))


def _check_distinct(request: ToolRequest) -> None:
    """Raise InvalidAnswer if two questions have the same words: the agent finds an answer by its question's words."""
    words = [question.question for question in request.questions]
    same = next((one for one in words if words.count(one) > 1), None)
    if same is not None:
        raise InvalidAnswer(
            f"{words.count(same)} of the questions are {same!r}, and the agent takes one answer for these words; "
            "decline, and write the answers as the message",
            "answers",
        )


def _joined(question: str, given: str | list[str], asked: dict[str, bool]) -> str:
    """Return the answer of one question as the CLI takes it: of what does not fit, it tells the agent nothing."""
    if asked and question not in asked:
        known = ", ".join(repr(one) for one in asked)
        raise InvalidAnswer(f"there is no question {question!r}; the questions are {known}", "answers")
    chosen = [given] if isinstance(given, str) else given
    if not chosen or not all(one.strip() for one in chosen):
        raise InvalidAnswer(
            f"{question!r} has an empty answer; leave the question out, or decline", "answers"
        )
    if len(chosen) > 1 and not asked.get(question, True):
        raise InvalidAnswer(f"{question!r} takes one answer, not {len(chosen)}", "answers")
    return ", ".join(chosen)


def answer_question(request: QuestionRequest, answer: QuestionAnswer, by: str, waited: int) -> Outcome:
    """Answer an elicitation or a dialog; raises InvalidAnswer."""
    is_form = request.kind == "elicitation"
    if is_form and answer.content is not None and not isinstance(answer.content, dict):
        raise InvalidAnswer("content must be an object that fits the requested schema", "content")
    behavior: Literal["answer", "deny"] = "answer" if answer.action == "accept" else "deny"
    return Outcome(
        Answer(answer.action, answer.content if answer.action == "accept" else None),
        Decision(request.request_id, behavior, by, waited, message=answer.message),
    )


def deny(
    request: ToolRequest,
    message: str,
    by: str,
    waited: int,
    option_id: str | None = None,
    *,
    interrupt: bool = False,
) -> Outcome:
    """Refuse a tool call."""
    return Outcome(
        Deny(message, interrupt, option_id),
        Decision(
            request.request_id,
            "deny",
            by,
            waited,
            option_id=option_id,
            message=message,
            interrupt=interrupt,
        ),
    )


def dismiss(request: ForHumans, message: str, by: str, waited: int) -> Outcome:
    """Answer for a human who did not: a tool call is denied and its turn stopped, a question is dismissed."""
    match request:
        case ToolRequest():
            return deny(request, message, by, waited, interrupt=True)
        case QuestionRequest():
            return Outcome(Dismissed(), Decision(request.request_id, "deny", by, waited, message=message))

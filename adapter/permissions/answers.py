"""A frontend's answer -> what the CLI is told; pure.

An answer that does not fit its request is an InvalidAnswer: the request goes on waiting, nothing is allowed. An allow
always carries the arguments and a deny always a message, as the CLI demands (see protocol/claude/answers.py).
"""

from typing import Literal, NamedTuple

from adapter.claude.command import PERMISSION_MODES
from adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from adapter.permissions.grants import Grant, granted
from normalize.claude.requests.options import DESTINATIONS, REJECT_INTERRUPT, options, updates
from normalize.claude.requests.suggestions import suggestions
from normalize.claude.tools.plan import questions
from normalize.inputs import Decision
from protocol.claude.answers import Allow, Deny, answer_permission
from protocol.claude.control import ControlResponse, success
from protocol.claude.requests import CanUseTool, Elicitation, RequestUserDialog
from protocol.errors import TurnwireError
from protocol.json_values import JsonObject

DENIED = "The user does not want to proceed with this tool call."
"""What the agent is told when a human rejects and says nothing."""

NOT_ANSWERED = "The user did not answer the question."
"""What the agent is told when a question is declined."""

STOPPED = "The session was stopped before anybody answered."
"""What the agent is told when it is stopped with a request open."""

TOO_MANY = "Too many requests of this session wait for an answer; this one was refused without being shown."
"""What the agent is told when it asks without end."""

TIMED_OUT = "Nobody answered in time."
"""What the agent is told on expiry."""

Question = Elicitation | RequestUserDialog


class InvalidAnswer(TurnwireError):
    """The answer does not fit the request; names the field of the command that is wrong."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class Outcome(NamedTuple):
    """What an answer comes to."""

    response: ControlResponse
    decision: Decision
    grants: tuple[tuple[Grant, str], ...] = ()


def answer_tool(
    request_id: str, request: CanUseTool, answer: PermissionAnswer, by: str, waited: int
) -> Outcome:
    """Answer a permission request; raises InvalidAnswer."""
    offered = suggestions(request)
    kinds = {option.option_id: option.kind for option in options(offered)}
    if answer.destination is not None and answer.destination not in DESTINATIONS:
        raise InvalidAnswer(f"destination must be one of {', '.join(DESTINATIONS)}", "destination")
    if answer.mode is not None and answer.mode not in PERMISSION_MODES:
        raise InvalidAnswer(f"mode must be one of {', '.join(PERMISSION_MODES)}", "mode")
    match kinds.get(answer.option_id):
        case "allow_once" | "allow_always" if _lacks_answers(request, answer):
            raise InvalidAnswer("this is a question; answer it with question.answer")
        case "allow_once" | "allow_always":
            changes = updates(answer.option_id, offered, answer.destination)
            if answer.mode is not None:
                changes.append({"type": "setMode", "mode": answer.mode, "destination": "session"})
            allowed = Allow(
                request.input if answer.updated_input is None else answer.updated_input, changes or None
            )
            return Outcome(
                answer_permission(request_id, allowed),
                Decision(
                    request_id,
                    "allow",
                    by,
                    waited,
                    option_id=answer.option_id,
                    updated_input=answer.updated_input,
                    destination=_destination(changes),
                ),
                tuple(granted(changes)),
            )
        case "reject_once" | "reject_always":
            interrupt = answer.interrupt or answer.option_id == REJECT_INTERRUPT
            return deny(
                request_id, answer.message or DENIED, by, waited, answer.option_id, interrupt=interrupt
            )
        case None:
            raise InvalidAnswer(f"option_id must be one of {', '.join(kinds)}", "option_id")


def _lacks_answers(request: CanUseTool, answer: PermissionAnswer) -> bool:
    """Tell whether this allows a question without an answer, of which the agent hears that nobody answered."""
    return request.tool_name == "AskUserQuestion" and not (answer.updated_input or {}).get("answers")


def answer_user_question(
    request_id: str, request: CanUseTool, answer: QuestionAnswer, by: str, waited: int
) -> Outcome:
    """Answer AskUserQuestion, whose answers travel as an edited input; raises InvalidAnswer."""
    if answer.action != "accept":
        return deny(request_id, answer.message or NOT_ANSWERED, by, waited)
    if not answer.answers:
        raise InvalidAnswer("answers must give the answer of each question", "answers")
    asked = {question.question: question.multi_select for question in questions(request.input)}
    joined = {question: _joined(question, given, asked) for question, given in answer.answers.items()}
    updated = {**request.input, "answers": joined}
    return Outcome(
        answer_permission(request_id, Allow(updated)),
        Decision(request_id, "answer", by, waited, updated_input=updated),
    )


def _joined(question: str, given: str | list[str], asked: dict[str, bool]) -> str:
    """Return the answer of one question as the CLI takes it: of what does not fit, it tells the agent nothing."""
    if asked and question not in asked:
        known = ", ".join(repr(one) for one in asked)
        raise InvalidAnswer(f"there is no question {question!r}; what is asked is {known}", "answers")
    chosen = [given] if isinstance(given, str) else given
    if not chosen or not all(one.strip() for one in chosen):
        raise InvalidAnswer(f"{question!r} is left without an answer; leave it out or decline", "answers")
    if len(chosen) > 1 and not asked.get(question, True):
        raise InvalidAnswer(f"{question!r} takes one answer, not {len(chosen)}", "answers")
    return ", ".join(chosen)


def answer_question(
    request_id: str, request: Question, answer: QuestionAnswer, by: str, waited: int
) -> Outcome:
    """Answer an elicitation or a dialog; raises InvalidAnswer."""
    if isinstance(request, Elicitation):
        if answer.content is not None and not isinstance(answer.content, dict):
            raise InvalidAnswer("content must be an object that fits the requested schema", "content")
        payload: JsonObject = {"action": answer.action}
        if answer.action == "accept" and answer.content is not None:
            payload["content"] = answer.content
    elif answer.action == "accept":
        payload = {"behavior": "completed", "result": answer.content}
    else:
        payload = {"behavior": "cancelled"}
    behavior: Literal["answer", "deny"] = "answer" if answer.action == "accept" else "deny"
    return Outcome(
        success(request_id, payload), Decision(request_id, behavior, by, waited, message=answer.message)
    )


def deny(
    request_id: str,
    message: str,
    by: str,
    waited: int,
    option_id: str | None = None,
    *,
    interrupt: bool = False,
) -> Outcome:
    """Refuse a tool call."""
    return Outcome(
        answer_permission(request_id, Deny(message, interrupt or None)),
        Decision(request_id, "deny", by, waited, option_id=option_id, message=message, interrupt=interrupt),
    )


def dismiss(request_id: str, request: CanUseTool | Question, message: str, by: str, waited: int) -> Outcome:
    """Answer for a human who did not: a tool call is denied and its turn stopped (spec 3), a question is dismissed."""
    match request:
        case CanUseTool():
            return deny(request_id, message, by, waited, interrupt=True)
        case Elicitation():
            payload: JsonObject = {"action": "cancel"}
        case RequestUserDialog():
            payload = {"behavior": "cancelled"}
    return Outcome(success(request_id, payload), Decision(request_id, "deny", by, waited, message=message))


def _destination(changes: list[JsonObject]) -> str | None:
    places = {str(change["destination"]) for change in changes if change.get("type") != "setMode"}
    kept = places - {"session"} or places
    return kept.pop() if len(kept) == 1 else None

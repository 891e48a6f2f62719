"""Permissions and questions as requests to an editor: what it is asked, and what its answer means. Pure.

A permission is ACP's own request, option for option. A question is a form (elicitation) for an editor that offers forms;
others are asked by permission-like requests, one for each question, whose options are the choices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from turnwire.client import events as ev
from turnwire.client.payloads import Question
from turnwire.client.requests import Answer
from turnwire.client.values import JsonObject, JsonValue
from turnwire.frontends.acp.tool_calls import ToolCalls

Shape: TypeAlias = tuple[str, JsonObject]
"""A request's method and its parameters, the session left out."""

FORM = "elicitation/create"
PERMISSION = "session/request_permission"

NO_ANSWER = "(no answer)"


class BadAnswer(ValueError):
    """The editor's answer is none of those it was asked for; the message says how."""


@dataclass(frozen=True, slots=True)
class Respond:
    """Answer the permission request by one of its options."""

    option_id: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer the question."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class TurnCancelled:
    """The editor has cancelled the turn."""


Decision: TypeAlias = Respond | Reply | TurnCancelled


class Dialog(Protocol):
    """A request to the editor, or several, one after the other."""

    def request(self) -> Shape:
        """Return what to ask now."""

    def on_answer(self, result: JsonValue) -> Decision | None:
        """Take the editor's answer; None: ask on. Raises BadAnswer."""


@dataclass(frozen=True, slots=True)
class DialogCapabilities:
    """What an editor says it can be asked."""

    form: bool = False
    url: bool = False


def dialog(
    event: ev.PermissionRequest | ev.QuestionRequest, calls: ToolCalls, offered: DialogCapabilities
) -> Dialog:
    """Return how an editor is asked."""
    match event:
        case ev.PermissionRequest():
            return PermissionDialog(event, calls)
        case ev.QuestionRequest(kind="ask_user", questions=list(questions)):
            if offered.form:
                return QuestionForm(event, questions)
            return QuestionChoices(event, questions)
        case ev.QuestionRequest(kind="elicitation", mode="url", url=str(url)):
            return UrlForm(event, url) if offered.url else UrlChoice(event, url)
        case ev.QuestionRequest(requested_schema={"type": "object", "properties": dict()} as schema) if (
            offered.form
        ):
            return SchemaForm(event, schema)
        case _:
            return SchemaChoices(event)


class PermissionDialog:
    """session/request_permission."""

    def __init__(self, event: ev.PermissionRequest, calls: ToolCalls) -> None:
        self._event = event
        self._calls = calls

    def request(self) -> Shape:
        """Return the request, its options one for one."""
        options = [
            {"optionId": each.option_id, "name": each.label(), "kind": each.kind}
            | ({} if each.effect is None else {"_meta": {"turnwire": {"effect": each.effect}}})
            for each in self._event.permission_options
        ]
        return PERMISSION, {"toolCall": self._calls.asked(self._event), "options": options}

    def on_answer(self, result: JsonValue) -> Decision:
        """Take the outcome."""
        chosen = _chosen(result, [each.option_id for each in self._event.permission_options])
        return TurnCancelled() if chosen is None else Respond(chosen)


class QuestionForm:
    """elicitation/create with a field for each question, and one more for an answer of one's own."""

    def __init__(self, event: ev.QuestionRequest, questions: Sequence[Question]) -> None:
        self._event = event
        self._questions = questions

    def request(self) -> Shape:
        """Return the form."""
        properties: JsonObject = {}
        for number, question in enumerate(self._questions, 1):
            properties[f"answer{number}"] = _field(question)
            properties[f"other{number}"] = {
                "type": "string",
                "title": f"{question.header or question.question}: other",
                "description": "An answer of your own, instead",
            }
        schema = {"type": "object", "properties": properties}
        message = "\n".join(question.question for question in self._questions)
        return _form(self._event, message, schema)

    def on_answer(self, result: JsonValue) -> Decision:
        """Take the form as filled in."""
        action, content = _elicited(result)
        if action != "accept":
            return Reply(Answer(action=action))
        answers: dict[str, str | list[str]] = {}
        for number, question in enumerate(self._questions, 1):
            given = content.get(f"other{number}") or content.get(f"answer{number}") or NO_ANSWER
            answers[question.question] = list(map(str, given)) if isinstance(given, list) else str(given)
        return Reply(Answer(answers=answers))


class QuestionChoices:
    """A permission-like request for each question, for an editor without forms; one choice each."""

    def __init__(self, event: ev.QuestionRequest, questions: Sequence[Question]) -> None:
        self._event = event
        self._questions = questions
        self._answers: dict[str, str | list[str]] = {}

    def request(self) -> Shape:
        """Return the next question."""
        question = self._questions[len(self._answers)]
        said = "\n".join(f"- **{each.label}** {each.description or ''}".rstrip() for each in question.options)
        labels = [each.label for each in question.options]
        return _choice(self._event, question.question, said, labels)

    def on_answer(self, result: JsonValue) -> Decision | None:
        """Take a choice."""
        question = self._questions[len(self._answers)]
        chosen = _chosen(result, [*map(str, range(len(question.options))), "decline"])
        if chosen is None:
            return TurnCancelled()
        if chosen == "decline":
            return Reply(Answer(action="decline"))
        label = question.options[int(chosen)].label
        self._answers[question.question] = [label] if question.multi_select else label
        # two questions in the same words share their answer
        return (
            None if len(self._answers) < len({each.question for each in self._questions}) else self._reply()
        )

    def _reply(self) -> Reply:
        return Reply(Answer(answers=self._answers))


class SchemaForm:
    """elicitation/create with the form that an MCP server asks for."""

    def __init__(self, event: ev.QuestionRequest, schema: JsonObject) -> None:
        self._event = event
        self._schema = schema

    def request(self) -> Shape:
        """Return the form as it came."""
        return _form(self._event, self._event.message or "", self._schema)

    def on_answer(self, result: JsonValue) -> Decision:
        """Take the form as filled in."""
        action, content = _elicited(result)
        return Reply(Answer(action=action, content=content if action == "accept" else None))


class SchemaChoices:
    """What an editor without forms can answer of a form: a single choice; else it can decline, and others can answer."""

    def __init__(self, event: ev.QuestionRequest) -> None:
        self._event = event
        self._field, self._values = _single_choice(event.requested_schema)

    def request(self) -> Shape:
        """Return the choices, or the one to decline."""
        note = "" if self._values else "This can be answered in turnwire's console, or declined here."
        return _choice(
            self._event, self._event.message or "A question", note, [str(each) for each in self._values]
        )

    def on_answer(self, result: JsonValue) -> Decision:
        """Take the choice."""
        chosen = _chosen(result, [*map(str, range(len(self._values))), "decline"])
        if chosen is None:
            return TurnCancelled()
        if chosen == "decline":
            return Reply(Answer(action="decline"))
        return Reply(Answer(content={self._field: self._values[int(chosen)]}))


class UrlForm:
    """elicitation/create with an address to go to."""

    def __init__(self, event: ev.QuestionRequest, url: str) -> None:
        self._event = event
        self._url = url

    def request(self) -> Shape:
        """Return the address."""
        event = self._event
        return FORM, {
            "mode": "url",
            "message": event.message or self._url,
            "elicitationId": event.pending_id,
            "url": self._url,
            **_call(event),
        }

    def on_answer(self, result: JsonValue) -> Decision:
        """Take whether it was gone to."""
        return Reply(Answer(action=_elicited(result)[0]))


class UrlChoice:
    """The same for an editor that cannot open addresses: it is shown."""

    def __init__(self, event: ev.QuestionRequest, url: str) -> None:
        self._event = event
        self._url = url

    def request(self) -> Shape:
        """Return the address, and what to say of it."""
        return _choice(self._event, self._event.message or "Open this address", self._url, ["Done"])

    def on_answer(self, result: JsonValue) -> Decision:
        """Take whether it was gone to."""
        chosen = _chosen(result, ["0", "decline"])
        if chosen is None:
            return TurnCancelled()
        return Reply(Answer(action="accept" if chosen == "0" else "decline"))


def _call(event: ev.QuestionRequest) -> JsonObject:
    return {} if event.tool_call_id is None else {"toolCallId": event.tool_call_id}


def _form(event: ev.QuestionRequest, message: str, schema: JsonObject) -> Shape:
    return FORM, {
        "mode": "form",
        "message": message,
        "requestedSchema": schema,
        **_call(event),
    }


def _field(question: Question) -> JsonObject:
    options = [
        {
            "const": each.label,
            "title": each.label,
            **({"description": each.description} if each.description else {}),
        }
        for each in question.options
    ]
    named = {"title": question.header or question.question, "description": question.question}
    if question.multi_select:
        return {"type": "array", **named, "items": {"anyOf": options}}
    return {"type": "string", **named, "oneOf": options}


def _choice(event: ev.QuestionRequest, title: str, text: str, labels: Sequence[str]) -> Shape:
    """Return a permission-like request whose options are numbered, and one to decline."""
    content = [{"type": "content", "content": {"type": "text", "text": text}}] if text else []
    # A call of its own: the one that waits would be shown with the question's title, and go on so.
    call = {
        "toolCallId": event.pending_id,
        "title": title,
        "kind": "other",
        "status": "pending",
        "content": content,
    }
    options = [
        {"optionId": str(number), "name": label, "kind": "allow_once"} for number, label in enumerate(labels)
    ]
    options.append({"optionId": "decline", "name": "Decline", "kind": "reject_once"})
    return PERMISSION, {"toolCall": call, "options": options}


def _single_choice(schema: JsonValue) -> tuple[str, list[JsonValue]]:
    """Return the field of a form that has one, and its possible values; none where it has others."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(properties) != 1:
        return "", []
    ((name, field),) = properties.items()
    match field:
        case {"type": "boolean"}:
            return name, [True, False]
        case {"enum": list(values)}:
            return name, values
        case {"oneOf": list(values)}:
            return name, [each["const"] for each in values if isinstance(each, dict) and "const" in each]
        case _:
            return "", []


def _chosen(result: JsonValue, options: Sequence[str]) -> str | None:
    """Return the option of an outcome; None when it was cancelled."""
    match result:
        case {"outcome": {"outcome": "cancelled"}}:
            return None
        case {"outcome": {"outcome": "selected", "optionId": str(chosen)}} if chosen in options:
            return chosen
        case _:
            raise BadAnswer(
                f"a permission's outcome must be cancelled, or selected with one of {list(options)}"
            )


def _elicited(result: JsonValue) -> tuple[Literal["accept", "decline", "cancel"], JsonObject]:
    match result:
        case {"action": "accept", "content": dict(content)}:
            return "accept", content
        case {"action": "accept"}:
            return "accept", {}
        case {"action": "decline"}:
            return "decline", {}
        case {"action": "cancel"}:
            return "cancel", {}
        case _:
            raise BadAnswer("the answer to an elicitation must have the action accept, decline or cancel")

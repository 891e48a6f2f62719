"""Questions to a human, as agents spell them."""

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads.fields import flag, objects, text
from turnwire.normalize.payloads.work import Choice, Question


def questions(arguments: JsonObject) -> list[Question]:
    """Return the questions among the arguments of a tool that asks a human, or in a request."""
    return [
        Question(
            question=text(question, "question") or "",
            header=text(question, "header"),
            options=[
                Choice(label=text(option, "label") or "", description=text(option, "description"))
                for option in objects(question, "options")
            ],
            multi_select=flag(question, "multiSelect", "multi_select", "multiple") or False,
        )
        for question in objects(arguments, "questions")
    ]

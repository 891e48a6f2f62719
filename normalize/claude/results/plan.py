"""Results of the tools that plan: task lists, plan mode, answers of the human."""

import re
from typing import assert_never

from msgspec.structs import replace

from turnwire.normalize.claude.results.answer import ToolAnswer
from turnwire.normalize.claude.tools.plan import task, todos
from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads.fields import fields, objects, text
from turnwire.normalize.payloads.work import AskUser, CreateTask, ManageTodos, Question, ShowPlan, TodoItem

_CREATED = re.compile(r"\ATask #(\S+) created")
_LISTED = re.compile(
    r"^#(\S+) \[(\w+)\] ([^\n]*?)(?: \(([^()\n]{0,200})\))?(?: \[blocked by ([^\]\n]{0,2000})\])?$",
    re.MULTILINE,
)
_GOT = re.compile(r"\ATask #(\S+): ([^\n]*)\nStatus: (\w+)")
_ASKS = {"Exit plan mode?"}
"""The CLI's text when there was nobody to ask."""


def create_task(body: CreateTask, answer: ToolAnswer) -> CreateTask:
    """Add the new entry's id."""
    if answer.reason is not None:
        return body
    found = _CREATED.match(answer.text)
    task_id = text(fields(answer.fields.get("task")), "id") or (found[1] if found else None)
    return replace(body, task_id=task_id)


def manage_todos(body: ManageTodos, answer: ToolAnswer) -> ManageTodos:
    """Return the payload with the todo list before and after the call. body: the payload of the call."""
    if answer.reason is not None:
        return body
    result = answer.fields
    match body.operation:
        case "write":
            old = todos(result, "oldTodos") if "oldTodos" in result else None
            new = todos(result, "newTodos") if "newTodos" in result else body.items
            return replace(body, items=new, old_items=old)
        case "update":
            return _updated(body, fields(result.get("statusChange")))
        case "list":
            return replace(body, items=_listed(result, answer.text))
        case "get":
            return replace(body, items=_got(result, answer.text))
    assert_never(body.operation)


def show_plan(body: ShowPlan, answer: ToolAnswer) -> ShowPlan:
    """Return a plan with its approval, and the human's words if it was refused."""
    if body.operation == "enter":
        return replace(body, approved=answer.reason is None)
    if answer.reason is not None:
        said = None if answer.refused_input or answer.text in _ASKS else answer.text or None
        return replace(body, approved=False, feedback=said)
    result = answer.fields
    plan = text(result, "plan") or body.plan
    return replace(body, approved=True, plan=plan, file_path=text(result, "filePath") or body.file_path)


def ask_user(body: AskUser, answer: ToolAnswer) -> AskUser:
    """Add the answers."""
    if answer.reason is not None:
        return body
    given = answer.fields.get("answers")
    if isinstance(given, dict):
        answers = {question: _chosen(labels) for question, labels in given.items()}
    else:
        answers = _quoted(answer.text, body.questions)
    return replace(body, answers=answers)


def _chosen(labels: object) -> str:
    if isinstance(labels, list):
        return ", ".join(str(label) for label in labels)
    return labels if isinstance(labels, str) else str(labels)


def _quoted(said: str, questions: list[Question]) -> dict[str, str]:
    """Parse `"question"="answer", …`. The questions are known, so quotes inside them cause no confusion."""
    marks = [f'"{question.question}"="' for question in questions]
    starts = sorted((said.find(mark), place) for place, mark in enumerate(marks) if mark in said)
    answers: dict[str, str] = {}
    for order, (at, place) in enumerate(starts):
        begin = at + len(marks[place])
        if order + 1 < len(starts):
            end = said.rfind('"', begin, starts[order + 1][0])
        else:
            end = said.find('". ', begin)
            end = said.rfind('"', begin) if end < 0 else end
        if end >= begin:
            answers[questions[place].question] = said[begin:end]
    return answers


def _updated(body: ManageTodos, change: JsonObject) -> ManageTodos:
    before, after = text(change, "from"), text(change, "to")
    if before is None or not body.items:
        return body
    item = body.items[0]
    old = replace(item, status=before)
    new = replace(item, status=after or item.status)
    return replace(body, items=[new], old_items=[old])


def _listed(result: JsonObject, said: str) -> list[TodoItem]:
    if "tasks" in result:
        return [task(item) for item in objects(result, "tasks")]
    if "todos" in result:
        return todos(result, "todos")
    return [
        TodoItem(
            id=found[1],
            status=found[2],
            description=found[3],
            owner=found[4],
            blocked_by=[blocker.strip().removeprefix("#") for blocker in found[5].split(",")]
            if found[5]
            else None,
        )
        for found in _LISTED.finditer(said)
    ]


def _got(result: JsonObject, said: str) -> list[TodoItem]:
    if "task" in result:
        found = fields(result["task"])
        return [task(found)] if found else []
    heading = _GOT.match(said)
    return [TodoItem(id=heading[1], description=heading[2], status=heading[3])] if heading else []

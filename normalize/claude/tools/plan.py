"""Calls of the tools that plan: task lists, plan mode, questions to the human."""

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import AskUserPayload, CreateTaskPayload, ManageTodosPayload, ShowPlanPayload
from turnwire.normalize.payloads.fields import objects, text, texts
from turnwire.normalize.payloads.questions import questions
from turnwire.normalize.payloads.work import (
    AskUser,
    CreateTask,
    ManageTodos,
    ShowPlan,
    TodoItem,
)


def create_task(call: JsonObject) -> CreateTaskPayload:
    """TaskCreate: a new entry of the task list."""
    return CreateTaskPayload(
        create_task=CreateTask(
            title=text(call, "subject", "title") or "",
            description=text(call, "description"),
            active_form=text(call, "activeForm"),
        )
    )


def update_task(call: JsonObject) -> ManageTodosPayload:
    """TaskUpdate: some fields of one entry."""
    return ManageTodosPayload(manage_todos=ManageTodos(operation="update", items=[task(call)]))


def list_tasks(_call: JsonObject) -> ManageTodosPayload:
    """TaskList. The result contains the entries."""
    return ManageTodosPayload(manage_todos=ManageTodos(operation="list", items=[]))


def get_task(call: JsonObject) -> ManageTodosPayload:
    """TaskGet: one entry."""
    return ManageTodosPayload(manage_todos=ManageTodos(operation="get", items=[task(call)]))


def write_todos(call: JsonObject) -> ManageTodosPayload:
    """TodoWrite: the whole list, each time; `items` as Kandev calls it."""
    name = "todos" if "todos" in call else "items"
    return ManageTodosPayload(manage_todos=ManageTodos(operation="write", items=todos(call, name)))


def read_todos(_call: JsonObject) -> ManageTodosPayload:
    """TodoRead. The result contains the entries."""
    return ManageTodosPayload(manage_todos=ManageTodos(operation="list", items=[]))


def enter_plan(_call: JsonObject) -> ShowPlanPayload:
    """EnterPlanMode."""
    return ShowPlanPayload(show_plan=ShowPlan(operation="enter"))


def exit_plan(call: JsonObject) -> ShowPlanPayload:
    """ExitPlanMode shows the plan and requests approval. In 2.1 the plan may be in a file only."""
    plan, file_path = text(call, "plan"), text(call, "planFilePath")
    return ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan=plan, file_path=file_path))


def ask_user(call: JsonObject) -> AskUserPayload:
    """AskUserQuestion."""
    return AskUserPayload(ask_user=AskUser(questions=questions(call)))


def todos(source: JsonObject, name: str) -> list[TodoItem]:
    """Return the entries of a TodoWrite list. Entries have no ids, so their positions serve as ids."""
    return [
        TodoItem(
            id=text(item, "id") or str(place),
            description=text(item, "content", "description") or "",
            status=text(item, "status") or "pending",
            active_form=text(item, "activeForm"),
        )
        for place, item in enumerate(objects(source, name), start=1)
    ]


def task(source: JsonObject) -> TodoItem:
    """Return one entry of the task list, as a call or a result of the Task tools describes it."""
    return TodoItem(
        id=text(source, "taskId", "id"),
        description=text(source, "subject", "description") or "",
        status=text(source, "status") or "",
        active_form=text(source, "activeForm"),
        blocked_by=texts(source, "blockedBy") or texts(source, "addBlockedBy") or None,
        owner=text(source, "owner"),
    )

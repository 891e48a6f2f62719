"""One line for humans about a tool call, made from its payload."""

import re
from collections.abc import Callable, Mapping
from typing import assert_never

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import (
    AskUserPayload,
    CodeSearchPayload,
    CreateTaskPayload,
    GenericPayload,
    HttpRequestPayload,
    ManageTodosPayload,
    McpToolPayload,
    MiscPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
    ShowPlanPayload,
    SubagentTaskPayload,
)
from turnwire.normalize.payloads.fields import fields
from turnwire.normalize.payloads.files import CodeSearch, ModifyFile, ReadFile
from turnwire.normalize.payloads.work import HttpRequest, ManageTodos, ShellExec
from turnwire.protocol.visible import visible

Words = Callable[[JsonObject], str]
"""From a call's arguments to its title; empty if there is nothing to show."""

LIMIT = 200
"""Characters; a title is one line of a list, not the call itself."""

LONGEST_COMMAND = 1000
"""Most characters of a command in the title of a permission request."""

UNKNOWN_COMMAND = "Unknown command: the agent does not tell it"
"""Title of a permission request for a command that the agent does not reveal."""

_LINES = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_BREAKS = re.compile(r"[\t\n\x0b\x0c\r\x85\u2028\u2029]+")


def title_of(name: str, payload: NormalizedPayload, generic: Mapping[str, Words]) -> str:
    """Return the title of a call of the named tool; never empty, never more than one line.

    `generic` has the family's words for tools without a payload of their own.
    """
    line = printable(_of(payload, generic)) or printable(name) or "tool"
    return line if len(line) <= LIMIT else line[: LIMIT - 1] + "…"


def title_of_request(payload: NormalizedPayload) -> str | None:
    """Return the title of a permission request for a command: the command on one line. None for any other request.

    A line break is shown as `⏎`. A cut title ends with the size of the whole, so that no first line looks like all of it.
    """
    if not isinstance(payload, ShellExecPayload) or payload.shell_exec.operation in ("read", "stop"):
        return None
    command = payload.shell_exec.command.strip()
    line = printable(_LINES.sub(" ⏎ ", command[: 2 * LONGEST_COMMAND]))
    if len(line) <= LONGEST_COMMAND and len(command) <= 2 * LONGEST_COMMAND:
        return line or UNKNOWN_COMMAND
    lines = len(_LINES.findall(command)) + 1
    return f"{line[:LONGEST_COMMAND]}… (cut: {len(command)} characters, {lines} lines in all)"


def printable(text: str) -> str:
    """Return text of others as one line that hides nothing."""
    # Most titles are printable as they are, and asking is cheaper than the expressions.
    if text.isascii() and text.isprintable():
        return text.strip()
    return visible(_BREAKS.sub(" ", text).strip())


def _of(payload: NormalizedPayload, generic: Mapping[str, Words]) -> str:
    match payload:
        case ShellExecPayload(shell_exec=body):
            return _shell(body)
        case ReadFilePayload(read_file=body):
            return _read(body)
        case ModifyFilePayload(modify_file=body):
            return _modify(body)
        case CodeSearchPayload(code_search=body):
            return _search(body)
        case HttpRequestPayload(http_request=body):
            return _http(body)
        case SubagentTaskPayload(subagent_task=body):
            return body.description or _first_line(body.prompt)
        case CreateTaskPayload(create_task=body):
            return f"Create task: {body.title}" if body.title else "Create task"
        case ManageTodosPayload(manage_todos=body):
            return _todos(body)
        case ShowPlanPayload(show_plan=body):
            return "Enter plan mode" if body.operation == "enter" else "Show the plan for approval"
        case AskUserPayload(ask_user=body):
            return body.questions[0].question if body.questions else ""
        case McpToolPayload(mcp_tool=body):
            return f"{body.server}: {body.tool}"
        case GenericPayload(generic=body):
            words = generic.get(body.name)
            return (words(fields(body.input)) if words is not None else "") or body.name
        case MiscPayload(misc=body):
            return body.label
    assert_never(payload)


def _read(body: ReadFile) -> str:
    if not body.file_path:
        return ""
    if body.pages:
        return f"Read {body.file_path} (pages {body.pages})"
    if body.offset is None and body.limit is None:
        return f"Read {body.file_path}"
    first = 1 if body.offset is None else body.offset
    if body.limit is None:
        return f"Read {body.file_path} (from line {first})"
    return f"Read {body.file_path} (lines {first}-{first + body.limit - 1})"


def _modify(body: ModifyFile) -> str:
    if not body.file_path:
        return ""
    types = {mutation.type for mutation in body.mutations}
    if types & {"create", "overwrite"}:
        return f"Write {body.file_path}"
    if len(body.mutations) > 1:
        return f"Edit {body.file_path} ({len(body.mutations)} edits)"
    cell = body.mutations[0].cell_id if body.mutations else None
    place = f"cell {cell} of {body.file_path}" if cell else body.file_path
    if "insert" in types:
        return f"Insert a cell after {place}" if cell else f"Insert a cell into {place}"
    return f"Delete {place}" if "delete" in types else f"Edit {place}"


def _shell(body: ShellExec) -> str:
    match body.operation:
        case "read":
            return f"Read the output of task {body.task_id}" if body.task_id else "Read the output"
        case "stop":
            return f"Stop task {body.task_id}" if body.task_id else "Stop a task"
        case _:
            return _first_line(body.command) or body.description or ""


def _search(body: CodeSearch) -> str:
    where = f" in {body.path}" if body.path else ""
    if body.query is not None:
        only = body.glob or body.file_type
        return f"Search for {body.query}{where}" + (f" ({only})" if only else "")
    if body.pattern is not None:
        return f"Find {body.pattern}{where}"
    return f"List {body.path}" if body.path else ""


def _http(body: HttpRequest) -> str:
    if body.method == "SEARCH":
        return f"Search the web for {body.query}" if body.query else ""
    return f"Fetch {body.url}" if body.url else ""


def _todos(body: ManageTodos) -> str:
    match body.operation:
        case "write":
            done = sum(item.status == "completed" for item in body.items)
            return f"Update the to-do list ({done} of {len(body.items)} done)"
        case "update":
            return _task("Update task", body)
        case "get":
            return _task("Look up task", body)
        case "list":
            return "List the tasks"
    assert_never(body.operation)


def _task(what: str, body: ManageTodos) -> str:
    item = body.items[0] if body.items else None
    if item is None or not item.id:
        return what
    return f"{what} {item.id}" + (f": {item.status}" if item.status else "")


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()

"""Tool calls of any agent in the form of Claude Code: its tool's name and arguments, and a result as text. Pure.

A call without a counterpart in Claude Code keeps the agent's own name and known arguments.
"""

import msgspec

from turnwire.normalize import payloads
from turnwire.normalize.payloads.files import CodeSearch, ModifyFile
from turnwire.normalize.payloads.work import AskUser, ManageTodos, ShellExec
from turnwire.protocol.json_values import Json, JsonObject

RESULTS = ("output", "response", "is_error", "status", "bytes", "results", "answers", "approved", "feedback")
"""Fields of payloads that contain a call's result."""

EDITS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
"""Names of Claude Code's tools that change files."""

READS = frozenset({"Glob", "Grep", "Read"})
"""Names of Claude Code's tools that read and search files."""


class Call(msgspec.Struct, frozen=True):
    """A call as Claude Code would make it."""

    name: str
    arguments: JsonObject


def call_of(
    name: str | None, payload: payloads.NormalizedPayload | None, told: JsonObject | None = None
) -> Call:
    """Convert a call to Claude Code's form. told: the agent's own arguments, used if nothing else is known."""
    own = name or "unknown"
    match payload:
        case None:
            return Call(own, told or {})
        case payloads.ShellExecPayload(shell_exec=shell):
            return _shell(shell)
        case payloads.ReadFilePayload(read_file=read):
            return _call(
                "Read", file_path=read.file_path, offset=read.offset, limit=read.limit, pages=read.pages
            )
        case payloads.ModifyFilePayload(modify_file=modify):
            return _edit(own, modify)
        case payloads.CodeSearchPayload(code_search=search):
            return _search(search)
        case payloads.HttpRequestPayload(http_request=request) if request.query is not None:
            return _call("WebSearch", query=request.query)
        case payloads.HttpRequestPayload(http_request=request):
            return _call("WebFetch", url=request.url, prompt=request.prompt)
        case payloads.SubagentTaskPayload(subagent_task=task):
            return _call(
                "Task", description=task.description, prompt=task.prompt, subagent_type=task.subagent_type
            )
        case payloads.CreateTaskPayload(create_task=created):
            return _call("TaskCreate", subject=created.title, description=created.description)
        case payloads.ManageTodosPayload(manage_todos=todos) if todos.operation == "write":
            return Call("TodoWrite", {"todos": _todos(todos)})
        case payloads.ShowPlanPayload(show_plan=plan):
            return (
                _call("EnterPlanMode")
                if plan.operation == "enter"
                else _call("ExitPlanMode", plan=plan.plan or "")
            )
        case payloads.AskUserPayload(ask_user=asked):
            return Call("AskUserQuestion", {"questions": questions_of(asked)})
        case payloads.McpToolPayload(mcp_tool=tool):
            return Call(f"mcp__{tool.server}__{tool.tool}", tool.input)
        case payloads.GenericPayload(generic=generic):
            given = generic.input
            return Call(own, given if isinstance(given, dict) else {} if given is None else {"input": given})
        case payloads.MiscPayload(misc=misc):
            return _call(own, label=misc.label, details=misc.details)
        case _:
            return Call(own, {name: value for name, value in _body(payload).items() if name not in RESULTS})


def questions_of(asked: AskUser) -> list[JsonObject]:
    """Convert questions to the input of Claude Code's AskUserQuestion."""
    return [
        {
            "question": one.question,
            "header": one.header or "",
            "options": [
                {"label": option.label, "description": option.description or ""} for option in one.options
            ],
            "multiSelect": one.multi_select,
        }
        for one in asked.questions
    ]


def result_of(payload: payloads.NormalizedPayload | None, error: str | None) -> str:
    """Return a call's result as text: the readable form if there is one, otherwise JSON."""
    said = None if payload is None else _said(payload)
    if said and error:
        return said if error in said else f"{said}\n{error}"
    return said or error or ""


def structured_of(payload: payloads.NormalizedPayload | None) -> JsonObject | None:
    """Return `tool_use_result` of a command in Claude Code's form; None for other calls."""
    match payload:
        case payloads.ShellExecPayload(shell_exec=shell) if shell.output is not None:
            given = shell.output
            result: JsonObject = {
                "stdout": given.stdout or "",
                "stderr": given.stderr or "",
                "interrupted": bool(given.interrupted),
                "isImage": False,
            }
            return result if given.exit_code is None else {**result, "exitCode": given.exit_code}
        case _:
            return None


def _call(name: str, **arguments: Json) -> Call:
    return Call(name, {key: value for key, value in arguments.items() if value is not None})


def _shell(shell: ShellExec) -> Call:
    match shell.operation:
        case "read":
            return _call("TaskOutput", task_id=shell.task_id)
        case "stop":
            return _call("TaskStop", task_id=shell.task_id)
        case _:
            if not shell.command:
                return Call("Bash", {})
            return _call(
                "Bash",
                command=shell.command,
                description=shell.description,
                timeout=shell.timeout,
                run_in_background=shell.background,
            )


def _edit(own: str, modify: ModifyFile) -> Call:
    """Convert a file change to a call. A change that Claude Code cannot make in one call keeps the agent's own name.

    Example: a patch of several files.
    """
    path, changes = modify.file_path, modify.mutations
    match changes:
        case [one] if one.type in ("create", "overwrite") and one.content is not None:
            return _call("Write", file_path=path, content=one.content)
        case [one] if one.type == "insert" and one.content is not None:
            return _call(
                "NotebookEdit",
                notebook_path=path,
                new_source=one.content,
                cell_id=one.cell_id,
                cell_type=one.cell_type,
                edit_mode="insert",
            )
        case _:
            pass
    edits = [
        {"old_string": one.old_content or "", "new_string": one.new_content or ""}
        | ({"replace_all": True} if one.replace_all else {})
        for one in changes
        if one.type == "edit" and (one.old_content is not None or one.new_content is not None)
    ]
    is_one_file = all(one.file_path in (None, path) for one in changes)
    if not edits or len(edits) != len(changes) or not is_one_file:
        return Call(
            own,
            {"file_path": path, "changes": [msgspec.to_builtins(one) for one in changes]} if changes else {},
        )
    if len(edits) == 1:
        return Call("Edit", {"file_path": path, **edits[0]})
    return Call("MultiEdit", {"file_path": path, "edits": edits})


def _search(search: CodeSearch) -> Call:
    if search.query is None:
        return _call("Glob", pattern=search.pattern, path=search.path)
    return _call(
        "Grep",
        pattern=search.query,
        path=search.path,
        glob=search.glob,
        type=search.file_type,
        output_mode=search.mode,
    )


def _todos(todos: ManageTodos) -> list[JsonObject]:
    return [
        {
            "content": item.description,
            "status": item.status,
            "activeForm": item.active_form or item.description,
        }
        for item in todos.items
    ]


def _body(payload: payloads.NormalizedPayload) -> JsonObject:
    found: JsonObject = msgspec.to_builtins(payload)[payload.kind]
    return found


def _said(payload: payloads.NormalizedPayload) -> str:
    match payload:
        case payloads.ShellExecPayload(shell_exec=shell) if shell.output is not None:
            return "\n".join(part for part in (shell.output.stdout, shell.output.stderr) if part)
        case payloads.ReadFilePayload(read_file=read) if (
            read.output is not None and read.output.content is not None
        ):
            return read.output.content
        case payloads.HttpRequestPayload(http_request=request) if request.response is not None:
            return request.response
        case payloads.SubagentTaskPayload(subagent_task=task) if (
            task.output is not None and task.output.text is not None
        ):
            return task.output.text
        case payloads.ModifyFilePayload(modify_file=modified) if (
            modified.output is not None and modified.output.message
        ):
            return modified.output.message
        case payloads.GenericPayload(generic=generic) if isinstance(generic.output, str):
            return generic.output
        case payloads.McpToolPayload(mcp_tool=tool) if tool.output is not None:
            return "\n".join(part.text for part in tool.output if part.text)
        case payloads.CodeSearchPayload(code_search=search) if (
            search.output is not None and search.output.matches
        ):
            return "\n".join(
                f"{match.file or ''}:{'' if match.line is None else match.line}:{match.text}"
                for match in search.output.matches
            )
        case _:
            told = {
                name: value for name, value in _body(payload).items() if name in RESULTS and value is not None
            }
            return msgspec.json.encode(told.get("output", told)).decode() if told else ""

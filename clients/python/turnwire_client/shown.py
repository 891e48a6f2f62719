"""How a payload is shown: as text, as a kind of action, and in a search.

Generated from normalize/payloads/shown.py by `make client-types`; do not edit.
"""

import json
from typing import Literal, TypeAlias, assert_never

from .payloads import (
    AskUser,
    AskUserPayload,
    CodeSearch,
    CodeSearchPayload,
    CreateTaskPayload,
    GenericPayload,
    HttpRequest,
    HttpRequestPayload,
    ManageTodosPayload,
    McpToolPayload,
    MiscPayload,
    ModifyFile,
    ModifyFilePayload,
    Mutation,
    NormalizedPayload,
    ReadFilePayload,
    ShellExec,
    ShellExecPayload,
    ShowPlanPayload,
    SubagentTaskPayload,
)

Action: TypeAlias = Literal[
    "read", "edit", "delete", "execute", "search", "fetch", "think", "switch_mode", "other"
]
"""The kind of action, in the words of the Agent Client Protocol."""

TextBlock: TypeAlias = tuple[Literal["diff", "code", "text"], str]
"""How a text is shown, and the text."""

_MARKS = {"completed": "x", "in_progress": "~"}


def action_of(payload: NormalizedPayload) -> Action:
    """Return the kind of action."""
    match payload:
        case ReadFilePayload():
            return "read"
        case ModifyFilePayload(modify_file=body):
            deletes = bool(body.mutations) and all(each.type == "delete" for each in body.mutations)
            return "delete" if deletes else "edit"
        case ShellExecPayload():
            return "execute"
        case CodeSearchPayload():
            return "search"
        case HttpRequestPayload():
            return "fetch"
        case SubagentTaskPayload() | CreateTaskPayload() | ManageTodosPayload():
            return "think"
        case ShowPlanPayload():
            return "switch_mode"
        case AskUserPayload() | McpToolPayload() | GenericPayload() | MiscPayload():
            return "other"
    assert_never(payload)


def result_fields(payload: NormalizedPayload) -> tuple[str, ...]:
    """Return the names of the fields that hold a result; all others are arguments."""
    match payload:
        case HttpRequestPayload():
            return ("response", "is_error", "status", "bytes", "results")
        case AskUserPayload():
            return ("answers",)
        case ShowPlanPayload():
            return ("approved", "feedback")
        case (
            ReadFilePayload()
            | ModifyFilePayload()
            | ShellExecPayload()
            | CodeSearchPayload()
            | SubagentTaskPayload()
            | McpToolPayload()
            | GenericPayload()
        ):
            return ("output",)
        case CreateTaskPayload() | ManageTodosPayload() | MiscPayload():
            return ()
    assert_never(payload)


def result_text(payload: NormalizedPayload) -> str | None:
    """Return the result as one text; None if there is none, or if only its fields can tell it."""
    match payload:
        case ShellExecPayload(shell_exec=body):
            output = body.output
            said = [] if output is None else [part for part in (output.stdout, output.stderr) if part]
            return None if output is None else "\n".join(said)
        case ReadFilePayload(read_file=body):
            return None if body.output is None else body.output.content
        case HttpRequestPayload(http_request=body):
            return body.response
        case SubagentTaskPayload(subagent_task=body):
            return None if body.output is None else body.output.text
        case ModifyFilePayload(modify_file=body):
            return None if body.output is None else body.output.message
        case GenericPayload(generic=body):
            return body.output if isinstance(body.output, str) else None
        case McpToolPayload(mcp_tool=body):
            texts = [part.text for part in body.output or () if part.text]
            return None if body.output is None else "\n".join(texts)
        case CodeSearchPayload(code_search=body):
            matches = (body.output and body.output.matches) or ()
            lines = [f"{one.file or ''}:{'' if one.line is None else one.line}:{one.text}" for one in matches]
            return "\n".join(lines) if lines else None
        case (
            CreateTaskPayload() | ManageTodosPayload() | ShowPlanPayload() | AskUserPayload() | MiscPayload()
        ):
            return None
    assert_never(payload)


def searched_text(payload: NormalizedPayload) -> list[tuple[str, str]]:
    """Return the texts that search finds, each with its kind: `command`, `path` or `prompt`."""
    match payload:
        case ShellExecPayload(shell_exec=body):
            return [("command", body.command)]
        case ReadFilePayload(read_file=body):
            return [("path", body.file_path)]
        case ModifyFilePayload(modify_file=body):
            return [("path", body.file_path)]
        case CodeSearchPayload(code_search=body):
            return [("command", text) for text in (body.query, body.pattern) if text]
        case SubagentTaskPayload(subagent_task=body):
            return [("prompt", body.prompt)]
        case (
            HttpRequestPayload()
            | CreateTaskPayload()
            | ManageTodosPayload()
            | ShowPlanPayload()
            | AskUserPayload()
            | McpToolPayload()
            | GenericPayload()
            | MiscPayload()
        ):
            return []
    assert_never(payload)


def text_blocks(payload: NormalizedPayload) -> list[TextBlock]:
    """Return the arguments and the result as blocks of text for people."""
    match payload:
        case ShellExecPayload(shell_exec=body):
            return _shell(body)
        case ModifyFilePayload(modify_file=body):
            return _changes(body)
        case ReadFilePayload(read_file=body):
            return _blocks("code", None if body.output is None else body.output.content)
        case CodeSearchPayload(code_search=body):
            return _found(body)
        case HttpRequestPayload(http_request=body):
            return _fetched(body)
        case SubagentTaskPayload(subagent_task=body):
            return [("text", body.prompt)]
        case CreateTaskPayload(create_task=body):
            return _blocks("text", body.description)
        case ManageTodosPayload(manage_todos=body):
            lines = [f"[{_MARKS.get(item.status, ' ')}] {item.description}" for item in body.items]
            return [("text", "\n".join(lines))]
        case ShowPlanPayload(show_plan=body):
            return _blocks("text", body.plan)
        case AskUserPayload(ask_user=body):
            return [("text", _answered(body))]
        case McpToolPayload(mcp_tool=body):
            return _blocks("text", *(part.text for part in body.output or ()))
        case GenericPayload(generic=body):
            return _blocks("code", _json(body.input), _json(body.output))
        case MiscPayload(misc=body):
            return _blocks("code", _json(body.details))
    assert_never(payload)


def _blocks(how: Literal["diff", "code", "text"], *texts: str | None) -> list[TextBlock]:
    return [(how, text) for text in texts if text]


def _json(value: object) -> str:
    """Return text as it is, and any other value as JSON; nothing of an empty one."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""


def _shell(body: ShellExec) -> list[TextBlock]:
    blocks: list[TextBlock] = [("code", f"$ {body.command}")]
    output = body.output
    if output is None:
        return blocks
    blocks += _blocks("code", output.stdout, output.stderr)
    return blocks + _blocks("text", f"exit code {output.exit_code}" if output.exit_code else None)


def _changes(body: ModifyFile) -> list[TextBlock]:
    return [block for mutation in body.mutations if (block := _change(mutation)) is not None]


def _change(mutation: Mutation) -> TextBlock | None:
    if mutation.diff:
        return "diff", mutation.diff
    if mutation.content:
        return "code", mutation.content
    if mutation.old_content or mutation.new_content:
        old = [f"-{line}" for line in (mutation.old_content or "").split("\n")]
        new = [f"+{line}" for line in (mutation.new_content or "").split("\n")]
        return "diff", "\n".join(old + new)
    return None


def _found(body: CodeSearch) -> list[TextBlock]:
    output = body.output
    if output is None:
        return []
    lines = [match.text for match in output.matches] if output.matches else output.files or []
    return _blocks("code", "\n".join(lines))


def _fetched(body: HttpRequest) -> list[TextBlock]:
    hits = [f"{hit.get('title') or ''} {hit.get('url') or ''}".strip() for hit in body.results or ()]
    return _blocks("text", body.response, "\n".join(hits))


def _answered(body: AskUser) -> str:
    answers = body.answers or {}
    return "\n".join(f"{one.question} {answers.get(one.question, '')}".strip() for one in body.questions)

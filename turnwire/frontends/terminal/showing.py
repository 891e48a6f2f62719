"""How rows and requests read in a terminal: a line, and what stands below it. Pure.

All text is spelt by `turnwire.protocol.visible`, so that nothing that an agent says commands the terminal, hides or reorders.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple, assert_never

from turnwire.client import payloads
from turnwire.client.events import PermissionOption, PermissionRequest, QuestionRequest
from turnwire.client.values import JsonValue

from .conversation import Row
from .spelling import ordered, visible, visible_line, visible_prose

MARKS = {
    "running": "…",
    "waiting": "?",
    "complete": "✓",
    "error": "✗",
    "unknown": "~",
}
"""What stands before a call. A status that is not here is shown by its own word."""

ENDS = {
    "completed": "Done",
    "interrupted": "Interrupted",
    "error": "Failed",
    "max_turns": "Stopped: the limit of rounds was reached",
    "max_tokens": "Stopped: the limit of tokens was reached",
    "refusal": "The model refused",
    "budget": "Stopped: the budget was used up",
    "process_exited": "The agent ended before the turn did",
    "hung": "The agent did not answer any more",
}


class Part(NamedTuple):
    """A piece of what stands below a call."""

    text: str
    language: str = "text"
    """`text`, `diff`, `markdown`, or a name that a highlighter knows."""


def head(row: Row) -> str:
    """Return a row in one line."""
    match row.kind:
        case "call":
            mark = MARKS.get(row.status) or visible_line(row.status)
            why = f" - {first_line(row.error)}" if row.error else ""
            return f"{mark} {first_line(row.text)}{why}"
        case "turn":
            end = ENDS.get(row.status) or visible_line(row.status or "Ended")
            return f"{end}: {first_line(row.text)}" if row.text and row.status != "completed" else end
        case "thinking":
            return f"Thinking: {first_line(row.text)}"
        case "prompt" | "text" | "plan" | "notice" | "error":
            return first_line(row.text)
        case _:
            assert_never(row.kind)


def body(row: Row) -> list[Part]:
    """Return what stands below a call: what it does in full, and what came of it."""
    if row.payload is None:
        return [Part(visible(row.error))] if row.error else []
    parts = [*given(row.payload), *result(row.payload)]
    return [*parts, Part(visible(row.error))] if row.error else parts


def given(payload: payloads.NormalizedPayload) -> Iterator[Part]:
    """Yield what a call does, the whole of it."""
    match payload:
        case payloads.ShellExecPayload(shell_exec=shell):
            where = f"in {shell.work_dir}" if shell.work_dir else ""
            yield Part(ordered(shell.command or f"{shell.operation or 'run'} task {shell.task_id}"), "bash")
            if where:
                yield Part(visible_line(where))
        case payloads.ModifyFilePayload(modify_file=modify):
            for change in modify.mutations:
                yield Part(visible_line(change.file_path or modify.file_path))
                if change.diff is not None:
                    yield Part(ordered(change.diff), "diff")
                else:
                    old = [f"-{line}" for line in (change.old_content or "").splitlines()]
                    new = [f"+{line}" for line in (change.new_content or change.content or "").splitlines()]
                    yield Part(ordered("\n".join([*old, *new]) or change.type), "diff")
        case payloads.ReadFilePayload(read_file=read):
            yield Part(visible_line(read.file_path))
        case payloads.CodeSearchPayload(code_search=search):
            yield Part(
                visible_line(
                    f"{search.query or search.pattern or ''} in {search.path or search.glob or 'the folder'}"
                )
            )
        case payloads.HttpRequestPayload(http_request=request):
            yield Part(ordered("\n".join(filter(None, [request.url, request.query, request.prompt]))))
        case payloads.SubagentTaskPayload(subagent_task=task):
            yield Part(visible_prose(task.prompt or task.description))
        case payloads.CreateTaskPayload(create_task=create):
            yield Part(visible_prose("\n".join(filter(None, [create.title, create.description]))))
        case payloads.ManageTodosPayload(manage_todos=todos):
            boxes = {"completed": "[x]", "in_progress": "[>]"}
            yield Part(
                visible_prose(
                    "\n".join(f"{boxes.get(item.status, '[ ]')} {item.description}" for item in todos.items)
                )
            )
        case payloads.ShowPlanPayload(show_plan=plan):
            yield Part(visible_prose(plan.plan or plan.operation), "markdown")
        case payloads.AskUserPayload(ask_user=ask):
            yield Part(visible_prose("\n".join(question.question for question in ask.questions)))
        case payloads.McpToolPayload(mcp_tool=tool):
            yield Part(visible_line(f"{tool.tool} of the MCP server {tool.server}"))
            yield Part(_json(tool.input), "json")
        case payloads.GenericPayload(generic=generic):
            yield Part(visible_line(generic.name))
            yield Part(_json(generic.input), "json")
        case payloads.MiscPayload(misc=misc):
            yield Part(visible_prose(misc.label))
            if misc.details is not None:
                yield Part(_json(misc.details), "json")
        case _:
            assert_never(payload)


def result(payload: payloads.NormalizedPayload) -> Iterator[Part]:
    """Yield what came of a call."""
    match payload:
        case payloads.ShellExecPayload(shell_exec=shell) if shell.output is not None:
            out = shell.output
            for text in filter(None, [out.stdout, out.stderr]):
                yield Part(visible(text))
            if out.exit_code:
                yield Part(f"exit code {out.exit_code}")
        case payloads.ReadFilePayload(read_file=read) if read.output is not None and read.output.content:
            yield Part(ordered(read.output.content))
        case payloads.CodeSearchPayload(code_search=search) if search.output is not None:
            found = [
                f"{match.file or ''}:{match.line or ''}:{match.text}" for match in search.output.matches or ()
            ]
            yield Part(ordered("\n".join([*(search.output.files or ()), *found]) or "nothing was found"))
        case payloads.HttpRequestPayload(http_request=request) if request.response:
            yield Part(visible(request.response))
        case payloads.SubagentTaskPayload(subagent_task=task) if task.output is not None and task.output.text:
            yield Part(visible_prose(task.output.text), "markdown")
        case payloads.AskUserPayload(ask_user=ask) if ask.answers:
            yield Part(
                visible_prose("\n".join(f"{asked}: {answer}" for asked, answer in ask.answers.items()))
            )
        case payloads.McpToolPayload(mcp_tool=tool) if tool.output:
            yield Part(
                visible("\n".join(part.text or f"[{part.media_type or part.type}]" for part in tool.output))
            )
        case payloads.GenericPayload(generic=generic) if generic.output is not None:
            yield Part(visible(generic.output) if isinstance(generic.output, str) else _json(generic.output))
        case _:
            pass


def asked(request: PermissionRequest) -> list[Part]:
    """Return all of what would be allowed, and why it is asked."""
    parts: list[Part] = []
    if request.normalized is not None:
        parts += given(request.normalized)
    elif request.tool_input is not None:
        parts.append(Part(_json(request.tool_input), "json"))
    elif request.action_details is not None:
        parts.append(Part(_json(request.action_details), "json"))
    if request.reason:
        parts.append(Part(visible_prose(f"Why it asks: {request.reason}")))
    if request.blocked_path:
        parts.append(Part(visible_line(f"Outside of the allowed folders: {request.blocked_path}")))
    if request.agent_title:
        parts.append(Part(visible_prose(f"The agent calls it: {request.agent_title}")))
    return parts


def measured(parts: list[Part]) -> str:
    """Return the size of what would be allowed, in words."""
    lines = sum(part.text.count("\n") + 1 for part in parts)
    size = sum(len(part.text.encode()) for part in parts)
    return f"{lines} {'line' if lines == 1 else 'lines'}, {size if size < 2000 else f'{size // 1000} k'}{'B' if size >= 2000 else ' bytes'}"


def option_words(option: PermissionOption) -> str:
    """Return what an answer comes to, in one line."""
    return ordered(visible_line(option.label()))


def remembered_words(option: PermissionOption) -> str:
    """Return the same with every rule that is remembered, as the agent writes it, and its file."""
    rules = [f"{rule.rule} ({rule.file or rule.destination})" for rule in option.remembers or ()]
    return "\n".join([option_words(option), *(ordered(visible_line(rule)) for rule in rules)])


def is_permanent(option: PermissionOption) -> bool:
    """Say whether an answer is remembered for later calls."""
    return option.kind not in {"allow_once", "reject_once"}


def question_parts(request: QuestionRequest) -> list[Part]:
    """Return what is asked, with the possible answers."""
    parts = [Part(visible_prose(request.message))] if request.message else []
    if request.url:
        parts.append(Part(visible_line(request.url)))
    for number, question in enumerate(request.questions or (), 1):
        parts.append(Part(visible_prose(f"{number}. {question.question}")))
        for place, choice in enumerate(question.options, 1):
            more = f" - {choice.description}" if choice.description else ""
            parts.append(Part(visible_prose(f"   {place}) {choice.label}{more}")))
    return parts


def first_line(text: str) -> str:
    """Return the first line of a text, and how many there are."""
    lines = text.strip().splitlines() or [""]
    more = f" [{len(lines)} lines]" if len(lines) > 1 else ""
    return ordered(visible_line(lines[0])) + more


def _json(value: JsonValue) -> str:
    return visible(json.dumps(value, ensure_ascii=False, indent=2))

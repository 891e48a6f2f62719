"""Calls of the tools that run commands, reach the network, delegate, and find more tools."""

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import (
    HttpRequestPayload,
    MiscPayload,
    NormalizedPayload,
    ShellExecPayload,
    SubagentTaskPayload,
)
from turnwire.normalize.payloads.fields import flag, shallow, text, whole
from turnwire.normalize.payloads.work import HttpRequest, Misc, ShellExec, SubagentTask


def bash(call: JsonObject) -> ShellExecPayload:
    """Bash, PowerShell: a command."""
    return ShellExecPayload(
        shell_exec=ShellExec(
            command=text(call, "command") or "",
            work_dir=text(call, "cwd", "workdir", "work_dir"),
            description=text(call, "description"),
            timeout=whole(call, "timeout"),
            background=flag(call, "run_in_background"),
        )
    )


def monitor(call: JsonObject) -> NormalizedPayload:
    """Monitor: a command or a socket that is watched in the background."""
    if text(call, "command") is None:
        return MiscPayload(misc=Misc(label=text(call, "description") or "Monitor", details=_details(call)))
    return ShellExecPayload(
        shell_exec=ShellExec(
            command=text(call, "command") or "",
            description=text(call, "description"),
            timeout=whole(call, "timeout_ms"),
            background=True,
        )
    )


def read_output(call: JsonObject) -> ShellExecPayload:
    """BashOutput, TaskOutput: the output of a background task."""
    return ShellExecPayload(
        shell_exec=ShellExec(
            command="",
            timeout=whole(call, "timeout"),
            operation="read",
            task_id=text(call, "task_id", "bash_id", "shell_id", "agentId"),
        )
    )


def stop_task(call: JsonObject) -> ShellExecPayload:
    """KillShell, TaskStop: a task in the background is stopped."""
    task_id = text(call, "task_id", "shell_id", "bash_id")
    return ShellExecPayload(shell_exec=ShellExec(command="", operation="stop", task_id=task_id))


def fetch(call: JsonObject) -> HttpRequestPayload:
    """WebFetch: a page, and a question to it."""
    return HttpRequestPayload(
        http_request=HttpRequest(
            url=text(call, "url"),
            method=(text(call, "method") or "GET").upper(),
            prompt=text(call, "prompt"),
        )
    )


def search_web(call: JsonObject) -> HttpRequestPayload:
    """WebSearch: a search of the web."""
    return HttpRequestPayload(http_request=HttpRequest(method="SEARCH", query=text(call, "query")))


def subagent(call: JsonObject) -> SubagentTaskPayload:
    """Task, called Agent since 2.1: a task for a subagent."""
    return SubagentTaskPayload(
        subagent_task=SubagentTask(
            description=text(call, "description") or "",
            prompt=text(call, "prompt") or "",
            subagent_type=text(call, "subagent_type", "subagentType"),
            background=flag(call, "run_in_background"),
            model=text(call, "model"),
        )
    )


def skill(call: JsonObject) -> MiscPayload:
    """Skill: instructions are loaded into the conversation."""
    name = text(call, "skill", "command", "name") or "skill"
    return MiscPayload(misc=Misc(label=f"Skill: {name}", details=_details(call)))


def slash_command(call: JsonObject) -> MiscPayload:
    """SlashCommand: the agent itself uses a slash command."""
    return MiscPayload(misc=Misc(label=text(call, "command") or "slash command", details=_details(call)))


def tool_search(call: JsonObject) -> MiscPayload:
    """ToolSearch: definitions of more tools are loaded."""
    return MiscPayload(misc=Misc(label=f"Tool search: {text(call, 'query') or ''}", details=_details(call)))


def _details(call: JsonObject) -> JsonObject:
    return {"input": shallow(call)}

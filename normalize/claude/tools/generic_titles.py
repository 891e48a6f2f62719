"""Titles of tools without a payload kind: the CLI's own, and those that the API runs."""

from collections.abc import Mapping

from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads.fields import text, whole
from turnwire.normalize.payloads.titles import Words


def _message(call: JsonObject) -> str:
    to = text(call, "to", "recipient")
    said = text(call, "summary", "message", "content")
    return f"Message {to or 'an agent'}" + (f": {said}" if said else "")


def _enter_worktree(call: JsonObject) -> str:
    name = text(call, "name", "path")
    return f"Enter worktree {name}" if name else "Enter a worktree"


def _exit_worktree(call: JsonObject) -> str:
    return "Leave the worktree and remove it" if text(call, "action") == "remove" else "Leave the worktree"


def _schedule(call: JsonObject) -> str:
    when, what = text(call, "cron"), text(call, "prompt")
    return f"Schedule {what or 'a prompt'}" + (f" ({when})" if when else "")


def _unschedule(call: JsonObject) -> str:
    job = text(call, "id")
    return f"Cancel scheduled job {job}" if job else "Cancel a scheduled job"


def _wake(call: JsonObject) -> str:
    seconds, reason = whole(call, "delaySeconds"), text(call, "reason")
    title = "Wake up later" if seconds is None else f"Wake up in {seconds} s"
    return f"{title}: {reason}" if reason else title


def _list_resources(call: JsonObject) -> str:
    server = text(call, "server")
    return f"List resources of {server}" if server else "List MCP resources"


def _read_resource(call: JsonObject) -> str:
    server, uri = text(call, "server"), text(call, "uri")
    return f"Read {uri or 'a resource'}" + (f" of {server}" if server else "")


def _notify(call: JsonObject) -> str:
    said = text(call, "message")
    return f"Notify: {said}" if said else "Send a notification"


def _language_server(call: JsonObject) -> str:
    path, line = text(call, "filePath"), whole(call, "line")
    where = f" in {path}" + ("" if line is None else f":{line}") if path else ""
    return f"Ask the language server: {text(call, 'operation') or 'look up'}{where}"


def _workflow(call: JsonObject) -> str:
    name = text(call, "name", "description", "workflow")
    return f"Run workflow {name}" if name else "Run a workflow"


def _command(call: JsonObject) -> str:
    return _first_line(text(call, "command")) or "Run a command"


def _code(call: JsonObject) -> str:
    return _first_line(text(call, "code")) or "Run code"


def _text_editor(call: JsonObject) -> str:
    does = {"view": "Read", "create": "Write"}.get(text(call, "command") or "", "Edit")
    return f"{does} {text(call, 'path') or 'a file'}"


def _find_tools(call: JsonObject) -> str:
    wanted = text(call, "query", "pattern")
    return f"Tool search: {wanted}" if wanted else "Tool search"


def _first_line(said: str | None) -> str:
    return (said or "").strip().partition("\n")[0]


WORDS: Mapping[str, Words] = {
    "SendMessage": _message,
    "EnterWorktree": _enter_worktree,
    "ExitWorktree": _exit_worktree,
    "CronCreate": _schedule,
    "CronDelete": _unschedule,
    "CronList": lambda _: "List scheduled jobs",
    "ScheduleWakeup": _wake,
    "ListAgents": lambda _: "List the agents",
    "ListMcpResources": _list_resources,
    "ListMcpResourcesTool": _list_resources,
    "ReadMcpResource": _read_resource,
    "ReadMcpResourceTool": _read_resource,
    "StructuredOutput": lambda _: "Give the answer in the form asked for",
    "PushNotification": _notify,
    "ReportFindings": lambda _: "Report findings",
    "LSP": _language_server,
    "Workflow": _workflow,
    "advisor": lambda _: "Ask the advisor",
    "bash_code_execution": _command,
    "code_execution": _code,
    "text_editor_code_execution": _text_editor,
    "tool_search_tool_regex": _find_tools,
    "tool_search_tool_bm25": _find_tools,
}
"""Tool -> its title."""

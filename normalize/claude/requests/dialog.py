"""The contents of a permission dialog, made from the request and the call's payload. Stateless."""

from typing import Literal

from turnwire.normalize.claude.calls import Call
from turnwire.normalize.claude.requests.options import options
from turnwire.normalize.claude.requests.suggestions import suggestions
from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.events import AgentPlan, PermissionRequest
from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import (
    CodeSearchPayload,
    HttpRequestPayload,
    McpToolPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
)
from turnwire.normalize.payloads.titles import title_of_request
from turnwire.normalize.payloads.work import ShowPlan
from turnwire.protocol.claude.requests import CanUseTool

ActionType = Literal["command", "file_write", "file_read", "network", "mcp_tool", "other"]


def request(
    here: EventFields,
    pending_id: str,
    asked: CanUseTool,
    *,
    title: str,
    payload: NormalizedPayload,
    call: Call | None,
    tool_call_id: str | None,
) -> PermissionRequest:
    """Return the event of a permission request to call a tool."""
    action_type, details = _action(payload)
    offered = suggestions(asked)
    return PermissionRequest(
        session_id=here["session_id"],
        operation_id=here["operation_id"],
        parent_tool_call_id=None if call is None else call.parent,
        message_id=None if call is None else call.message_id,
        block_index=None if call is None else call.block_index,
        pending_id=pending_id,
        tool_call_id=tool_call_id,
        tool_name=asked.tool_name or None,
        permission_title=title_of_request(payload) or title,
        permission_options=options(offered),
        action_type=action_type,
        action_details=details,
        tool_input=asked.input,
        normalized=payload,
        reason=asked.decision_reason,
        blocked_path=asked.blocked_path or _joined(asked.blocked_paths),
        suggestions=offered or None,
        agent_id=asked.agent_id,
    )


def plan(here: EventFields, body: ShowPlan, tool_call_id: str | None, call: Call | None) -> AgentPlan:
    """Return the event of a plan."""
    return AgentPlan(
        **here,
        parent_tool_call_id=None if call is None else call.parent,
        plan_content=body.plan or "",
        plan_file_path=body.file_path,
        tool_call_id=tool_call_id,
    )


def _action(payload: NormalizedPayload) -> tuple[ActionType, JsonObject | None]:
    match payload:
        case ShellExecPayload(shell_exec=shell):
            return "command", _present(
                {
                    "command": shell.command,
                    "description": shell.description,
                    "cwd": shell.work_dir,
                    "task_id": shell.task_id,
                }
            )
        case ModifyFilePayload(modify_file=file):
            return "file_write", {"path": file.file_path}
        case ReadFilePayload(read_file=file):
            return "file_read", {"path": file.file_path}
        case CodeSearchPayload(code_search=search):
            return "file_read", _present(
                {"path": search.path, "pattern": search.pattern, "glob": search.glob}
            )
        case HttpRequestPayload(http_request=http):
            return "network", _present({"url": http.url, "query": http.query})
        case McpToolPayload(mcp_tool=mcp):
            return "mcp_tool", {"server": mcp.server, "tool": mcp.tool}
        case _:
            return "other", None


def _present(fields: dict[str, str | None]) -> JsonObject | None:
    return {name: value for name, value in fields.items() if value} or None


def _joined(paths: str | list[str] | None) -> str | None:
    return ",".join(paths) if isinstance(paths, list) else paths

"""The event of a permission request, from everything known about its calls. Pure."""

from collections.abc import Sequence
from typing import Literal

from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.option_effects import always, described
from turnwire.normalize.events import PermissionOption
from turnwire.normalize.events import PermissionRequest as PermissionEvent
from turnwire.normalize.payloads import (
    CodeSearchPayload,
    HttpRequestPayload,
    McpToolPayload,
    ModifyFilePayload,
    NormalizedPayload,
    ReadFilePayload,
    ShellExecPayload,
)
from turnwire.normalize.payloads.fields import fields, shallow
from turnwire.normalize.tool_calls.call_payloads import command_title, name_of, payload, title_of
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.normalize.tool_calls.open_calls import Call
from turnwire.normalize.tool_calls.tool_call_state import ToolCallState
from turnwire.protocol.acp.messages import Option, PermissionRequest
from turnwire.protocol.visible import visible

Kind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
Action = Literal["command", "file_write", "file_read", "network", "mcp_tool", "other"]

MOST_SHOWN = 10
"""Most calls that the title of a request for several calls names."""

_PLAIN = CallQuirks()

LONGEST_OF_MANY = 200
"""Characters of each title among them."""


def kind_of(option: Option) -> Kind:
    """Return an option's meaning. An unknown kind refuses."""
    match option.kind:
        case "allow_once" | "allow_always" | "reject_once" | "reject_always":
            return option.kind
        case _:
            return "reject_once"


def options_of(
    asked: PermissionRequest, quirks: CallQuirks = _PLAIN, kind: str | None = None
) -> list[PermissionOption]:
    """Return the answers to a request about a call of a kind; one without an id cannot be given."""
    return described(
        [
            PermissionOption(
                option_id=option.option_id,
                name=option.name,
                kind=kind_of(option),
                effect=always([granted])
                if kind_of(option) == "allow_always" and (granted := quirks.granted(option.option_id, kind))
                else None,
            )
            for option in asked.options
            if option.option_id
        ]
    )


def permission(
    place: EventContext,
    pending_id: str,
    asked: PermissionRequest,
    facts: ToolCallState,
    quirks: CallQuirks,
    *,
    tool_call_id: str | None,
    also: Sequence[Call] = (),
) -> PermissionEvent:
    """Return the event of a permission request; of one for several calls, the title names them all."""
    made = payload(facts, quirks)
    action, details = _action(made)
    params = asked.params
    own = visible((params.title or "").strip()) or (title_of(facts, made) if facts.title.strip() else "")
    title = command_title(facts, made) or own or title_of(facts, made)
    if also:
        told = [(call, payload(call.facts, quirks)) for call in also]
        titles = [*(command_title(call.facts, one) or call.title for call, one in told), title]
        action, details = "other", {"calls": titles}
        title = _joined(titles)
    return PermissionEvent(
        **place.here,
        parent_tool_call_id=facts.parent,
        pending_id=pending_id,
        tool_call_id=tool_call_id,
        tool_name=name_of(facts),
        permission_title=title,
        agent_title=own if own and own != title and not also else None,
        permission_options=options_of(asked, quirks, facts.kind),
        action_type=action,
        action_details=details or None,
        tool_input=fields(shallow(facts.raw_input)) or None,
        normalized=made,
        reason=params.description,
    )


def _action(made: NormalizedPayload) -> tuple[Action, dict[str, object]]:
    match made:
        case ShellExecPayload(shell_exec=body):
            return "command", _filled(command=body.command, cwd=body.work_dir, description=body.description)
        case ModifyFilePayload(modify_file=body):
            return "file_write", _filled(path=body.file_path)
        case ReadFilePayload(read_file=body):
            return "file_read", _filled(path=body.file_path)
        case CodeSearchPayload(code_search=body):
            return "file_read", _filled(path=body.path, pattern=body.pattern or body.query)
        case HttpRequestPayload(http_request=body):
            return "network", _filled(url=body.url, query=body.query)
        case McpToolPayload(mcp_tool=body):
            return "mcp_tool", _filled(server=body.server, tool=body.tool)
        case _:
            return "other", {}


def _joined(titles: Sequence[str]) -> str:
    shown = [title[:LONGEST_OF_MANY] for title in titles]
    if len(shown) > MOST_SHOWN:
        shown = [*shown[: MOST_SHOWN - 1], f"{len(shown) - MOST_SHOWN + 1} more"]
    return f"{len(titles)} calls: {', '.join(shown)}"


def _filled(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value}

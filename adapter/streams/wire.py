"""Read permission requests of agents with JSON lines, and write the answers. Pure."""

from collections.abc import Sequence

from turnwire.adapter.call_of_update import call_of
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    Allow,
    Deny,
    Offer,
    Reply,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.adapter.session.agent_wire import Asking
from turnwire.adapter.streams.words import Words
from turnwire.normalize.common.option_effects import described
from turnwire.normalize.inputs import Message
from turnwire.normalize.streams.core import StreamCore
from turnwire.normalize.streams.observations import PermissionAsked
from turnwire.protocol.acp.content import Location
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import JsonLine


class StreamWire:
    """The requests of one agent, by the names that the session's core gives them."""

    def __init__(self, core: StreamCore, words: Words) -> None:
        self._core = core
        self._words = words

    def requests(self, message: Message) -> Sequence[Asking]:
        """Return the requests in a message. It must be the last one that the core has handled."""
        asked = self._core.asked_by(message)
        return [tool_request(name, one) for name, one in asked if isinstance(one, PermissionAsked)]

    def replies(self, request: AgentRequest | UnreadableRequest, reply: Reply) -> Sequence[Message]:
        """Return the line that answers a request."""
        asked = None if isinstance(request, UnreadableRequest) else request.message
        if not isinstance(request, ToolRequest) or not isinstance(asked, PermissionAsked):
            return []
        allow = isinstance(reply, Allow)
        kinds = ("allow_once", "allow_always") if allow else ("reject_once", "reject_always")
        chosen = reply.option_id if isinstance(reply, Allow | Deny) else None
        said = self._words.permission(asked, allow=allow, option_id=chosen or request.option_of(*kinds))
        return [JsonLine("", said)]


def tool_request(name: str, asked: PermissionAsked) -> ToolRequest:
    """Return a permission request in the form for rules, policies and people."""
    call = asked.call
    paths = [*(change.path for change in call.changes), *asked.paths]
    # Rules use Claude's tool names, which are chosen by what a tool does.
    update = ToolCallUpdate(
        kind=call.kind,
        raw_input=call.arguments,
        name=call.name if call.kind in (None, "other") else None,
        locations=[Location(path) for path in paths],
    )
    said: JsonObject = {
        "id": asked.id,
        "tool": call.name,
        "arguments": call.arguments,
        "reason": asked.reason,
    }
    return ToolRequest(
        request_id=name,
        call=call_of(update),
        offers=[Offer(option) for option in described(asked.options)],
        is_editable=False,
        said=said,
        message=asked,
    )

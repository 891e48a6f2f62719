"""Claude's requests as the permission machine takes them, and its replies as they are written."""

from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.decisions import Asked, Respond
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.requests import AgentRequest, TakenBack, UnreadableRequest
from turnwire.protocol.claude.control import ControlRequest, ControlResponse
from turnwire.protocol.claude.requests import AnyRequest

WIRE = ClaudeWire()


def request_of(request_id: str, request: AnyRequest) -> AgentRequest:
    """Return a control request as the machine's."""
    [asking] = WIRE.requests(ControlRequest(request_id, request))
    assert not isinstance(asking, TakenBack | UnreadableRequest)
    return asking


def asked(request_id: str, request: AnyRequest) -> Asked:
    """Return the input that a control request is."""
    return Asked(request_of(request_id, request))


def response_of(effect: Respond) -> ControlResponse:
    """Return what is written to the CLI."""
    [response] = WIRE.replies(effect.request, effect.reply)
    return response


def waiting_for_humans(state: State) -> tuple[str, ...]:
    """Return the requests that a frontend can answer."""
    return tuple(name for name, pending in state.pending.items() if pending.waits_for == "human")

"""The control exchange: requests of the CLI and our answers, our requests and the CLI's answers."""

from turnwire.normalize.claude.notices import notice
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.turns import lifecycle
from turnwire.normalize.events import AgentEvent, Withdrawn
from turnwire.normalize.inputs import Message
from turnwire.normalize.vocabulary import VoidReason
from turnwire.protocol.claude import control, requests
from turnwire.protocol.claude.messages import User
from turnwire.protocol.json_values import text_at

_REMEMBERED = 256
"""Our requests whose response may still arrive. Old CLIs never answer unknown requests."""


ANSWERED = frozenset(
    {
        requests.CanUseTool,
        requests.HookCallback,
        requests.McpMessage,
        requests.Elicitation,
        requests.RequestUserDialog,
    }
)
"""Requests of the CLI that turnwire answers; any other one is refused."""


def is_unanswered(message: Message) -> bool:
    """Return whether a message is a request that turnwire only refuses."""
    return isinstance(message, control.ControlRequest) and type(message.request) not in ANSWERED


def asked(state: ClaudeState, message: control.ControlRequest) -> list[AgentEvent]:
    """The CLI asks us."""
    return state.requests.on_request(message.request_id, message.request)


def cancelled(state: ClaudeState, message: control.ControlCancelRequest) -> list[AgentEvent]:
    """Handle the CLI's cancellation of a request."""
    turn = state.turns.current
    reason: VoidReason = "interrupted" if turn is not None and turn.interrupted else "cancelled"
    return state.requests.on_cancel(message.request_id, reason)


def response(state: ClaudeState, message: control.ControlResponse) -> list[AgentEvent]:
    """The CLI answers us."""
    request = state.sent_requests.pop(message.request_id, None)
    if message.error is not None:
        about = f"control/{request.subtype}" if request is not None and request.subtype else "control"
        return [notice(state.place.here, about, message.error, "warning")]
    payload = message.payload
    events: list[AgentEvent] = []
    if isinstance(payload, dict) and isinstance(commands := payload.get("commands"), list):
        events += state.session.commands(commands)
    if isinstance(payload, dict) and isinstance(models := payload.get("models"), list):
        state.session.models(models)
    match request:
        case requests.SetPermissionMode():
            events += state.session.mode(text_at(payload, "mode"))
        case requests.CancelAsyncMessage(message_uuid=uuid) if isinstance(payload, dict) and payload.get(
            "cancelled"
        ):
            # 2.1.330 has told so before, by the prompt's lifecycle: it does not wait any more then.
            if state.prompts.pop(uuid) is not None:
                events.append(Withdrawn(**state.place.here, prompt=uuid))
        case _:
            pass
    body = message.response
    for waiting in (*body.pending_permission_requests, *body.pending_user_dialog_requests):
        events += state.requests.reopened(waiting)
    return events


def on_sent(state: ClaudeState, message: Message) -> list[AgentEvent]:
    """We wrote a line to the CLI."""
    match message:
        case User():
            return lifecycle.prompted(state, message)
        case control.ControlResponse():
            return state.requests.on_response(message)
        case control.ControlRequest():
            return _our_request(state, message)
        case _:
            return []


def _our_request(state: ClaudeState, message: control.ControlRequest) -> list[AgentEvent]:
    while len(state.sent_requests) >= _REMEMBERED:
        del state.sent_requests[next(iter(state.sent_requests))]
    state.sent_requests[message.request_id] = message.request
    if isinstance(message.request, requests.Interrupt) and state.turns.current is not None:
        state.turns.current.interrupted = True
    return []

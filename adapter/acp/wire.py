"""How agents of the Agent Client Protocol ask and are answered: permission requests and forms as the permission machine's; pure.

call_of_update.py turns a call into what rules see. A denial carries no reason: the protocol has no field for one.
"""

from collections.abc import Sequence
from typing import Protocol, assert_never, cast

from msgspec import to_builtins

from turnwire.adapter.acp.client import messages_of
from turnwire.adapter.acp.hooks import PermissionHooks
from turnwire.adapter.acp.open_requests import OpenRequests
from turnwire.adapter.call_of_update import call_of
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    Allow,
    Answer,
    Deny,
    Dismissed,
    Failure,
    HookOutput,
    Offer,
    QuestionRequest,
    Reply,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.adapter.session.agent_wire import Asking
from turnwire.normalize.acp.agents import OWN_REQUESTS
from turnwire.normalize.acp.own_requests import Form, Plan
from turnwire.normalize.inputs import Message
from turnwire.normalize.payloads.fields import fields
from turnwire.normalize.tool_calls.permission_event import options_of
from turnwire.protocol.acp.messages import (
    Notification,
    PermissionRequest,
    Request,
    Response,
    RpcError,
)
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import Json, JsonObject, text_at

FAILED = -32603
"""JSON-RPC's error of something that cannot be done."""


class PublishedRequests(Protocol):
    """What the wire needs of a session's core."""

    def pending_id(self, message: PermissionRequest | Request) -> str | None:
        """Return the name under which a request was published that has just been received; None if it was not."""
        ...

    def asked_about(self, pending_id: str) -> Sequence[ToolCallUpdate]:
        """Return all that was told of the calls that the answer to a request decides, the one that it names first."""
        ...


class AcpWire:
    """Requests of an agent, by the names that the session's core has given them."""

    def __init__(self, core: PublishedRequests, hooks: PermissionHooks, opened: OpenRequests) -> None:
        self._core = core
        self._hooks = hooks
        self._opened = opened

    def requests(self, message: Message) -> Sequence[Asking]:
        """Return what a message asks a human for, or takes back."""
        return [asking for one in messages_of(message) for asking in self._requests(one)]

    def replies(
        self, request: AgentRequest | UnreadableRequest, reply: Reply
    ) -> Sequence[Response | Notification]:
        """Return the messages that tell the agent the reply."""
        asked = request.message if not isinstance(request, UnreadableRequest) else None
        if not isinstance(asked, PermissionRequest | Request):
            return []
        match reply:
            case Allow() | Deny() if isinstance(request, ToolRequest):
                return _decided(request, asked, reply)
            case Answer(action, content):
                return [_answered(asked, action, content)]
            case Dismissed():
                return [_answered(asked, "cancel", None)]
            case Failure(reason):
                return [Response(asked.id, error=RpcError(FAILED, reason))]
            case Allow() | Deny() | HookOutput():
                return [cancelled(asked)]
            case _ as never:
                assert_never(never)

    def _requests(self, message: Message) -> Sequence[Asking]:
        match message:
            case PermissionRequest():
                name = self._name(message)
                if name is None:
                    return []
                return self._leave(name, message, message)
            case Request() if is_for_a_human(message):
                name = self._name(message)
                if name is None:
                    return []
                own = OWN_REQUESTS.get(message.method)
                if isinstance(own, Plan):
                    return self._leave(name, own.permission(message), message)
                said = fields(message.params) if own is None else own.form(message)
                return [QuestionRequest(request_id=name, kind="elicitation", said=said, message=message)]
            case _:
                return []  # what `$/cancel_request` takes back, the core publishes as cancelled, and that counts

    def _leave(
        self, name: str, read: PermissionRequest, message: PermissionRequest | Request
    ) -> Sequence[Asking]:
        asking = _tool(name, read, self._core.asked_about(name), message)
        return self._hooks.before(asking) or [asking]

    def _name(self, message: PermissionRequest | Request) -> str | None:
        """Return what the core has published a request as; None when nobody is to be asked."""
        return None if self._opened.is_cancelling else self._core.pending_id(message)


def cancelled(asked: PermissionRequest | Request) -> Response:
    """Return the answer to what nobody decides any more."""
    if isinstance(asked, PermissionRequest):
        return Response(asked.id, {"outcome": {"outcome": "cancelled"}})
    own = OWN_REQUESTS.get(asked.method)
    return Response(asked.id, own.answer(None)) if isinstance(own, Plan) else _answered(asked, "cancel", None)


def is_for_a_human(asked: Request) -> bool:
    """Tell whether a human is asked by a request, be it the protocol's or an agent's own."""
    return asked.method == "elicitation/create" or asked.method in OWN_REQUESTS


def _answered(asked: PermissionRequest | Request, action: str, content: Json) -> Response:
    own = OWN_REQUESTS.get(getattr(asked, "method", ""))
    if isinstance(own, Form):
        return Response(asked.id, own.answer(action, content))
    said: JsonObject = {"action": action}
    return Response(asked.id, said if content is None else {**said, "content": content})


def _tool(
    name: str,
    asked: PermissionRequest,
    about: Sequence[ToolCallUpdate],
    message: PermissionRequest | Request,
) -> ToolRequest:
    first, *others = about or (asked.tool_call,)
    return ToolRequest(
        request_id=name,
        call=call_of(first),
        also=[call_of(update) for update in others],
        offers=[Offer(option) for option in options_of(asked)],
        is_editable=False,
        said=cast("JsonObject", to_builtins(asked.params)),
        message=message,
    )


def _decided(
    request: ToolRequest, asked: PermissionRequest | Request, reply: Allow | Deny
) -> Sequence[Response | Notification]:
    kinds = ("allow_once", "allow_always") if isinstance(reply, Allow) else ("reject_once", "reject_always")
    chosen = reply.option_id or request.option_of(*kinds)
    own = OWN_REQUESTS.get(getattr(asked, "method", ""))
    if isinstance(own, Plan):
        answer = Response(asked.id, own.answer(chosen))
    elif chosen is None:
        answer = cancelled(asked)
    else:
        answer = Response(asked.id, {"outcome": {"outcome": "selected", "optionId": chosen}})
    if isinstance(reply, Deny) and reply.interrupt:
        return [answer, Notification("session/cancel", {"sessionId": text_at(request.said, "sessionId")})]
    return [answer]

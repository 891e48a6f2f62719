"""Open requests of an agent of the Agent Client Protocol: each gets exactly one answer.

Requests between a cancel and the next prompt are cancelled without asking a human.
"""

from turnwire.adapter.acp.hooks import PermissionHooks
from turnwire.adapter.permissions.requests import (
    AgentRequest,
    HookRequest,
    QuestionRequest,
    ToolRequest,
    UnreadableRequest,
)
from turnwire.normalize.inputs import Message
from turnwire.protocol.acp.messages import Notification, PermissionRequest, Request


class OpenRequests:
    """Those of one session, by the names under which its core has published them."""

    def __init__(self, hooks: PermissionHooks) -> None:
        self.is_cancelling = False
        """Whether a cancel was said and no prompt since."""
        self._hooks = hooks
        self._open: dict[str, PermissionRequest | Request] = {}
        self._asked: list[PermissionRequest | Request] = []
        """What the line asked that was read last."""

    def on_sent(self, message: Message) -> None:
        """See what the agent is told."""
        match message:
            case Notification(method="session/cancel"):
                self.is_cancelling = True
            case Request(method="session/prompt"):
                self.is_cancelling = False
            case _:
                pass

    def on_line(self) -> None:
        """Another line is read."""
        self._asked.clear()

    def on_asked(self, request: AgentRequest | UnreadableRequest) -> None:
        """Note what the agent asks for, before anything is answered."""
        match request:
            case HookRequest(about=ToolRequest() as about):
                self._hooks.expect(about)
                self._add(about)
            case ToolRequest() | QuestionRequest():
                self._add(request)
            case _:
                pass

    def close(self, name: str) -> PermissionRequest | Request | None:
        """Return what is about to be answered, once; None for what has an answer."""
        return self._open.pop(name, None)

    def is_open(self, name: str) -> bool:
        """Tell whether the agent waits for an answer."""
        return name in self._open

    def was_asked(self, message: PermissionRequest | Request) -> bool:
        """Tell whether a request of the line that was read last was asked, and so has its answer, or will."""
        return any(one is message for one in self._asked)

    def _add(self, request: ToolRequest | QuestionRequest) -> None:
        if isinstance(message := request.message, PermissionRequest | Request) and not self.was_asked(
            message
        ):
            self._open[request.request_id] = message
            self._asked.append(message)

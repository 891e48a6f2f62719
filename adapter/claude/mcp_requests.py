"""The messages of hosted MCP servers in Claude's control protocol: passed on to their servers, and answered when these answer."""

import asyncio

from turnwire.adapter.claude.client import ClaudeClient
from turnwire.adapter.mcp.mcp_host import McpHost, refuse
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.inputs import Received
from turnwire.protocol.claude.control import ControlCancelRequest, ControlRequest, success
from turnwire.protocol.claude.requests import McpMessage
from turnwire.protocol.json_values import Json

_CONCERN = frozenset({ControlRequest, ControlCancelRequest})
"""What may be one of these messages, or take it back."""


class McpRequests:
    """Those of one session."""

    def __init__(
        self,
        client: ClaudeClient,
        mcp: McpHost,
        *,
        tasks: asyncio.TaskGroup,
        max_answering: int,
        notify: Notify,
    ) -> None:
        self._client = client
        self._mcp = mcp
        self._tasks = tasks
        self._max_answering = max_answering
        self._notify = notify
        self._is_overloaded = False
        self._answering: dict[str, asyncio.Task[None]] = {}

    def on_received(self, received: Received) -> None:
        """Pass on what concerns hosted servers, and nothing else; never waits."""
        if type(received.message) not in _CONCERN:
            return
        match received.message:
            case ControlRequest(own_id=own_id, request=McpMessage() as request) as message:
                self._on_request(message.request_id, own_id, request)
            case ControlCancelRequest(request_id):
                if (answering := self._answering.get(request_id)) is not None:
                    answering.cancel()
            case _:
                pass

    def on_exit(self) -> None:
        """Answer nothing more."""
        for task in self._answering.values():
            task.cancel()

    def _on_request(self, request_id: str, own_id: Json, request: McpMessage) -> None:
        if request_id in self._answering:
            return  # asked twice under one id: it gets one answer
        if len(self._answering) >= self._max_answering:
            refusal = refuse(request.message, f"{self._max_answering} messages wait already")
            self._client.post(success(own_id, {"mcp_response": refusal}))
            if not self._is_overloaded:
                self._is_overloaded = True
                message = f"{self._max_answering} messages wait for hosted MCP servers; more are refused until some are answered"
                self._notify(SessionNotice("too_many_requests", message))
            return
        self._is_overloaded = self._is_overloaded and len(self._answering) > self._max_answering // 2
        task = self._tasks.create_task(self._answer(own_id, request))
        self._answering[request_id] = task
        task.add_done_callback(lambda _: self._answering.pop(request_id, None))

    async def _answer(self, own_id: Json, request: McpMessage) -> None:
        answer = await self._mcp.answer(request.server_name, request.message)
        self._client.post(success(own_id, {"mcp_response": answer}))

"""The reader of a session: every line to the core, messages of hosted servers to their servers, then the next line."""

import asyncio

from adapter.claude.client import Client
from adapter.executor import SessionExecutor
from adapter.inbox import Inbox
from adapter.mcp.host import McpHost, refuse
from adapter.notices import Notify, SessionNotice
from adapter.process.cli import CliProcess
from adapter.process.transport import Exit, ProcessGone
from normalize.inputs import Message
from protocol.claude.control import ControlCancelRequest, ControlRequest, success
from protocol.claude.requests import McpMessage

SILENT_GRACE = 5.0
"""Seconds that a CLI may live on after it closed its stdout: nothing can be heard of it any more."""


class Dispatcher:
    """Reads until the CLI has gone."""

    def __init__(
        self,
        process: CliProcess,
        client: Client,
        inbox: Inbox,
        *,
        executor: SessionExecutor,
        mcp: McpHost,
        tasks: asyncio.TaskGroup,
        max_answering: int,
        notify: Notify,
    ) -> None:
        self._process = process
        self._client = client
        self._inbox = inbox
        self._executor = executor
        self._mcp = mcp
        self._tasks = tasks
        self._max_answering = max_answering
        self._notify = notify
        self._is_overloaded = False
        self._answering: dict[str, asyncio.Task[None]] = {}

    async def read(self) -> Exit:
        """Read everything, and return how the CLI ended."""
        async for batch in self._client.batches():
            for received in batch:
                self._executor.happened(received)
                self._route(received.message)
            await self._inbox.room()
        if not await self._process.exits_within(SILENT_GRACE):
            self._process.kill()
        exit_ = await self._process.wait()
        self._client.give_up(ProcessGone(f"the CLI has exited ({exit_.signal or f'code {exit_.code}'})"))
        for task in self._answering.values():
            task.cancel()
        return exit_

    def _route(self, message: Message) -> None:
        """Do what the core does not: pass on what concerns hosted servers; never waits."""
        match message:
            case ControlRequest(request_id, McpMessage() as request):
                self._mcp_asked(request_id, request)
            case ControlCancelRequest(request_id):
                if (answering := self._answering.get(request_id)) is not None:
                    answering.cancel()
            case _:
                pass

    def _mcp_asked(self, request_id: str, request: McpMessage) -> None:
        if request_id in self._answering:
            return  # asked twice under one id: it gets one answer
        if len(self._answering) >= self._max_answering:
            refusal = refuse(request.message, f"{self._max_answering} messages wait already")
            self._client.post(success(request_id, {"mcp_response": refusal}))
            if not self._is_overloaded:
                self._is_overloaded = True
                message = f"{self._max_answering} messages wait for hosted MCP servers; more are refused until some are answered"
                self._notify(SessionNotice("too_many_requests", message))
            return
        self._is_overloaded = self._is_overloaded and len(self._answering) > self._max_answering // 2
        task = self._tasks.create_task(self._answer_mcp(request_id, request))
        self._answering[request_id] = task
        task.add_done_callback(lambda _: self._answering.pop(request_id, None))

    async def _answer_mcp(self, request_id: str, request: McpMessage) -> None:
        answer = await self._mcp.answer(request.server_name, request.message)
        self._client.post(success(request_id, {"mcp_response": answer}))

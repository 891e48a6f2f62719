"""One run of Claude Code: a CLI, its MCP servers, the prompt, what it says, and over again when a rate limit is waited for.

The CLI is read only as fast as its lines can be written, so a slow reader of the runner slows the CLI down. After the
result stdin is closed, and the CLI may still say what it has to say until it exits. One that does not exit is stopped.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

from normalize.inputs import Ended, Received
from protocol.claude.answers import Deny, answer_permission
from protocol.claude.control import ControlRequest, ControlResponse, failure
from protocol.claude.requests import CanUseTool
from protocol.claude.results import Result
from protocol.malformed import Malformed
from runner.agent import Agent, AgentFactory, AgentFailed, AgentGone, Start
from runner.family import RunFailed, RunFamily, Streams
from runner.mcp import connect_servers
from runner.payloads import Normalized, Payloads, Verbatim
from runner.retry import RateLimitRetry, Wait
from runner.wire import ClaudeParams, EventLines, Level, Run, diag_line

LINGER = 10.0
"""Seconds that a CLI may be silent after its result, or live after the end of its output, before it is stopped."""

_Item = TypeVar("_Item")


def claude_runs(start: AgentFactory) -> RunFamily:
    """Return how runs of CLIs are performed that this starts."""

    async def perform(run: Run, streams: Streams, is_normalized: bool) -> None:
        payloads = Normalized() if is_normalized else Verbatim()
        await Performance(run, start, payloads, streams).perform()

    return RunFamily(ClaudeParams, perform)


class Performance:
    """Performs one run."""

    def __init__(self, run: Run, start: AgentFactory, payloads: Payloads, streams: Streams) -> None:
        self._run = run
        self._start = start
        self._payloads = payloads
        self._streams = streams
        self._lines = EventLines(run.id)
        self._retry = RateLimitRetry(run.params)
        self._has_result = False
        self._is_silent = False
        self._is_closed = False

    async def perform(self) -> None:
        """Run to the end; raises RunFailed and runner.output.OutputLost."""
        start = Start(self._run.params, self._run.params.resume)
        try:
            while (wait := await self._one_agent(start)) is not None:
                await self._note(
                    "warn",
                    f"rate limit: waiting {wait.seconds:.0f} s, then retry {wait.attempt} of "
                    f"{self._run.params.rate_limit_max_retries}",
                )
                self._payloads.waits()
                await asyncio.sleep(wait.seconds)
                start = Start(self._run.params, wait.session, goes_on=True)
        finally:
            if not self._is_closed and (last := self._payloads.ended(Ended("stopped"))):
                self._streams.output.add(self._lines.of(last))  # it cannot wait: the run may be cancelled

    async def _one_agent(self, start: Start) -> Wait | None:
        try:
            async with self._start(start) as agent, asyncio.TaskGroup() as tasks:
                opening = tasks.create_task(self._open(agent, start))
                wait = await self._follow(agent)
                opening.cancel()
                if wait is None:
                    await self._close(await self._ended(agent))
        except* AgentFailed as failed:
            raise RunFailed(str(_first(failed))) from None
        except* RunFailed as failed:
            raise _first(failed) from None
        return wait

    async def _open(self, agent: Agent, start: Start) -> None:
        params = self._run.params
        try:
            if params.mcp_servers:
                await connect_servers(agent, params.mcp_servers)
            if start.goes_on:
                agent.close_input()
                return
            await self._emit(self._payloads.sent(self._run.message))
            await agent.say(bytes(params.message) + b"\n")
        except AgentGone:
            pass  # who reads its output tells how it went

    async def _follow(self, agent: Agent) -> Wait | None:
        """Pass on what the CLI says until its end, or until a limit that is to be waited for."""
        batches = agent.batches()
        while (batch := await self._next(batches)) is not None:
            payloads: list[bytes] = []
            for received in batch:
                wait = self._retry.handle(received.message, self._streams.now())
                if wait is not None:
                    await self._emit(payloads)
                    return wait
                await self._take(agent, received)
                payloads += self._payloads.received(received)
            await self._emit(payloads)
        return None

    async def _next(self, batches: AsyncIterator[_Item]) -> _Item | None:
        try:
            async with asyncio.timeout(LINGER if self._has_result else None):
                return await anext(batches, None)
        except TimeoutError:
            self._is_silent = True
            await self._note("warn", f"the CLI was silent for {LINGER:.0f} s after its result and is stopped")
            return None

    async def _ended(self, agent: Agent) -> Ended:
        """Wait for the exit, unless the CLI has to be stopped, which is done when its context is left."""
        if self._is_silent:
            return Ended("stopped")
        try:
            async with asyncio.timeout(LINGER):
                return await agent.ended()
        except TimeoutError:
            await self._note(
                "warn", f"the CLI lived on for {LINGER:.0f} s after the end of its output and is stopped"
            )
            return Ended("stopped")

    async def _take(self, agent: Agent, received: Received) -> None:
        match received.message:
            case Result():
                self._has_result = True
                agent.close_input()
            case ControlRequest() as request:
                agent.answer(_refusal(request))
            case Malformed(reason=reason, asks=asks) if received.line.strip():
                if asks is not None:
                    agent.answer(failure(asks, reason))
                text = received.line[:200].decode("utf-8", "replace")
                await self._note("warn", f"the CLI wrote a line that is no message ({reason}): {text}")
            case _:
                pass

    async def _close(self, ended: Ended) -> None:
        self._is_closed = True
        await self._emit(self._payloads.ended(ended))
        if not self._has_result:
            raise RunFailed(_how(ended))

    async def _emit(self, payloads: list[bytes]) -> None:
        if payloads:
            await self._streams.output.put(self._lines.of(payloads))

    async def _note(self, level: Level, text: str) -> None:
        await self._streams.notes.put(diag_line(self._run.id, level, text))


def _refusal(request: ControlRequest) -> ControlResponse:
    """Answer a request that a run has nobody to ask for: the CLI waits for an answer for ever."""
    if isinstance(request.request, CanUseTool):
        return answer_permission(request.request_id, Deny(message="nobody can be asked in a run"))
    return failure(request.request_id, f"a run answers no {request.request.subtype}")


def _how(ended: Ended) -> str:
    if ended.reason == "stopped":
        return "the CLI ended its output without a result, and was stopped"
    how = f"was ended by {ended.signal}" if ended.signal else f"exited with code {ended.exit_code}"
    said = f": {ended.stderr_tail}" if ended.stderr_tail.strip() else ""
    return f"the CLI {how} without a result{said}"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found

"""One session of the agent that is tried, as a frontend sees it: prompts, turns, answers to what is asked."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from turnwire.client import BEGINNING, Client, CommandFailed
from turnwire.client import events as ev
from turnwire.client.frames import EventFrame
from turnwire.frontends.conform.report import PromiseBroken

Kind = TypeVar("Kind", bound=ev.AgentEvent)
Answer = Callable[[ev.PermissionRequest], str]
"""From a request to the id of the option that is chosen."""

OVER = frozenset({"already_answered", "cancelled"})
"""Codes of an answer that came too late."""


def allow(request: ev.PermissionRequest) -> str:
    """Allow it this once."""
    try:
        return request.allow_once()
    except LookupError as none:
        raise PromiseBroken(str(none)) from None


def reject(request: ev.PermissionRequest) -> str:
    """Refuse it, and if possible this once."""
    try:
        return request.deny()
    except LookupError as none:
        raise PromiseBroken(str(none)) from None


class Conversation:
    """Follows a session from its first event."""

    def __init__(self, client: Client, session: str, patience: float) -> None:
        self.session = session
        self.events: list[ev.AgentEvent] = []
        """All that was published so far."""
        self._client = client
        self._patience = patience
        self._following = client.follow(session, BEGINNING)

    async def prompt(self, text: str) -> None:
        """Say something."""
        await self._client.prompt(self.session, text)

    async def turn(self, text: str, answer: Answer = allow) -> list[ev.AgentEvent]:
        """Say something, answer what is asked, and return the events until the turn's end."""
        await self.prompt(text)
        return await self.finish(answer)

    async def finish(self, answer: Answer = allow) -> list[ev.AgentEvent]:
        """Answer what is asked, and return the events until a turn's end; raises PromiseBroken when it has none in time."""
        events: list[ev.AgentEvent] = []
        while True:
            event = await self.next()
            events.append(event)
            match event:
                case ev.PermissionRequest():
                    await self._respond(event, answer)
                case ev.QuestionRequest():
                    await self._client.interrupt(self.session)
                case ev.Complete():
                    return events
                case ev.ProcessStatus(state="exited"):
                    raise PromiseBroken(f"the process ended during a turn: {how_it_ended(event)}")
                case _:
                    pass

    async def next(self) -> ev.AgentEvent:
        """Return the next event; raises PromiseBroken when none comes in time."""
        try:
            async with asyncio.timeout(self._patience):
                async for frame in self._following:
                    if isinstance(frame, EventFrame):
                        self.events.append(frame.event)
                        return frame.event
        except TimeoutError:
            raise PromiseBroken(f"nothing more came within {self._patience:g} s") from None
        raise PromiseBroken("the session is gone")

    async def _respond(self, request: ev.PermissionRequest, answer: Answer) -> None:
        """Answer a request, unless it is over: it may have been taken back since it was published."""
        try:
            await self._client.respond(self.session, request.pending_id, answer(request))
        except CommandFailed as failed:
            if failed.code not in OVER:
                raise

    def seen(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of a kind so far."""
        return of_kind(self.events, kind)


def of_kind(events: list[ev.AgentEvent], kind: type[Kind]) -> list[Kind]:
    """Return those of a kind."""
    return [event for event in events if isinstance(event, kind)]


def text_of(events: list[ev.AgentEvent]) -> str:
    """Return what the agent itself said."""
    chunks = of_kind(events, ev.MessageChunk)
    return "".join(chunk.text for chunk in chunks if chunk.parent_tool_call_id is None)


def outcome_of(events: list[ev.AgentEvent]) -> str:
    """Return how a turn ended."""
    return of_kind(events, ev.Complete)[-1].data.outcome or "in a way that is not told"


def how_it_ended(status: ev.ProcessStatus) -> str:
    """Return how a process ended, with the end of what it wrote to stderr."""
    how = f"signal {status.signal}" if status.signal else f"exit code {status.exit_code}"
    return f"{how}; it said: {status.stderr_tail[-300:]}" if status.stderr_tail else how

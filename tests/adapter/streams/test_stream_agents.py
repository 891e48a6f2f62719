"""Agents that take prompts as JSON lines, by the example of examples/family_plugin."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recordings import ROOT
from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.families import FAMILIES
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import AgentSession, RequestFailed
from turnwire.adapter.session.attachments import Attachment, AttachmentRefused
from turnwire.adapter.streams.opening import stream_agents
from turnwire.normalize.claude.family import CLAUDE
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    MessageChunk,
    PermissionRequest,
    PermissionResolved,
    ProcessStatus,
    Queued,
    ToolUpdate,
    Withdrawn,
)
from turnwire_echo_agents import ECHO_AGENTS, EchoWords

AGENT = (sys.executable, str(ROOT / "examples" / "family_plugin" / "echo_agent.py"))
E = TypeVar("E", bound=AgentEvent)


class Heard:
    """The events of a session, as they come."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self.events: list[AgentEvent] = []
        self._came = asyncio.Event()
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for batch in self.session.batches():
            self.events += [event for happened in batch for event in happened.events]
            self._came.set()
        self._came.set()

    async def until(self, kind: type[E], count: int = 1) -> E:
        """Wait until there are so many events of a kind, and return the last."""
        while len(found := [event for event in self.events if isinstance(event, kind)]) < count:
            assert not self.reading.done(), [event.type for event in self.events]
            self._came.clear()
            await self._came.wait()
        return found[count - 1]


@asynccontextmanager
async def running(workspace: Path, **given: Any) -> AsyncIterator[Heard]:
    options = SessionOptions(workspace=workspace, executable=AGENT, family="echo", **given)
    async with ECHO_AGENTS.open(options) as session:
        heard = Heard(session)
        yield heard
    await heard.reading


async def test_prompts_are_answered_one_after_another(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.session.prompt("Hello.")
        await heard.session.say(b'{"prompt": "And you?", "id": "p"}')
        assert (await heard.until(Complete, 2)).data.prompts == ["p"]
        heard.session.close_input()
        await heard.until(ProcessStatus)
        with pytest.raises(ProcessGone):
            await heard.session.prompt("Anybody?")
    said = [event.text for event in heard.events if isinstance(event, MessageChunk)]
    assert said == ["Hello.", "And you?"]


@pytest.mark.parametrize(("option", "behavior"), [("yes", "allow"), ("no", "deny")])
async def test_leave_is_asked_for_and_the_answer_counts(tmp_path: Path, option: str, behavior: str) -> None:
    async with running(tmp_path, policy="supervised") as heard:
        await heard.session.prompt("Run this: touch made")
        asked = await heard.until(PermissionRequest)
        assert (asked.permission_title, heard.session.pending) == ("touch made", (asked.pending_id,))
        heard.session.answer(asked.pending_id, PermissionAnswer(option), "somebody")
        await heard.until(Complete)
        assert (await heard.until(PermissionResolved)).behavior == behavior
        assert (await heard.until(ToolUpdate)).tool_status == ("complete" if option == "yes" else "error")
    assert (tmp_path / "made").exists() is (option == "yes")


async def test_a_turn_is_interrupted_and_what_waits_can_be_taken_back(tmp_path: Path) -> None:
    async with running(tmp_path, policy="supervised") as heard:
        assert await heard.session.interrupt() == {}
        await heard.session.prompt("Run this: true")
        await heard.until(PermissionRequest)
        waiting = await heard.session.prompt("Later.")
        later = await heard.session.prompt("Even later.")
        queued = await heard.until(Queued, 2)
        assert (queued.position, queued.prompt, queued.text) == (2, later, "Even later.")
        assert await heard.session.withdraw(waiting)
        assert await heard.session.withdraw(later)
        assert not await heard.session.withdraw(waiting)
        assert (await heard.until(Withdrawn)).prompt == waiting
        await heard.session.prompt("At once.", priority="now")
        assert (await heard.until(Complete)).data.outcome == "interrupted"
        await heard.until(Complete, 2)


async def test_what_waits_for_an_agent_that_goes_is_taken_back(tmp_path: Path) -> None:
    async with running(tmp_path, policy="supervised") as heard:
        await heard.session.prompt("Run this: true")
        await heard.until(PermissionRequest)
        waiting = await heard.session.prompt("Later.")
    assert (await heard.until(Withdrawn)).prompt == waiting
    assert (await heard.until(Complete)).data.outcome == "interrupted"


async def test_what_such_agents_cannot_do_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        session = heard.session
        with pytest.raises(AttachmentRefused):
            await session.prompt("Look.", attachments=[Attachment(b"x")])
        assert await session.control({"subtype": "interrupt"}) == {}
        for refused in (
            session.control({"subtype": "dance"}),
            session.set_model("m"),
            session.set_permission_mode("plan"),
        ):
            with pytest.raises(RequestFailed):
                await refused
        assert (session.version, session.capabilities.interrupts) == (None, True)


async def test_nothing_runs_without_a_program_or_with_a_core_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="executable: no program to run"):
        async with ECHO_AGENTS.open(SessionOptions(workspace=tmp_path, executable=())):
            pass
    other = stream_agents(CLAUDE, EchoWords(), Capabilities())
    with pytest.raises(CommandError, match="family: claude has its own core"):
        async with other.open(SessionOptions(workspace=tmp_path, executable=AGENT)):
            pass


def test_agents_of_a_family_that_is_only_read_are_not_run() -> None:
    assert "opencode-serve" not in [*FAMILIES]
    assert len(FAMILIES) == len([*FAMILIES])
    with pytest.raises(CommandError, match=r"family: agents of OpenCode.* cannot be run"):
        FAMILIES["opencode-serve"]

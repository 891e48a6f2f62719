"""The kit's own conversation with an agent."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from turnwire.client import Client, CommandFailed, EventFrame
from turnwire.client.events import (
    AgentEvent,
    Complete,
    CompleteData,
    PermissionOption,
    PermissionRequest,
    ProcessStatus,
    QuestionRequest,
)
from turnwire.frontends.conform.agent import AgentTrial
from turnwire.frontends.conform.conversation import Conversation, outcome_of, reject
from turnwire.frontends.conform.report import PromiseBroken

ASKS = PermissionRequest(
    pending_id="p",
    permission_title="Run it",
    permission_options=[PermissionOption(option_id="yes", name="Yes", kind="allow_once")],
    action_type="command",
)
INTERRUPTED = Complete(data=CompleteData(outcome="interrupted", is_error=False))


class Refusing:
    """A client whose answers come too late."""

    def __init__(self, code: str, *events: AgentEvent, is_over: bool = True) -> None:
        self._code = code
        self._events = events
        self._is_over = is_over
        self.interrupted: list[str] = []

    async def follow(self, session: str, after: object) -> AsyncIterator[EventFrame]:
        assert after is not None
        for seq, event in enumerate(self._events, 1):
            yield EventFrame(session=session, seq=seq, ts="t", event=event)
        if not self._is_over:
            await asyncio.Event().wait()

    async def respond(self, session: str, pending_id: str, option_id: str) -> None:
        raise CommandFailed(self._code, f"{session} {pending_id} {option_id}")

    async def interrupt(self, session: str) -> None:
        self.interrupted.append(session)

    async def create(self, **wanted: str) -> str:
        raise CommandFailed(self._code, f"no session in {wanted['workspace']}")


@pytest.mark.parametrize("code", ["cancelled", "already_answered"])
async def test_an_answer_that_comes_when_its_request_is_over_breaks_nothing(code: str) -> None:
    talk = Conversation(cast(Client, Refusing(code, ASKS, INTERRUPTED)), "s", 60)
    assert outcome_of(await talk.finish()) == "interrupted"


async def test_an_answer_that_is_refused_otherwise_is_told() -> None:
    talk = Conversation(cast(Client, Refusing("forbidden", ASKS, INTERRUPTED)), "s", 60)
    with pytest.raises(CommandFailed):
        await talk.finish()


async def test_a_request_that_has_no_option_of_the_kind_is_a_promise_broken() -> None:
    talk = Conversation(cast(Client, Refusing("", ASKS)), "s", 60)
    with pytest.raises(PromiseBroken, match="no option of the kind reject_once"):
        await talk.finish(reject)


async def test_a_question_that_nobody_here_can_answer_is_interrupted() -> None:
    client = Refusing("", QuestionRequest(pending_id="q", kind="ask_user", questions=[]), INTERRUPTED)
    talk = Conversation(cast(Client, client), "s", 60)
    assert outcome_of(await talk.finish()) == "interrupted"
    assert client.interrupted == ["s"]


@pytest.mark.parametrize(
    ("status", "how"),
    [
        (ProcessStatus(state="exited", exit_code=3), "exit code 3"),
        (ProcessStatus(state="exited", signal="SIGSEGV"), "signal SIGSEGV"),
        (
            ProcessStatus(state="exited", exit_code=1, stderr_tail="no login"),
            "exit code 1; it said: no login",
        ),
    ],
)
async def test_a_process_that_ends_within_a_turn_is_told_with_how_it_ended(
    status: ProcessStatus, how: str
) -> None:
    talk = Conversation(cast(Client, Refusing("", status)), "s", 60)
    with pytest.raises(PromiseBroken, match=f"the process ended during a turn: {how}$"):
        await talk.finish()


async def test_what_does_not_come_in_time_or_can_come_no_more_is_told() -> None:
    with pytest.raises(PromiseBroken, match=r"nothing more came within 0.01 s"):
        await Conversation(cast(Client, Refusing("", is_over=False)), "s", 0.01).finish()
    with pytest.raises(PromiseBroken, match="the session is gone"):
        await Conversation(cast(Client, Refusing("")), "s", 60).finish()


async def test_an_agent_whose_first_check_fails_is_not_tried_further(tmp_path: Path) -> None:
    trial = AgentTrial(cast(Client, Refusing("agent_failed")), tmp_path, 60)
    first, *rest = [finding async for finding in trial.findings()]
    assert (first.verdict, first.detail) == ("broken", f"agent_failed: no session in {tmp_path}")
    assert {one.verdict for one in rest} == {"not tried"}

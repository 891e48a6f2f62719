"""Single checks of an agent, on conversations that no agent of the tests has."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from turnwire.client import Client, CommandFailed, EventFrame
from turnwire.client.events import (
    AgentEvent,
    Complete,
    CompleteData,
    MessageChunk,
    ProcessStatus,
    ToolCall,
    ToolUpdate,
    TurnStarted,
)
from turnwire.client.payloads import Generic, GenericPayload, ShellExec, ShellExecPayload, ShellOutput
from turnwire.frontends.conform.agent import CHECKS, AgentTrial
from turnwire.frontends.conform.report import NotSupported, NotTested, PromiseBroken

Answer = Callable[[str], Sequence[AgentEvent]]
"""From a prompt to what comes of it."""

BEGUN = TurnStarted(operation_id="turn-1", origin="user")


def turn(text: str, outcome: Any = "completed") -> list[AgentEvent]:
    return [BEGUN, MessageChunk(text=text), Complete(data=CompleteData(outcome=outcome, is_error=False))]


def called_bash() -> ToolCall:
    payload = GenericPayload(generic=Generic(name="Bash", input={}))
    return ToolCall(
        tool_call_id="t", tool_name="Bash", tool_title="Bash", tool_status="running", normalized=payload
    )


def asked(prompt: str) -> str:
    """The word, or the command, that a prompt asks for."""
    return prompt.rpartition(": ")[2]


class Playing:
    """A client of a hub whose one agent answers each prompt as a function says."""

    def __init__(self, answer: Answer = lambda prompt: turn(asked(prompt))) -> None:
        self._answer = answer
        self._events: asyncio.Queue[AgentEvent] = asyncio.Queue()
        self.ended: ProcessStatus | None = ProcessStatus(state="exited", exit_code=0)
        self.refusal: CommandFailed | None = None
        """How anything but a prompt is answered; nothing when None."""

    async def create(self, workspace: str) -> str:
        return f"session in {workspace}"

    async def prompt(self, session: str, text: str) -> None:
        assert session
        for event in self._answer(text):
            self._events.put_nowait(event)

    async def follow(self, session: str, after: object) -> AsyncIterator[EventFrame]:
        assert after is not None
        while True:
            yield EventFrame(session=session, seq=1, ts="t", event=await self._events.get())

    async def close_session(self, session: str) -> None:
        assert session
        if self.ended is None:
            raise CommandFailed("not_running", "it has ended already")
        self._events.put_nowait(self.ended)

    async def control(self, session: str, request: object) -> None:
        assert request
        if self.refusal is None:
            await asyncio.Event().wait()
        await self.resume(session)

    async def resume(self, session: str) -> None:
        assert session
        if self.refusal is not None:
            raise self.refusal


def trial(client: Playing, folder: Path, patience: float = 60) -> AgentTrial:
    return AgentTrial(cast(Client, client), folder, patience)


async def test_another_answer_than_was_asked_for_is_shown(tmp_path: Path) -> None:
    confused = trial(Playing(lambda _: turn("What?")), tmp_path)
    with pytest.raises(PromiseBroken, match=r"the answer is 'What\?'"):
        await confused.answers()
    with pytest.raises(PromiseBroken, match=r"the answer is 'What\?'"):
        await confused.goes_on()


async def test_a_turn_that_begins_twice_is_counted(tmp_path: Path) -> None:
    with pytest.raises(PromiseBroken, match="2 starts and 1 ends of a turn"):
        await trial(Playing(lambda prompt: [BEGUN, *turn(asked(prompt))]), tmp_path).says_it_once()


async def test_an_agent_that_tells_no_id_of_its_session_could_not_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(PromiseBroken, match="did not report the id of its session"):
        await trial(Playing(), tmp_path).introduces_itself()


async def test_an_agent_that_neither_asks_nor_runs_is_told_of_so(tmp_path: Path) -> None:
    called = trial(Playing(lambda _: [called_bash(), *turn("Done.")]), tmp_path)
    with pytest.raises(PromiseBroken, match="did not ask for permission, and did not run the command either"):
        await called.obeys_a_refusal()
    with pytest.raises(PromiseBroken, match="the command was not run"):
        await called.does_what_is_allowed()
    calling_nothing = trial(Playing(lambda _: turn("I would rather not.")), tmp_path)
    for check in (calling_nothing.obeys_a_refusal, calling_nothing.does_what_is_allowed):
        with pytest.raises(NotTested, match=r"it called no tool: 'I would rather not\.'"):
            await check()


async def test_output_without_the_exit_code_of_the_command_is_not_held(tmp_path: Path) -> None:
    def printed(exit_code: int | None) -> Answer:
        def answer(prompt: str) -> list[AgentEvent]:
            output = ShellOutput(stdout=asked(prompt), exit_code=exit_code)
            payload = ShellExecPayload(shell_exec=ShellExec(command="echo", output=output))
            told = ToolUpdate(tool_call_id="t", tool_status="complete", normalized=payload)
            return [called_bash(), told, *turn("Done.")]

        return answer

    assert await trial(Playing(printed(3)), tmp_path).tells_what_came_of_it() == "exit code 3"
    with pytest.raises(NotSupported, match="it reports the output, but no exit code"):
        await trial(Playing(printed(None)), tmp_path).tells_what_came_of_it()
    with pytest.raises(PromiseBroken, match="exit code 0 for a command that ended with 3"):
        await trial(Playing(printed(0)), tmp_path).tells_what_came_of_it()


async def test_two_prompts_may_be_answered_in_one_turn_and_none_may_be_lost(tmp_path: Path) -> None:
    heard: list[str] = []

    def joined(prompt: str) -> list[AgentEvent]:
        heard.append(asked(prompt))
        return turn(" and ".join(heard)) if len(heard) == 2 else []

    assert await trial(Playing(joined), tmp_path).takes_a_second_prompt() == "both in one turn"
    with pytest.raises(PromiseBroken, match="2 of two prompts were not answered"):
        await trial(Playing(lambda _: turn("What?")), tmp_path).takes_a_second_prompt()


async def test_a_turn_that_is_over_before_it_is_interrupted_is_judged_by_its_end(tmp_path: Path) -> None:
    refusing = trial(Playing(lambda _: turn("No.", "refused")), tmp_path)
    assert await refusing.stops() == "the turn ends refused"


async def test_what_comes_of_a_request_that_nobody_knows_is_told_apart(tmp_path: Path) -> None:
    client = Playing()
    with pytest.raises(PromiseBroken, match="it does not answer"):
        await trial(client, tmp_path, 0.01).refuses_what_it_does_not_know()
    client.refusal = CommandFailed("not_supported", "ACP has none")
    with pytest.raises(NotSupported, match="its protocol has no control requests"):
        await trial(client, tmp_path).refuses_what_it_does_not_know()
    client.refusal = CommandFailed("cli_silent", "The CLI has not answered in time.")
    with pytest.raises(PromiseBroken, match="has not answered in time"):
        await trial(client, tmp_path).refuses_what_it_does_not_know()


async def test_an_agent_that_cannot_resume_breaks_nothing_and_one_that_fails_to_does(tmp_path: Path) -> None:
    client = Playing()
    client.refusal = CommandFailed("not_supported", "it keeps no sessions")
    with pytest.raises(NotSupported, match="it keeps no sessions"):
        await trial(client, tmp_path).goes_on_with_a_conversation()
    client.refusal = CommandFailed("agent_failed", "it did not start")
    with pytest.raises(CommandFailed, match="it did not start"):
        await trial(client, tmp_path).goes_on_with_a_conversation()


async def test_an_agent_that_has_to_be_ended_is_told_with_the_signal(tmp_path: Path) -> None:
    client = Playing()
    client.ended = ProcessStatus(state="exited", signal="SIGKILL")
    with pytest.raises(PromiseBroken, match="it had to be ended by SIGKILL"):
        await trial(client, tmp_path).ends()


async def test_a_session_that_has_ended_by_itself_does_not_hold_up_the_checks(tmp_path: Path) -> None:
    client = Playing(lambda _: turn("What?"))
    client.ended = None
    verdicts = [finding.verdict async for finding in trial(client, tmp_path).findings()]
    assert verdicts == ["broken"] + ["not tried"] * (len(CHECKS) - 1)

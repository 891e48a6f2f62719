"""The line mode at a hub: what is printed, what a line does, and that nothing typed ahead decides."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from pydantic import JsonValue

from console_decisions import OPTIONS
from console_states import HubHarness, empty_hub, entries, hub_harness, made, show
from turnwire.client import BEGINNING, connect
from turnwire.frontends.terminal.plain import Plain
from turnwire.hub.wire.frames import AnyCommand
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    PermissionRequest,
    QuestionRequest,
    TurnStarted,
    UserMessage,
)
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec
from waiting import until

ASKED = PermissionRequest(
    pending_id="p1",
    permission_title="npm publish",
    permission_options=OPTIONS,
    action_type="command",
    normalized=ShellExecPayload(shell_exec=ShellExec(command="npm publish\nsecond line")),
)


class Talk:
    """One person at the line mode."""

    def __init__(self, where: HubHarness) -> None:
        self.where = where
        self.printed: list[str] = []
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()

    def write(self, text: str) -> None:
        self.printed.append(text)

    def type(self, *lines: str | None) -> None:
        for line in lines:
            self._lines.put_nowait(line)

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def sees(self, pattern: str) -> re.Match[str]:
        await until(lambda: self.found(pattern))
        found = self.found(pattern)
        assert found is not None
        return found

    def found(self, pattern: str) -> re.Match[str] | None:
        return re.search(pattern, "\n".join(self.printed))

    def did(self, kind: str) -> list[object]:
        return [command for command, _ in self.where.host.commands if command.type == kind]


@asynccontextmanager
async def talking(*events: AgentEvent) -> AsyncIterator[tuple[Talk, asyncio.Task[int]]]:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made(events))
        where.host.handlers["prompt"] = _prompted
        talk = Talk(where)
        async with connect(where.url) as client:
            plain = Plain(client, "one", talk.write)
            running = asyncio.create_task(plain.run(talk.lines(), BEGINNING))
            try:
                yield talk, running
            finally:
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)


async def _prompted(_: AnyCommand) -> JsonValue:
    await asyncio.sleep(0)
    return {"prompt": "u1"}


async def test_a_recording_is_printed_with_each_text_once() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", entries("partial-messages"))
        talk = Talk(where)
        async with connect(where.url) as client:
            plain = Plain(client, "one", talk.write)
            running = asyncio.create_task(plain.run(talk.lines(), BEGINNING))
            await talk.sees("(?m)^Done$")
            talk.type("/open", "/quit")
            assert await running == 0
        said = [row.text for row in plain.conversation.rows.values() if row.kind == "text"]
        assert said
        assert all(talk.printed.count(text) == 1 for text in said)


async def test_a_request_is_printed_whole_and_decided_by_its_number() -> None:
    async with talking(ASKED) as (talk, _):
        await talk.sees("Request 1 .*npm publish")
        assert talk.found("second line")
        talk.type("/allow 2", "/allow 1")
        await until(lambda: talk.did("permission.respond"))
        assert talk.found("no open request '2'")
        assert [one.option_id for one in talk.did("permission.respond")] == ["allow_once"]  # type: ignore[attr-defined]


async def test_what_is_remembered_wants_the_word_that_was_printed_with_its_rule() -> None:
    async with talking(ASKED) as (talk, _):
        await talk.sees("Request 1 ")
        talk.type("/option 1 3", "/confirm 0000 ", "/confirm")
        word = await talk.sees(r"Confirm with /confirm (\w+)")
        assert talk.found(r"(?s)This is remembered: .*Bash\(npm publish \*\).*\.claude/settings\.local\.json")
        assert not talk.did("permission.respond")
        talk.type(f"/confirm {word[1]}")
        await until(lambda: talk.did("permission.respond"))


def question(*questions: tuple[str, bool]) -> QuestionRequest:
    told = [
        {"question": words, "options": [{"label": "Red"}, {"label": "Blue"}], "multi_select": several}
        for words, several in questions
    ]
    asked = {"type": "question_request", "pending_id": "q1", "kind": "ask_user", "questions": told}
    return msgspec.convert(asked, QuestionRequest)


async def test_questions_are_answered_by_number_or_in_words_and_each_of_several() -> None:
    async with talking(question(("Which?", False), ("Which else?", True))) as (talk, _):
        await talk.sees("Question 1:")
        talk.type("/allow 1", "/answer 1 2", "/answer 1 |", "/answer 1 2 | green")
        await until(lambda: talk.did("question.answer"))
        assert talk.found("that is a question")
        assert talk.found("it asks 2; give as many answers")
        [said] = talk.did("question.answer")
        assert said.answers == {"Which?": "Blue", "Which else?": ["green"]}  # type: ignore[attr-defined]


async def test_a_question_without_choices_and_a_request_with_a_wrong_answer_are_refused() -> None:
    async with talking(question(), ASKED) as (talk, _):
        await talk.sees("Request 2 ")
        talk.type("/answer 1 yes", "/answer 2 yes", "/option 2 99", "/deny 2 not now")
        await until(lambda: talk.did("permission.respond"))
        assert talk.found("this question is a form or a page")
        assert talk.found("that is a request for leave")
        assert talk.found("'99' is not one of its answers")
        [said] = talk.did("permission.respond")
        assert (said.option_id, said.message) == ("reject_once", "not now")  # type: ignore[attr-defined]


async def test_the_turn_is_stopped_and_mode_and_model_are_chosen() -> None:
    async with talking() as (talk, _):
        talk.type("/stop", "/mode plan", "/model small")
        await until(
            lambda: talk.did("interrupt") and talk.did("set_permission_mode") and talk.did("set_model")
        )
        assert [one.mode for one in talk.did("set_permission_mode")] == ["plan"]  # type: ignore[attr-defined]
        assert [one.model for one in talk.did("set_model")] == ["small"]  # type: ignore[attr-defined]


async def test_words_are_said_to_the_agent_and_unknown_commands_are_not() -> None:
    async with talking() as (talk, _):
        talk.type("/alow 1", "//alow", "hello", "/help", "/queue", "/mode", "/withdraw", "/deny 9")
        await talk.sees("no open request '9'")
        assert talk.found("/alow is not a command here")
        assert [one.text for one in talk.did("prompt")] == ["/alow", "hello"]  # type: ignore[attr-defined]
        assert talk.found("no prompt waits")
        assert talk.found("mode is not known")


async def test_the_end_of_the_input_waits_for_the_turn_and_tells_how_it_went() -> None:
    async with talking() as (talk, running):
        talk.type("hello")
        await until(lambda: talk.did("prompt"))
        data = CompleteData(outcome="error", is_error=True, prompts=["u1"])
        turn: list[AgentEvent] = [
            TurnStarted(operation_id="turn-1", origin="user", prompts=["u1"]),
            UserMessage(text="hello", uuid="u1"),
            Complete(operation_id="turn-1", data=data, error="no credit"),
        ]
        await talk.where.journal.append("one", made(turn))
        talk.type(None)
        async with asyncio.timeout(60):
            assert await running == 1
        assert talk.found("> hello")
        assert talk.found("Failed: no credit")


async def test_the_end_of_the_input_leaves_a_request_open_and_says_so() -> None:
    async with talking(ASKED) as (talk, running):
        await talk.sees("Request 1 ")
        talk.type(None)
        async with asyncio.timeout(60):
            assert await running == 1
        assert talk.found("nobody can give it here")
        assert not talk.did("permission.respond")

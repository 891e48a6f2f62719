"""Agents that take one prompt and exit, by one that writes what `codex exec --json` does."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from turnwire.adapter.families import FAMILIES, open_session
from turnwire.adapter.one_shot.programs import PROGRAMS
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.session.agent import AgentSession, RequestFailed
from turnwire.adapter.session.attachments import Attachment, AttachmentRefused
from turnwire.normalize.events import AgentEvent, Complete, MessageChunk, ToolCall, TurnStarted, UserMessage
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.normalize.vocabulary import Policy

AGENT = """
import json, os, signal, sys, time
say = lambda **line: print(json.dumps(line), flush=True)
prompt = sys.stdin.read()
say(type="thread.started", thread_id="thread-1")
say(type="turn.started")
if "deaf" in prompt: signal.signal(signal.SIGINT, signal.SIG_IGN)
if "wait" in prompt:
    say(type="item.started", item={"id": "item_0", "type": "command_execution", "command": "sleep", "status": "in_progress"})
    time.sleep(600)
if "die" in prompt: os._exit(3)
words = json.dumps([sys.argv[1:], prompt])
say(type="item.completed", item={"id": "item_0", "type": "agent_message", "text": words})
say(type="turn.completed", usage={"input_tokens": 3, "cached_input_tokens": 0, "output_tokens": 1})
if "linger" in prompt: time.sleep(600)
"""


class Heard:
    """A session, and all that happens in it."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self.inputs: list[SessionInput] = []
        self.events: list[AgentEvent] = []
        self.reading = asyncio.create_task(self._read())
        self._came = asyncio.Event()

    async def _read(self) -> None:
        async for batch in self.session.batches():
            self.inputs += [item for item, _ in batch]
            self.events += [event for _, events in batch for event in events]
            self._came.set()

    async def until(self, kind: type[AgentEvent]) -> None:
        while not any(isinstance(event, kind) for event in self.events):
            self._came.clear()
            await self._came.wait()

    def outcomes(self) -> list[str | None]:
        return [event.data.outcome for event in self.events if isinstance(event, Complete)]

    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, MessageChunk))


@asynccontextmanager
async def running(
    folder: Path, *, command: CommandOptions | None = None, policy: Policy | None = None
) -> AsyncIterator[Heard]:
    options = SessionOptions(
        workspace=folder,
        family="codex-exec",
        executable=(sys.executable, "-c", AGENT),
        command=command or CommandOptions(),
        policy=policy,
        environment={"PATH": "/usr/bin:/bin"},
        stop=StopDeadlines(interrupt=0.2, close=0.2, terminate=60),
    )
    async with asyncio.timeout(60), open_session(options) as session:
        yield Heard(session)


async def test_a_prompt_is_one_turn_which_ends_with_the_process(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        prompt = await heard.session.prompt("Say\nit.")
        with pytest.raises(RequestFailed, match="one prompt"):
            await heard.session.prompt("More.")
        await heard.reading
        assert heard.text() == '[["--skip-git-repo-check", "-"], "Say\\nit.\\n"]'
        assert heard.outcomes() == ["completed"]
        assert [event.prompts for event in heard.events if isinstance(event, TurnStarted)] == [[prompt]]
        said = [event for event in heard.events if isinstance(event, UserMessage)]
        assert [(event.text, event.uuid) for event in said] == [("Say\nit.", prompt)]
        core = new_core("codex-exec")
        again = [event for item in heard.inputs for event in core.handle(item)]
        assert again == heard.events


async def test_what_a_run_is_to_be_is_told_by_arguments(tmp_path: Path) -> None:
    command = CommandOptions(resume="thread-1", model="m")
    async with running(tmp_path, command=command, policy="autonomous") as heard:
        await heard.session.say(b'"Go on."')
        await heard.reading
        bypass = '"--dangerously-bypass-approvals-and-sandbox"'
        assert f'["resume", "thread-1", "--model", "m", {bypass}' in heard.text()
    kimi = PROGRAMS["kimi"].argv(replace(SessionOptions(workspace=tmp_path), executable=("kimi",)))
    assert kimi == ("/bin/sh", "-c", 'exec "$0" "$@" --prompt "$(cat)"', "kimi")


@pytest.mark.parametrize("how", ["wait", "wait deaf"])
async def test_an_interrupt_ends_the_process_and_the_turn_as_interrupted(tmp_path: Path, how: str) -> None:
    async with running(tmp_path) as heard:
        assert await heard.session.interrupt() == {}
        await heard.session.prompt(how)
        await heard.until(ToolCall)
        assert await heard.session.control({"subtype": "interrupt"}, 0.2) == {}
        await heard.reading
        assert heard.outcomes() == ["interrupted"]


async def test_an_agent_that_dies_has_not_answered(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.session.prompt("die")
        await heard.reading
        assert heard.outcomes() == ["process_exited"]


async def test_what_it_cannot_do_is_refused_by_name(tmp_path: Path) -> None:
    assert {*PROGRAMS} <= {*FAMILIES}
    with pytest.raises(CommandError, match="cannot do this"):
        async with running(tmp_path, policy="supervised"):
            pass
    async with running(tmp_path) as heard:
        session = heard.session
        with pytest.raises(AttachmentRefused):
            await session.prompt("x", attachments=[Attachment(b"x", "x.txt")])
        for refused in (
            session.set_model("m"),
            session.set_permission_mode("plan"),
            session.control({"subtype": "more"}),
        ):
            with pytest.raises(RequestFailed):
                await refused
        assert await session.withdraw("u") is False


async def test_a_prompt_that_is_too_long_for_one_argument_is_refused_and_a_shorter_one_taken(
    tmp_path: Path,
) -> None:
    agent = tmp_path / "agent"
    agent.write_text(
        '#!/bin/sh\nprintf \'{"role": "assistant", "content": "%s bytes"}\\n\' "${#2}"\n', encoding="utf-8"
    )
    agent.chmod(0o755)
    options = SessionOptions(
        workspace=tmp_path, family="kimi", executable=(str(agent),), environment={"PATH": "/usr/bin:/bin"}
    )
    async with asyncio.timeout(60), open_session(options) as session:
        heard = Heard(session)
        with pytest.raises(RequestFailed, match=r"131,071 bytes, and this prompt has 131,072"):
            await session.prompt("é" * 65_536)
        await session.prompt("x" * 131_071)
        await heard.reading
        assert heard.text() == "131071 bytes"


async def test_an_option_that_is_too_long_for_one_argument_is_refused_by_its_name(tmp_path: Path) -> None:
    options = SessionOptions(workspace=tmp_path, family="codex-exec", executable=("/bin/true",))
    for argv in (("--note", "x" * 131_072), ("--note=" + "x" * 131_072,)):
        with pytest.raises(CommandError, match=r"--note: has 131,\d+ bytes"):
            async with open_session(replace(options, executable=("/bin/true", *argv))):
                pass
    with pytest.raises(CommandError, match="command: has"):
        async with open_session(replace(options, executable=("/bin/true", "x" * 131_072))):
            pass


async def test_an_agent_that_lives_on_after_its_turn_is_spent_and_can_be_waited_for(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.session.prompt("linger")
        await heard.until(Complete)
        assert heard.session.is_spent
        await heard.session.wait_spent()
        assert heard.session.has_exited
        await heard.reading
        assert heard.outcomes() == ["completed"]

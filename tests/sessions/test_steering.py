"""Steering over the wire: prompts while a turn runs, silence, interrupts nobody obeys, attachments, and what is kept where."""

import base64
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from live import Frontend, descendants, gone
from recordings import recording
from turnwire.client import Client, CommandFailed, connect
from turnwire.client import events as ev
from turnwire.client.commands import Attachment, Prompt
from turnwire.client.events import AgentEvent
from turnwire_process import Served, environment
from turnwire_process import preloaded_turnwire as turnwire

SECRET = "sk-hunter2-0123456789"

SCRIPT = """
version: 2.1.330
turns:
  - match: "^tool"
    steps:
      - tool: Bash
        input: {command: "make", description: "Make"}
        permission: true
        result: "made"
      - text: "done: {prompt}"
  - match: "^slow"
    steps:
      - text: "begin "
      - wait: 0
        until: told
      - text: "end"
  - match: "^hang"
    steps:
      - text: "hanging"
      - hang: true
  - match: "^die"
    steps:
      - crash: 3
fallback:
  steps:
    - text: "echo: {prompt}"
"""


@asynccontextmanager
async def serving(
    folder: Path, *options: str, script: str = SCRIPT, settings: str = "", **variables: str
) -> AsyncIterator[tuple[Client, Served]]:
    """`turnwire serve` whose agent plays the script."""
    path = folder / "script.yaml"
    path.write_text(script)
    agent = json.dumps([sys.executable, "-m", "turnwire.scripted_agent", str(path)])
    (folder / "turnwire.toml").write_text(f"{settings}\n[agents]\nscripted = {agent}\n")
    (folder / "project").mkdir(exist_ok=True)
    env = environment(
        folder / "home",
        TURNWIRE_PASS_ENV="PYTHONPATH,PLANTED_*",
        TURNWIRE_FRONTEND_ENV="PLANTED_*",
        **variables,
    )
    async with (
        turnwire(folder, "serve", "--agent", "scripted", *options, env=env) as served,
        connect(served.url) as client,
    ):
        yield client, served


async def created(client: Client, folder: Path, **more: dict[str, str]) -> Frontend:
    return Frontend(client, await client.create(workspace=str(folder / "project"), **more))  # type: ignore[arg-type]  # the options are the client's


def fates(events: Sequence[AgentEvent]) -> Counter[str]:
    """How often each prompt was served, or taken back."""
    found: Counter[str] = Counter()
    for event in events:
        match event:
            case ev.TurnStarted() | ev.Injected():
                found.update(event.prompts or [])
            case ev.Withdrawn():
                found[event.prompt] += 1
            case _:
                pass
    return found


async def test_every_prompt_is_served_or_taken_back_once_and_events_say_which(tmp_path: Path) -> None:
    async with serving(tmp_path) as (client, _):
        frontend = await created(client, tmp_path)
        prompts = [await frontend.prompt("tool")]
        request = await frontend.until(ev.PermissionRequest)
        prompts += [await frontend.prompt("mind the umlauts"), await frontend.prompt("and the tabs")]
        await frontend.until(ev.Queued, lambda queued: queued.prompt == prompts[-1])
        await frontend.respond(request)
        await frontend.until(ev.Complete)
        prompts.append(await frontend.prompt("slow"))
        await frontend.until(ev.MessageChunk)
        taken = await client.prompt(frontend.session, "never mind", priority="later")
        prompts += [taken, await client.prompt(frontend.session, "afterwards", priority="later")]
        await frontend.until(ev.Queued, lambda queued: queued.prompt == prompts[-1])
        assert await client.withdraw(frontend.session, taken)
        assert not await client.withdraw(frontend.session, taken)
        (tmp_path / "project" / "told").touch()
        while "echo: afterwards" not in frontend.text():
            await frontend.next()
        await frontend.until(ev.Complete)
        assert fates(frontend.events) == Counter(prompts)
        assert [event.prompt for event in frontend.seen(ev.Withdrawn)] == [taken]
        assert "never mind" not in frontend.text()
        assert len(frontend.seen(ev.TurnStarted)) == len(frontend.seen(ev.Complete)) == 3


@pytest.mark.long
async def test_an_interrupt_is_done_when_its_turn_has_ended_though_a_waiting_prompt_begins_the_next_at_once(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as (client, _):
        frontend = await created(client, tmp_path)
        await frontend.prompt("tool")
        await frontend.until(ev.PermissionRequest)
        waiting = await client.prompt(frontend.session, "tool again", priority="later")
        await frontend.until(ev.Queued)
        assert await client.interrupt(frontend.session) == {"still_queued": [waiting]}
        assert (await frontend.until(ev.Complete)).data.outcome == "interrupted"
        request = await frontend.until(ev.PermissionRequest)
        await frontend.respond(request)
        assert (await frontend.until(ev.Complete)).data.outcome == "completed"
        assert "done: tool again" in frontend.text()


@pytest.mark.long
async def test_prompts_that_waited_when_the_sidecar_was_killed_are_accounted_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as (client, served):
        frontend = await created(client, tmp_path)
        prompts = [await frontend.prompt("hang")]
        await frontend.until(ev.MessageChunk)
        prompts.append(await client.prompt(frontend.session, "wait", priority="later"))
        await frontend.until(ev.Queued)
        await served.kill()
    async with serving(tmp_path) as (client, _):
        again = await Frontend(client, frontend.session).caught_up()
        assert fates(again.events) == Counter(prompts)
        assert [event.prompt for event in again.seen(ev.Withdrawn)] == prompts[1:]


@pytest.mark.long
async def test_silence_is_told_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    async with serving(tmp_path, settings="stall_after_s = 0.5") as (client, _):
        frontend = await created(client, tmp_path)
        await frontend.prompt("hang")
        stalled = await frontend.until(ev.ProcessStatus, lambda status: status.state == "stalled")
        assert "said nothing" in (stalled.reason or "")
        await client.interrupt(frontend.session)
        complete = await frontend.until(ev.Complete)
        assert complete.data.outcome == "interrupted"
        await frontend.turn("still there?")
        assert "echo: still there?" in frontend.text()


@pytest.mark.long
async def test_a_cli_that_obeys_no_interrupt_is_stopped_and_the_session_goes_on(tmp_path: Path) -> None:
    stubborn = f"ignore: [interrupt, stdin_close, sigterm]\n{SCRIPT}"
    async with serving(tmp_path, script=stubborn) as (client, served):
        frontend = await created(client, tmp_path)
        await frontend.prompt("hang")
        await frontend.until(ev.MessageChunk)
        left = [pid for status in frontend.seen(ev.ProcessStatus) if (pid := status.pid)]
        assert set(left) <= set(descendants(served.process.pid))
        await client.interrupt(frontend.session)
        complete = await frontend.until(ev.Complete)
        assert (complete.data.outcome, complete.data.signal) == ("hung", "SIGKILL")
        await frontend.turn("once more")
        assert "echo: once more" in frontend.text()
        await gone(left)


REPEATING = """#!/bin/sh
while read -r line; do
  case "$line" in
    *'"initialize"'*)
      echo '{"type":"control_response","response":{"subtype":"success","request_id":"turnwire_1","response":{}}}' ;;
    *'"type":"user"'*) cat "$0.turn" ;;
  esac
done
"""


@pytest.mark.long
async def test_a_result_that_comes_again_after_its_turn_ends_nothing_twice(tmp_path: Path) -> None:
    lines = [line for line in recording("2.1.330", "plain-text").received() if b'"control_' not in line]
    (result,) = [line for line in lines if b'"type":"result"' in line]
    agent = tmp_path / "agent"
    agent.write_text(REPEATING)
    agent.chmod(0o755)
    agent.with_name("agent.turn").write_bytes(b"".join(line + b"\n" for line in [*lines, result, result]))
    async with turnwire(tmp_path, "run", "--", str(agent)) as served, connect(served.url) as client:
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.turn("one")
        await client.close_session(frontend.session)
        await frontend.until(ev.ProcessStatus, lambda status: status.state == "exited")
        completed = [event.operation_id for event in frontend.seen(ev.Complete)]
        assert completed == ["turn-1"] == [event.operation_id for event in frontend.seen(ev.TurnStarted)]


@pytest.mark.long
async def test_attachments_are_files_of_the_workspace_until_the_session_is_deleted(tmp_path: Path) -> None:
    settings = 'attachments = "files"\nmax_attachments = 2\nmax_attachment_bytes = 100'
    note = base64.b64encode(b"remember the milk").decode()
    async with serving(tmp_path, settings=settings) as (client, _):
        frontend = await created(client, tmp_path)
        folder = tmp_path / "project" / ".turnwire" / "attachments" / frontend.session
        for wrong in (
            [Attachment(name="n", base64=note)] * 3,
            [Attachment(name="n", base64=base64.b64encode(bytes(101)).decode())],
            [Attachment(name="n", base64="not base64")],
        ):
            with pytest.raises(CommandFailed, match="invalid_params"):
                await client.prompt(frontend.session, "look", attachments=wrong)
        assert not folder.exists()
        await client.prompt(
            frontend.session, "look", attachments=[Attachment(name="../../../note.txt", base64=note)]
        )
        await frontend.until(ev.Complete)
        (saved,) = folder.iterdir()
        assert saved.read_text() == "remember the milk"
        assert str(saved.relative_to(tmp_path / "project")) in frontend.text()
        await client.delete_session(frontend.session)
        assert not folder.parent.exists()


@pytest.mark.long
async def test_a_retry_says_all_that_its_turn_served_with_its_attachments(tmp_path: Path) -> None:
    image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()
    async with serving(tmp_path) as (client, _):
        frontend = await created(client, tmp_path)
        await frontend.turn("good")
        await client.prompt(
            frontend.session, "die of this", attachments=[Attachment(name="a.png", base64=image)]
        )
        await frontend.until(ev.ProcessStatus, lambda status: status.state == "exited")
        await client.retry(frontend.session)
        await frontend.until(ev.ProcessStatus, lambda status: status.state == "exited")
        once, again = [said for said in frontend.seen(ev.UserMessage) if said.text == "die of this"]
        assert once.parts == again.parts
        assert once.parts is not None
    async with serving(tmp_path) as (client, _):
        with pytest.raises(CommandFailed, match="attachments"):
            await client.retry(frontend.session)


async def test_secrets_of_the_environment_stay_out_of_logs_events_and_files(tmp_path: Path) -> None:
    async with serving(tmp_path, "--log-level", "debug", PLANTED_SECRET=SECRET) as (client, served):
        frontend = await created(client, tmp_path, env={"PLANTED_REQUESTED": SECRET})
        await frontend.turn("hello")
        (pid,) = [status.pid for status in frontend.seen(ev.ProcessStatus)]
        environ = Path(f"/proc/{pid}/environ").read_bytes()
        assert environ.count(SECRET.encode()) == 2  # so the CLI has it, and nobody else may
        await frontend.prompt("die")
        await frontend.until(ev.ProcessStatus, lambda status: status.state == "exited")
        assert SECRET not in json.dumps(msgspec.to_builtins(frontend.events))
        with pytest.raises(CommandFailed, match="SOMETHING_ELSE") as refused:
            await client.create(workspace=str(tmp_path), env={"SOMETHING_ELSE": SECRET})
        assert SECRET not in str(refused.value)
        left = descendants(served.process.pid)
        await served.kill()
        await gone(left)  # what they still had to write is looked at, too
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


@pytest.mark.long
async def test_a_session_whose_environment_was_not_kept_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as (client, _):
        frontend = await created(client, tmp_path, env={"PLANTED_REQUESTED": SECRET})
        await frontend.turn("hello")
    async with serving(tmp_path) as (client, _):
        again = await Frontend(client, frontend.session).caught_up()
        await again.turn("hello again")
        assert [notice.text for notice in again.seen(ev.Notice) if "PLANTED_REQUESTED" in notice.text]


@pytest.mark.long
async def test_the_cli_gets_the_trace_it_belongs_to_where_tracing_is_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as (client, _):
        frontend = await created(client, tmp_path)
        await frontend.turn("hello")
        (pid,) = [status.pid for status in frontend.seen(ev.ProcessStatus)]
        assert b"TRACEPARENT=" not in Path(f"/proc/{pid}/environ").read_bytes()
    endpoint = "http://127.0.0.1:9"  # nobody listens there, and nothing may depend on it
    async with serving(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) as (client, _):
        frontend = await created(client, tmp_path)
        await frontend.turn("hello")
        (pid,) = [status.pid for status in frontend.seen(ev.ProcessStatus)]
        assert b"\0TRACEPARENT=00-" in Path(f"/proc/{pid}/environ").read_bytes()


async def test_a_prompt_that_is_sent_again_with_its_uuid_is_said_once_and_has_that_uuid(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as (client, _):
        frontend = await created(client, tmp_path)
        prompt, not_one = "00000000-0000-4000-8000-00000000000a", "z" * 36
        command = Prompt(session=frontend.session, text="first")
        replies = [await client.command(command, command_id=prompt) for _ in range(2)]
        assert [reply.prompt for reply in replies] == [prompt, prompt]
        await frontend.until(ev.Complete)
        assert (await client.command(command, command_id=prompt)).prompt == prompt
        last = await client.command(Prompt(session=frontend.session, text="last"), command_id=not_one)
        assert last.prompt != not_one
        await frontend.until(ev.Complete, lambda one: last.prompt in (one.data.prompts or ()))
        said = [one.text for one in frontend.events if isinstance(one, ev.UserMessage)]
        assert said == ["first", "last"]

"""A conversation in the agent's own interface, played by a file that grows and the calls of its hooks; and a killed sidecar."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from host_harness import SOMEBODY, HostHarness, host_harness
from kept_sessions import kept
from msgspec import structs
from pydantic import ValidationError
from terminal_owner import TerminalOwner

from turnwire.config.rulebook import Rulebook
from turnwire.hub.host import CommandRefused
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.payloads import ModifyFilePayload
from turnwire.sessions.claims import steered_by
from turnwire.sessions.live import LiveSession
from turnwire.sessions.live_host import LiveHost
from turnwire.sessions.new_session import NewSession
from turnwire.sessions.records.options import RecordOptions, with_options
from turnwire.sessions.registry import SessionRegistry
from waiting import until

LINES = kept("2.1.330", "files-and-shell").file.read_bytes().splitlines(keepends=True)
IN_TURN = 23
"""Lines up to a call that has no result yet."""
FIRST_TURN = 47
"""Lines up to the end of the first turn."""


class Life:
    """One life of a sidecar, until it is killed."""

    def __init__(self, stage: HostHarness) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._stage, self._spawn = stage, stage.services.spawn
        services = structs.replace(stage.services, spawn=self._kept)
        self.host = LiveHost(services, stage.store, SessionRegistry[LiveSession](), Rulebook())

    def _kept(self, name: str, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = self._spawn(name, work)
        self._tasks.append(task)
        return task

    async def kill(self) -> None:
        """End what it does; records that are not kept are lost."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


class Interface:
    """The agent's own interface: its process, its file and its hooks."""

    def __init__(self, stage: HostHarness, owner: TerminalOwner, hooks: Path) -> None:
        self.stage, self.owner, self.hooks = stage, owner, hooks
        self.session = self.ticket = ""
        self.file = stage.folder / "projects" / "p" / "c.jsonl"
        self.file.parent.mkdir(parents=True)
        self._written = 0

    def write(self, end: int) -> None:
        """Append the lines up to there, as a CLI does: the file is never empty again while somebody reads it."""
        with self.file.open("ab") as file:
            file.write(b"".join(LINES[self._written : end]))
        self._written = end

    async def hook(self, event: str, **more: object) -> dict[str, object]:
        """Call a hook and return what it answers."""
        said = {"hook_event_name": event, "session_id": "c", "transcript_path": str(self.file), **more}
        await until(self.hooks.exists, 60)
        reader, writer = await asyncio.open_unix_connection(self.hooks)
        writer.write(json.dumps(said).encode())
        writer.write_eof()
        answer = await reader.read()
        writer.close()
        return json.loads(answer) if answer else {}

    async def events(self) -> list[AgentEvent]:
        await self.stage.services.journal.flush()
        return await self.stage.events(self.session)

    async def sees(self, kind: type[AgentEvent], count: int = 1) -> list[AgentEvent]:
        return await self.stage.until(self.session, kind, count)


@asynccontextmanager
async def in_terminal(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: int = 0,
    history: Sequence[Path] = (),
    *,
    with_interface: bool = False,
) -> AsyncIterator[tuple[Interface, Life]]:
    """A new conversation in the interface, of which the session follows the first lines.

    `with_interface`: the sidecar ends with it.
    """
    program = folder / "claude"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m turnwire.scripted_agent {folder}/echo.yaml "$@"\n'
    )
    program.chmod(0o755)
    settings = {"history_dirs": history}
    agents = {"claude": [str(program)]}
    async with host_harness(folder, monkeypatch, agents=agents, settings=settings) as stage:
        owner = await TerminalOwner.started()
        life = Life(stage)
        stage.host = life.host
        try:
            if with_interface:
                wanted = NewSession(agent="claude", workspace=str(folder))
                session = (await life.host.open(wanted, starts=False)).session
            else:
                session = await stage.create("claude")
            ticket = await owner.ticket(await stage.do("native.begin", session, host="box"))
            begun = await stage.do("native.begin", session, host="box", ticket=ticket, new=True)
            assert isinstance(begun, dict)
            (settings,) = [one for one in begun["argv"] if one.startswith("--settings=")]
            (hook,) = json.loads(settings.partition("=")[2])["hooks"]["Stop"][0]["hooks"]
            place = Interface(stage, owner, Path(hook["command"].split()[-1]))
            place.session, place.ticket = session, ticket
            place.write(first)
            await place.hook("SessionStart", source="startup")
            yield place, life
        finally:
            for started in owner.programs:
                with suppress(ProcessLookupError):
                    os.kill(started, signal.SIGKILL)
            await owner.kill()
            await until(lambda: all(one.in_terminal is None for one in stage.host.sessions()), 60)
            await stage.host.stop()


def told(events: list[AgentEvent]) -> list[str]:
    found: list[str] = []
    for event in events:
        match event:
            case ev.UserMessage():
                found.append(f"> {event.text}")
            case ev.MessageChunk():
                found.append(f"said {event.text}")
            case ev.ToolCall():
                found.append(f"call {event.tool_call_id}")
            case ev.ToolUpdate() if event.tool_status != "running":
                found.append(f"result {event.tool_call_id} {event.tool_status}")
            case ev.TurnStarted():
                found.append("started")
            case ev.Complete():
                found.append(f"complete {event.data.outcome}")
            case _:
                pass
    return found


async def whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the log has of a sidecar that is not killed."""
    folder.mkdir()
    async with in_terminal(folder, monkeypatch) as (place, _):
        for end in (IN_TURN, FIRST_TURN, len(LINES)):
            place.write(end)
            await place.hook("Stop")
        return told(await place.sees(ev.Complete, 2))


@pytest.mark.parametrize(
    ("at", "is_noted"),
    [
        (IN_TURN, False),
        (FIRST_TURN, True),
        pytest.param(IN_TURN, True, marks=pytest.mark.long),
        pytest.param(FIRST_TURN, False, marks=pytest.mark.long),
    ],
)
async def test_a_sidecar_killed_in_a_hand_over_costs_the_log_nothing_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, is_noted: bool
) -> None:
    expected = await whole(tmp_path / "whole", monkeypatch)
    folder = tmp_path / "killed"
    folder.mkdir()
    async with in_terminal(folder, monkeypatch) as (place, life):
        place.write(at)
        await place.sees(ev.ToolCall if at == IN_TURN else ev.Complete)
        if is_noted:
            # else the record is older than the log
            record = life.host.record(place.session)
            assert record is not None
            await place.stage.services.keep(record)
        await life.kill()
        place.write(at + 1)
        again = Life(place.stage)
        place.stage.host = again.host
        await again.host.restore()
        (listed,) = again.host.sessions()
        assert listed.in_terminal == "box"
        await place.hook("Stop")
        if at == IN_TURN:
            await until(lambda: again.host.sessions()[0].state == "running", 60)
        place.write(len(LINES))
        assert told(await place.sees(ev.Complete, 2)) == expected


async def test_a_request_that_nobody_can_answer_any_more_is_void_after_a_kill_and_its_turn_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, life):
        place.write(IN_TURN)
        call = next(one for one in await place.sees(ev.ToolCall) if isinstance(one, ev.ToolCall))
        given = json.loads(LINES[IN_TURN - 1])["message"]["content"][0]
        asking = asyncio.create_task(
            place.hook("PermissionRequest", tool_name=given["name"], tool_input=given["input"])
        )
        seen = await place.sees(ev.PermissionRequest)
        (asked,) = [one for one in seen if isinstance(one, ev.PermissionRequest)]
        assert asked.tool_call_id == call.tool_call_id
        await life.kill()
        assert await asking == {}
        again = Life(place.stage)
        place.stage.host = again.host
        await again.host.restore()
        events = await place.events()
        (void,) = [one for one in events if isinstance(one, ev.PermissionCancelled)]
        assert void.pending_id == asked.pending_id
        assert not [one for one in events if isinstance(one, ev.Complete)]
        with pytest.raises(CommandRefused) as refused:
            await place.stage.do(
                "permission.respond", place.session, pending_id=asked.pending_id, option_id="allow_once"
            )
        assert refused.value.code == "already_answered"


async def test_a_file_that_cannot_be_read_after_a_kill_is_told_and_followed_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, life):
        place.write(IN_TURN)
        await place.sees(ev.ToolCall)
        await life.kill()
        aside = place.file.rename(tmp_path / "aside")
        again = Life(place.stage)
        place.stage.host = again.host
        await again.host.restore()
        notices = [one.text for one in await place.events() if isinstance(one, ev.Notice)]
        assert f"is not shown: {place.file}: No such file or directory" in notices[-1]
        aside.rename(place.file)
        place.write(FIRST_TURN)
        events = told(await place.sees(ev.Complete))
        assert events.count("started") == 1
        assert events[-1] == "complete completed"


async def test_a_turn_whose_file_is_gone_ends_with_the_interface(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, life):
        place.write(IN_TURN)
        await place.sees(ev.ToolCall)
        await life.kill()
        place.file.unlink()
        await place.owner.kill()
        again = Life(place.stage)
        place.stage.host = again.host
        await again.host.restore()
        await until(lambda: again.host.sessions()[0].in_terminal is None, 60)
        events = told(await place.events())
        assert events[-2].endswith(" error")
        assert events[-1] == "complete process_exited"
        assert again.host.sessions()[0].state == "exited"


async def test_a_record_that_does_not_say_who_has_the_conversation_gives_it_back_to_frontends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, life):
        place.write(IN_TURN)
        await place.sees(ev.ToolCall)
        record = life.host.record(place.session)
        assert record is not None
        await life.kill()
        await place.stage.store.put(replace(with_options(record, terminal={"host": "box"}), state="idle"))
        again = Life(place.stage)
        place.stage.host = again.host
        await again.host.restore()
        assert told(await place.events())[-1] == "complete process_exited"
        left = again.host.record(place.session)
        assert left is not None
        assert RecordOptions.from_record(left).terminal is None
        assert again.host.sessions()[0].in_terminal is None


async def test_what_the_log_did_not_take_is_published_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        place.write(IN_TURN)
        before = told(await place.sees(ev.ToolCall))
        journal = place.stage.services.journal
        journal.full = True  # type: ignore[attr-defined]  # the harness's own
        place.write(FIRST_TURN)
        await place.hook("Stop")
        assert told(await place.events()) == before
        journal.full = False  # type: ignore[attr-defined]
        events = told(await place.sees(ev.Complete))
        assert len(events) == len(set(events))
        assert events.count("started") == 1


async def test_prompts_wait_for_the_end_of_the_interface_and_one_can_be_withdrawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        place.write(FIRST_TURN)
        await place.sees(ev.Complete)
        stage = place.stage
        first = await stage.do("prompt", place.session, text="not this")
        own = "00000000-0000-4000-8000-00000000000a"
        second = await stage.do("prompt", place.session, id=own, text="but this")
        assert second == await stage.do("prompt", place.session, id=own, text="but this") == {"prompt": own}
        assert isinstance(first, dict)
        assert isinstance(second, dict)
        withdrawn = await stage.do("prompt.withdraw", place.session, prompt=first["prompt"])
        assert withdrawn == {"withdrawn": True}
        with pytest.raises(CommandRefused) as refused:
            await stage.do("interrupt", place.session)
        assert refused.value.code == "in_terminal"
        await stage.do("native.take_back", place.session)
        assert stage.host.sessions()[0].wanted_back
        await stage.do("native.end", place.session, ticket=place.ticket)
        seen = await place.sees(ev.Complete, 2)
        assert [one.prompts for one in seen if isinstance(one, ev.TurnStarted)][-1] == [second["prompt"]]
        said = "".join(one.text for one in seen if isinstance(one, ev.MessageChunk))
        assert said.endswith("echo: but this")


async def test_a_prompt_that_could_never_run_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch, with_interface=True) as (place, life):
        place.write(FIRST_TURN)
        await place.sees(ev.Complete)
        stage = place.stage
        for kind, more in (
            ("prompt", {"text": "from a phone"}),
            ("prompt", {"text": "later", "priority": "later"}),
            ("prompt", {"text": "again", "id": "00000000-0000-4000-8000-00000000000a"}),
        ):
            with pytest.raises(CommandRefused, match="ends with the agent's interface") as caught:
                await stage.do(kind, place.session, **more)
            assert caught.value.code == "in_terminal"
        await stage.do("native.end", place.session, ticket=place.ticket)
        # nor is an agent started that would be ended at once
        for kind, more in (("prompt", {"text": "too late"}), ("session.resume", {})):
            with pytest.raises(CommandRefused, match="ends with the agent's interface"):
                await stage.do(kind, place.session, **more)
        events = await place.events()
        assert [one for one in events if isinstance(one, ev.Queued | ev.ProcessStatus)] == []
        assert life.host.processes == 0


async def test_an_answer_from_elsewhere_is_what_the_hook_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        place.write(IN_TURN)
        await place.sees(ev.ToolCall)
        given = json.loads(LINES[IN_TURN - 1])["message"]["content"][0]
        asking = asyncio.create_task(
            place.hook("PermissionRequest", tool_name=given["name"], tool_input=given["input"])
        )
        seen = await place.sees(ev.PermissionRequest)
        (asked,) = [one for one in seen if isinstance(one, ev.PermissionRequest)]
        await place.stage.do(
            "permission.respond",
            place.session,
            pending_id=asked.pending_id,
            option_id="reject_once",
            message="no",
        )
        answer = await asking
        assert answer["hookSpecificOutput"] == {
            "hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "no"},
        }
        (resolved,) = [one for one in await place.events() if isinstance(one, ev.PermissionResolved)]
        assert (resolved.behavior, resolved.by) == ("deny", SOMEBODY.name)


async def test_a_write_over_a_file_is_shown_elsewhere_with_the_text_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        place.write(IN_TURN)
        await place.sees(ev.ToolCall)
        notes = tmp_path / "notes.txt"
        notes.write_text("what goes\n")
        given = {"file_path": str(notes), "content": "what comes\n"}
        asking = asyncio.create_task(place.hook("PermissionRequest", tool_name="Write", tool_input=given))
        seen = await place.sees(ev.PermissionRequest)
        (asked,) = [one for one in seen if isinstance(one, ev.PermissionRequest)]
        assert isinstance(asked.normalized, ModifyFilePayload)
        (mutation,) = asked.normalized.modify_file.mutations
        assert (mutation.type, mutation.old_content) == ("overwrite", "what goes\n")
        await place.stage.do(
            "permission.respond", place.session, pending_id=asked.pending_id, option_id=asked.allow_once()
        )
        await asking


async def test_what_can_only_be_answered_in_the_terminal_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        place.write(IN_TURN)
        await place.sees(ev.ToolCall)
        # of a version that notes no status
        await place.hook("Notification", message="Claude needs your permission to use Bash")

        async def told_there(count: int) -> list[str]:
            while True:
                found = [
                    one.text
                    for one in await place.events()
                    if isinstance(one, ev.Notice) and one.kind == "answer_in_terminal"
                ]
                if len(found) >= count:
                    return found
                await asyncio.sleep(0.02)

        async with asyncio.timeout(60):
            only_there = "The agent asks something that can only be answered in the terminal on box"
            assert await told_there(1) == [f"{only_there}: Claude needs your permission to use Bash"]
            # of one that does
            program = await place.owner.program("sleep", "1000")
            await place.stage.do(
                "native.begin", place.session, host="box", ticket=place.ticket, program=program
            )
            note = tmp_path / "sessions" / f"{program}.json"
            note.parent.mkdir()
            note.write_text('{"status": "waiting"}')
            found = await told_there(2)
            assert found[1:] == [f"{only_there}."]
            await place.hook("Notification", message="the same")
            note.write_text('{"status": "busy"}')
            place.write(FIRST_TURN)
            await place.sees(ev.Complete)
            assert len(await told_there(2)) == 2


async def refused(asked: Awaitable[object]) -> tuple[str, str | None]:
    with pytest.raises(CommandRefused) as caught:
        await asked
    return caught.value.code, caught.value.field


async def test_only_the_terminals_own_process_takes_a_conversation_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch, agents={"claude": ["sleep"]}) as stage:
        session = await stage.create()
        before = await stage.events(session), stage.states()
        gone, owner = await TerminalOwner.started(), await TerminalOwner.started()
        try:
            old = await gone.ticket(await stage.do("native.begin", session, host="box"))
            await gone.kill()
            for ticket in ("", "1", str(os.getpid()), old):
                begun = stage.do("native.begin", session, host="box", ticket=ticket, new=True, program=1)
                assert await refused(begun) == ("invalid_params", "ticket")
            for field in ("pid", "owner", "process"):
                with pytest.raises(ValidationError):
                    await stage.do("native.begin", session, host="box", new=True, **{field: os.getpid()})
            # to ask for the door is to take nothing over, with whatever else
            door = await stage.do("native.begin", session, host="box", new=True, program=os.getpid())
            assert (await stage.events(session), stage.states()) == before
            assert [one.in_terminal for one in stage.host.sessions()] == [None]
            # nobody else enters there
            assert isinstance(door, dict)
            assert Path(door["door"]).parent.stat().st_mode & 0o777 == 0o700
            one, two = [await owner.ticket(door) for _ in range(2)]
            assert len({one, two}) == 2
        finally:
            await owner.kill()
    assert not Path(door["door"]).exists()


async def test_an_interface_is_a_program_that_the_terminals_process_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        stage, other = place.stage, await TerminalOwner.started()
        try:
            foreign = await other.program("sleep", "1000")
            ended = await place.owner.ended_program()
            for program in (1, os.getpid(), place.owner.pid, other.pid, foreign, ended):
                begun = stage.do(
                    "native.begin", place.session, host="box", ticket=place.ticket, program=program
                )
                assert await refused(begun) == ("invalid_params", "program"), program
            # somebody else's ticket is not this terminal's
            ticket = await other.ticket(await stage.do("native.begin", place.session, host="box"))
            begun = stage.do("native.begin", place.session, host="box", ticket=ticket, program=foreign)
            assert await refused(begun) == ("in_terminal", "session")
            assert await refused(stage.do("native.end", place.session, ticket=ticket)) == (
                "in_terminal",
                "session",
            )
        finally:
            for one in other.programs:
                os.kill(one, signal.SIGKILL)
            await other.kill()


async def test_the_end_of_an_interface_is_told_after_it_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with in_terminal(tmp_path, monkeypatch) as (place, _):
        stage = place.stage
        assert await refused(stage.do("native.end", place.session)) == ("in_terminal", "session")
        program = await place.owner.program("sleep", "1000")
        await stage.do("native.begin", place.session, host="box", ticket=place.ticket, program=program)
        for ticket in ({}, {"ticket": place.ticket}):
            asked = stage.do("native.end", place.session, **ticket)
            assert await refused(asked) == ("in_terminal", "session")
        assert stage.host.sessions()[0].in_terminal == "box"
        os.kill(program, signal.SIGKILL)
        async with asyncio.timeout(60):
            while stage.host.sessions()[0].in_terminal is not None:
                with suppress(CommandRefused):
                    await stage.do("native.end", place.session)
        assert await stage.do("native.end", place.session) is None, "of one that is over it is true, too"


@pytest.mark.parametrize(
    ("owner", "folder", "shown"),
    [("ann", "work", False), (None, "work", True), (None, "elsewhere", False), (None, "work/below", True)],
)
async def test_an_earlier_conversation_that_the_interface_opens_is_shown_to_those_who_may_see_it(
    owner: str | None, folder: str, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "kept" / "p" / "old.jsonl"
    old.parent.mkdir(parents=True)
    work = tmp_path / folder
    work.mkdir(parents=True)
    old.write_bytes(b"".join(LINES[:FIRST_TURN]).replace(b"/workspace/project", str(work).encode()))
    async with in_terminal(tmp_path, monkeypatch, history=[tmp_path / "kept"]) as (place, life):
        (session,) = life.host._registry.sessions.values()
        workspace = str(tmp_path / "work")
        record = replace(session.record, owner=owner, workspace=workspace)
        session.record = steered_by(record, owner, sees_all=owner is None)
        place.write(FIRST_TURN)
        await place.sees(ev.Complete)
        before = told(await place.events())
        hook = {"session_id": "old", "transcript_path": str(old)}
        await place.hook("SessionStart", source="resume", **hook)
        await place.hook("Stop", **hook)
        old.write_bytes(b"".join(LINES).replace(b"/workspace/project", str(work).encode()))
        # what is asked there has the conversation's words, too
        given = {"tool_name": "Bash", "tool_input": {"command": "the-word-of-bob"}}
        asking = asyncio.create_task(place.hook("PermissionRequest", **hook, **given))
        if not shown:
            assert await asking == {}
            await place.sees(ev.Notice, 2)
            assert told(await place.events()) == before
            assert [one for one in await place.events() if isinstance(one, ev.PermissionRequest)] == []
            assert life.host.sessions()[0].cli_session_id == "c"
            # back in its own one
            await place.hook("SessionStart", source="resume")
            place.write(len(LINES))
            await place.hook("Stop")
            await place.sees(ev.Complete, 2)
        else:
            seen = await place.sees(ev.PermissionRequest)
            assert life.host.sessions()[0].cli_session_id == "old"
            (asked,) = [one.pending_id for one in seen if isinstance(one, ev.PermissionRequest)]
            no = {"pending_id": asked, "option_id": "reject_once"}
            await place.stage.do("permission.respond", place.session, **no)
            assert await asking != {}

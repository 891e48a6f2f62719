"""The library as frontends use it: listed, searched, opened, gone on with, followed and refused, in a host without a hub."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from acp_stage import AGENT
from host_harness import own_home
from kept_files import kept_file
from kept_sessions import kept
from msgspec.structs import replace

from recordings import ROOT
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.config.rulebook import Rulebook
from turnwire.config.settings import Settings
from turnwire.history.folders import SessionPath
from turnwire.history.index import TOLD, Index
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import Scope
from turnwire.hub.wire import frames
from turnwire.hub.wire.commands import VIEW_COMMANDS
from turnwire.journal.base import Entry
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sessions import MemorySessions
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.sessions.history_commands import PAGE, PIECE, HistoryTimes
from turnwire.sessions.live import LiveSession
from turnwire.sessions.live_host import LiveHost
from turnwire.sessions.new_session import NewSession
from turnwire.sessions.records.options import RecordOptions
from turnwire.sessions.records.resume_point import ResumePoint
from turnwire.sessions.records.writer import RecordWriter
from turnwire.sessions.registry import SessionRegistry
from turnwire.sessions.services import SessionServices
from turnwire.sidecar.process.supervision import supervised
from turnwire.tracing.prices import prices

SOMEBODY = Frontend("somebody", "control")
ECHO = "fallback: {steps: [{text: 'echo: {prompt}'}]}"


class Place:
    """A host, and the folder of conversations that it knows."""

    def __init__(self, folder: Path, host: LiveHost, journal: MemoryJournal) -> None:
        self.folder, self.host, self.journal = folder, host, journal

    @property
    def projects(self) -> Path:
        return self.folder / "home" / "projects"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def keep(self, scenario: str, folder: Path | None = None) -> Path:
        """Keep the conversation of a scenario, as one of a folder."""
        source = kept("2.1.330", scenario).file
        target = self.projects / "project" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        place = str(folder or self.work).encode()
        # whole at once: who looks meanwhile would read a part of it
        begun = target.with_suffix(".part")
        begun.write_bytes(source.read_bytes().replace(b"/workspace/project", place))
        begun.replace(target)
        return target

    async def do(self, kind: str, **more: object) -> Any:
        command = frames.commands.validate_python({"type": kind, "id": "1", **more})
        return await self.host.execute(command, SOMEBODY)

    async def refused(self, kind: str, **more: object) -> str:
        with pytest.raises(CommandRefused) as caught:
            await self.do(kind, **more)
        return caught.value.code

    async def events(self, session: str) -> list[AgentEvent]:
        page = await self.journal.read_after(
            session, Cursor(self.journal.epoch, 0), count=10_000, size=1 << 26
        )
        return [from_json(envelope.event) for envelope in page.envelopes]

    async def until(self, session: str, kind: type[AgentEvent], count: int = 1) -> list[AgentEvent]:
        changed = asyncio.Event()
        unwatch = self.journal.watch(lambda *_: changed.set())
        try:
            async with asyncio.timeout(60):
                while True:
                    changed.clear()
                    seen = await self.events(session)
                    if sum(isinstance(event, kind) for event in seen) >= count:
                        return seen
                    await changed.wait()
        finally:
            unwatch()

    def summary(self, session: str) -> Any:
        return next(one for one in self.host.sessions() if one.session == session)


@asynccontextmanager
async def place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pace: HistoryTimes | None = None, **options: object
) -> AsyncIterator[Place]:
    script = folder / "echo.yaml"
    script.write_text(ECHO)
    work = folder / "work"
    work.mkdir(exist_ok=True)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    own_home(folder, monkeypatch)
    settings = Settings.model_validate(
        {
            "journal": "memory",
            "agent": "echo",
            "agents": {"echo": [sys.executable, "-m", "turnwire.scripted_agent", str(script)]},
            "pass_env": ["PYTHONPATH"],
            "state_dir": folder / "state",
            "frontend_workspaces": [work],
            "history_dirs": [folder / "home" / "projects"],
            **options,
        }
    )
    store, registry, journal = MemorySessions(), SessionRegistry[LiveSession](), MemoryJournal()
    record_writer = RecordWriter(store)
    async with Watchdog.start() as watchdog, supervised() as supervisor:
        services = SessionServices(
            settings=settings,
            journal=journal,
            watchdog=watchdog,
            audit=lambda session: None,
            grants=None,
            spawn=supervisor.spawn,
            save=record_writer.save,
            keep=record_writer.keep,
            forget=record_writer.forget,
            changed=registry.changed,
            observers=lambda session, agent: [],
        )
        host = LiveHost(services, store, registry, Rulebook(), follow_s=0.01, pace=pace)
        try:
            yield Place(folder, host, journal)
        finally:
            await host.stop()
            await record_writer.flush()


def prompts(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.UserMessage) and not event.synthetic]


def around(events: list[AgentEvent]) -> list[ev.History]:
    """What says where older parts of the conversation begin and end."""
    return [event for event in events if isinstance(event, ev.History)]


def cuts(events: list[AgentEvent]) -> list[ev.Cut]:
    return [event for event in events if isinstance(event, ev.Cut)]


async def test_a_conversation_is_listed_opened_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        before = file.read_bytes()
        (listed,) = (await here.do("library.list"))["conversations"]
        assert (listed["id"], listed["turns"], listed["running"], listed["session"]) == (
            file.stem,
            3,
            False,
            None,
        )
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        assert (await here.do("library.open", conversation=file.stem))["session"] == opened
        seen = await here.events(opened)
        assert [prompt.split()[0] for prompt in prompts(seen)] == ["Touch", "Touch", "Ask"]
        assert [event.state for event in around(seen)] == ["began", "ended"]
        assert {(event.conversation, event.turns) for event in around(seen)} == {(file.stem, 3)}
        assert [*around(seen)] == [seen[0], seen[-1]]
        shown = here.summary(opened)
        assert (shown.state, shown.cli_session_id, shown.followed) == ("exited", file.stem, None)
        assert shown.total_cost_usd == pytest.approx(0.0049584)
        assert (await here.do("library.list"))["conversations"][0]["session"] == opened
        await here.do("prompt", session=opened, text="and now")
        seen = await here.until(opened, ev.Complete, 4)
        assert [event.operation_id for event in seen if isinstance(event, ev.TurnStarted)][-1] == "turn-4"
        (started,) = [event for event in seen if isinstance(event, ev.ProcessStatus)]
        assert (started.state, started.resumed) == ("started", True)
        assert file.read_bytes() == before


@pytest.mark.parametrize("agent", ["codex", "qwen"])
async def test_another_agents_conversation_is_opened_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    source = kept_file(agent)
    below = {"codex": ("2026", "11", "22"), "qwen": ("project", "chats")}[agent]
    file = tmp_path.joinpath("home", "projects", *below, source.name)
    family = {"codex": "acp", "qwen": "qwen"}[agent]
    script = tmp_path / "echo.yaml"
    speaks = ["--family", "acp"] if family == "acp" else []
    agents = {
        agent: {
            "command": [sys.executable, "-m", "turnwire.scripted_agent", str(script), *speaks],
            "family": family,
        }
    }
    async with place(tmp_path, monkeypatch, agents=agents) as here:
        file.parent.mkdir(parents=True)
        file.write_bytes(source.read_bytes().replace(b"/workspace/project", str(here.work).encode()))
        (listed,) = (await here.do("library.list"))["conversations"]
        assert (listed["agent"], listed["turns"], listed["folder"]) == (agent, 2, str(here.work))
        opened = (await here.do("library.open", conversation=listed["id"]))["session"]
        seen = await here.events(opened)
        assert prompts(seen) == ["Remember 4711 and write it down.", "Which number was it?"]
        assert [event.data.outcome for event in seen if isinstance(event, ev.Complete)] == ["completed"] * 2
        shown = here.summary(opened)
        assert (shown.agent, shown.cli_session_id, shown.state) == (agent, listed["id"], "exited")
        hits = (await here.do("library.search", text="4711"))["hits"]
        assert {hit["id"] for hit in hits} == {opened}
        (spent,) = (await here.do("library.usage", by=["agent"]))["usage"]
        assert (spent["group"], spent["answers"], spent["input_tokens"]) == ({"agent": agent}, 4, 400)
        await here.do("prompt", session=opened, text="and now")
        seen = await here.until(opened, ev.Complete, 3)
        assert [event.operation_id for event in seen if isinstance(event, ev.TurnStarted)] == [
            "turn-1",
            "turn-2",
            "turn-3",
        ]
        assert prompts(seen)[-1] == "and now"
        assert file.read_bytes().count(b"4711") == source.read_bytes().count(b"4711")


async def test_an_agent_goes_on_with_its_own_conversations_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        source = kept_file("codex")
        file = here.projects / "2026" / "11" / "22" / source.name
        file.parent.mkdir(parents=True)
        file.write_bytes(source.read_bytes().replace(b"/workspace/project", str(here.work).encode()))
        (listed,) = (await here.do("library.list"))["conversations"]
        assert await here.refused("session.create", resume=listed["id"], agent="echo") == "invalid_params"
        # the agent is not here, which is no reason not to read what it has kept
        opened = (await here.do("library.open", conversation=listed["id"]))["session"]
        assert len(prompts(await here.events(opened))) == 2


async def test_a_conversation_that_an_agent_keeps_itself_is_gone_on_with_and_told_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = [sys.executable, "-I", str(AGENT), "lists", "resumes"]
    agents = {"keeper": {"command": argv, "family": "acp"}, "other": argv}
    async with place(tmp_path, monkeypatch, agent="other", agents=agents) as here:
        asks: dict[str, object] = {"agent": "keeper", "workspace": str(here.work)}
        created = (await here.do("session.create", resume="agent-session-1", **asks))["session"]
        await here.do("prompt", session=created, text="text")
        seen = await here.until(created, ev.Complete)
        assert prompts(seen) == ["an old prompt", "text"]
        assert [one.history for one in seen if isinstance(one, ev.UserMessage)] == [True, None]
        # from now on the log has it
        await here.do("session.close", session=created)
        await here.do("prompt", session=created, text="text")
        seen = await here.until(created, ev.Complete, 2)
        assert prompts(seen) == ["an old prompt", "text", "text"]
        # which conversations there are, the agent says; whose they are, it does not
        count = len(here.host.sessions())
        assert await here.refused("session.create", resume="lost", **asks) == "refused_by_cli"
        guest = Frontend("guest", "control", "guest", Scope(folders=(str(here.work),)))
        command = frames.commands.validate_python(
            {"type": "session.create", "id": "1", "resume": "agent-session-1", **asks}
        )
        with pytest.raises(CommandRefused, match="there is no conversation"):
            await here.host.execute(command, guest)
        assert len(here.host.sessions()) == count


async def test_a_session_is_created_from_a_conversation_and_called_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        with file.open("ab") as out:
            out.write(b'{"type":"custom-title","customTitle":"Of colours","sessionId":"x"}\n')
        created = (await here.do("session.create", resume=file.stem, prompt="go on"))["session"]
        seen = await here.until(created, ev.Complete, 4)
        assert prompts(seen)[-1] == "go on"
        assert here.summary(created).title == "Of colours"
        assert here.summary(created).workspace == str(here.work)
        await here.do("session.rename", session=created, title="Of a colour")
        assert here.summary(created).title == "Of a colour"


async def test_what_frontends_may_not_work_in_they_may_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        file = here.keep("denied", elsewhere)
        assert await here.refused("session.create", resume=file.stem) == "not_allowed"
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        assert len(prompts(await here.events(opened))) == 3
        assert await here.refused("prompt", session=opened, text="x") == "not_allowed"
        assert await here.refused("session.resume", session=opened) == "not_allowed"
        assert await here.refused("session.fork", session=opened) == "not_allowed"
        assert await here.refused("session.retry", session=opened) == "not_allowed"
        assert await here.refused("workspace.diff", session=opened) == "not_allowed"
        assert await here.refused("workspace.files", session=opened) == "not_allowed"
        assert len(here.host.sessions()) == 1


async def test_a_conversation_that_somebodys_cli_has_open_is_followed_and_takes_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        noted = here.projects.parent / "sessions" / "1.json"
        noted.parent.mkdir()
        noted.write_text(json.dumps({"pid": os.getpid(), "sessionId": file.stem}))
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        assert here.summary(opened).followed
        assert await here.refused("prompt", session=opened, text="x") == "followed"
        told = {
            "type": "user",
            "uuid": "u9",
            "sessionId": file.stem,
            "message": {"role": "user", "content": "from there"},
        }
        last = [line for line in file.read_bytes().split(b"\n") if b'"uuid"' in line][-1]
        told["parentUuid"] = json.loads(last)["uuid"]
        line = json.dumps(told).encode()
        with file.open("ab") as out:
            out.write(line[:20])
            out.flush()
            await here.do("library.list")
            out.write(line[20:] + b"\n")
        seen = await here.until(opened, ev.TurnStarted, 4)
        assert prompts(seen)[-1] == "from there"
        noted.unlink()
        seen = await here.until(opened, ev.Complete, 4)
        await here.do("prompt", session=opened, text="from here")
        seen = await here.until(opened, ev.Complete, 5)
        assert prompts(seen)[-1] == "from here"
        assert here.summary(opened).followed is None


async def test_what_others_permitted_their_cli_is_not_permitted_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("compact")
        assert b'"permissionMode":"bypassPermissions"' in file.read_bytes()
        session = (await here.do("session.create", resume=file.stem))["session"]
        live = here.host._registry.sessions[session]
        assert (live.record.permission_mode, here.summary(session).permission_mode) == (None, None)
        assert here.summary(session).model == "claude-opus-5-5"
        assert live.record.model is None


async def test_a_fork_shows_its_parents_conversation_up_to_where_it_was_branched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        whole = (await here.do("session.fork", session=opened))["session"]
        assert prompts(await here.events(whole)) == prompts(await here.events(opened))
        first, *_ = [event for event in await here.events(opened) if isinstance(event, ev.Complete)]
        fork = (await here.do("session.fork", session=opened, at=first.data.resume_token))["session"]
        await here.do("prompt", session=fork, text="another way")
        seen = await here.until(fork, ev.Complete, 2)
        assert [prompt.split()[0] for prompt in prompts(seen)] == ["Touch", "another"]
        assert [(event.state, event.forked_from, event.at) for event in around(seen)] == [
            (state, opened, first.data.resume_token) for state in ("began", "ended")
        ]
        calls = {event.tool_call_id for event in seen if isinstance(event, ev.ToolCall)}
        ended = [
            event.tool_call_id
            for event in seen
            if isinstance(event, ev.ToolUpdate) and event.tool_status != "running"
        ]
        assert sorted(calls) == sorted(ended)


@pytest.mark.long
async def test_going_back_names_the_cut_and_the_turns_that_are_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        first, *_ = [event for event in await here.events(opened) if isinstance(event, ev.Complete)]
        at = first.data.resume_token
        await here.do("session.resume", session=opened, at=at)
        await here.do("prompt", session=opened, text="again")
        seen = await here.until(opened, ev.Complete, 4)
        (cut,) = cuts(seen)
        assert (cut.reason, cut.at, cut.void_turns, cut.within) == ("rewind", at, ["turn-2", "turn-3"], None)
        fork = (await here.do("session.fork", session=opened))["session"]
        assert [prompt.split()[0] for prompt in prompts(await here.events(fork))] == ["Touch", "again"]
        await here.do("session.retry", session=opened)
        seen = await here.until(opened, ev.Complete, 5)
        assert (cuts(seen)[-1].reason, cuts(seen)[-1].void_turns) == ("retry", ["turn-4"])
        assert prompts(seen)[-2:] == ["again", "again"]


async def test_a_message_that_no_file_and_no_log_has_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        session = (await here.do("session.create", resume=file.stem, prompt="on"))["session"]
        seen = await here.until(session, ev.Complete, 4)
        live = here.host._registry.sessions[session]
        # as a session that turnwire itself did not begin: its log does not reach back
        live.amend(options={**live.record.options, "origin": {"resume": file.stem}}, cli_session_id=file.stem)
        assert await here.refused("session.resume", session=session, at="no-such-message") == "invalid_params"
        assert await here.refused("session.fork", session=session, at="no-such-message") == "invalid_params"
        assert sum(isinstance(event, ev.ProcessStatus) for event in await here.events(session)) == 1
        assert len(seen) == len(await here.events(session))


async def test_words_are_found_in_conversations_and_in_sessions_and_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        (hit,) = [
            hit
            for hit in (await here.do("library.search", text="Red it is"))["hits"]
            if hit["kind"] == "text"
        ]
        assert (hit["source"], hit["id"]) == ("library", file.stem)
        assert hit["snippet"][0] == {"text": "Red", "hit": True}
        session = (await here.do("session.create", workspace=str(here.work), prompt="a violet word"))[
            "session"
        ]
        await here.until(session, ev.Complete)
        hits = (await here.do("library.search", text="violet"))["hits"]
        assert {(hit["source"], hit["id"], hit["kind"]) for hit in hits} == {
            ("live", session, "prompt"),
            ("live", session, "text"),
        }
        seen = await here.events(session)
        assert {seen[hit["seq"] - 1].type for hit in hits} == {"user_message", "message_chunk"}
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        hits = (await here.do("library.search", text="Red it is"))["hits"]
        assert {(hit["source"], hit["id"]) for hit in hits} == {("live", opened)}
        await here.do("session.delete", session=session)
        assert (await here.do("library.search", text="violet"))["hits"] == []
        assert await here.refused("library.search", text='"') == "invalid_params"


async def test_usage_counts_conversations_and_sessions_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        (spent,) = (await here.do("library.usage", by=["agent"]))["usage"]
        assert spent["cost_usd"] == pytest.approx(0.0049584)
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        assert (await here.do("library.usage", by=["agent"]))["usage"] == [spent]
        await here.do("prompt", session=opened, text="and now")
        *_, more = await here.until(opened, ev.Complete, 4)
        assert isinstance(more, ev.Complete)
        session = (await here.do("session.create", workspace=str(here.work), prompt="x"))["session"]
        seen = await here.until(session, ev.Complete)
        (complete,) = [event for event in seen if isinstance(event, ev.Complete)]
        both = {one["group"]["agent"]: one for one in (await here.do("library.usage", by=["agent"]))["usage"]}
        # this agent writes no file: what it took stands in the log alone
        for kind in ("input_tokens", "output_tokens"):
            assert both["claude"][kind] == spent[kind] + getattr(more.data, kind)
        assert both["claude"]["answers"] == spent["answers"]
        assert both["echo"]["input_tokens"] >= (complete.data.input_tokens or 0)
        assert await here.refused("library.usage", since="2026-02-31") == "invalid_params"


async def test_a_conversation_that_is_open_and_idle_in_a_terminal_has_no_turn_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        noted = here.projects.parent / "sessions" / "1.json"
        noted.parent.mkdir()
        noted.write_text(json.dumps({"pid": os.getpid(), "sessionId": file.stem}))
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        seen = await here.events(opened)
        begun = [event for event in seen if isinstance(event, ev.TurnStarted)]
        done = [event for event in seen if isinstance(event, ev.Complete)]
        assert here.summary(opened).followed
        assert len(begun) == len(done) > 0
        assert done[-1].data.outcome == "completed"


async def test_what_follows_a_conversation_ends_without_a_word_when_the_host_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        before = asyncio.all_tasks()
        await here.do("library.open", conversation=file.stem)
        following = asyncio.all_tasks() - before
        await here.host.stop()
        async with asyncio.timeout(10):
            await asyncio.wait(following)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []


async def test_a_script_goes_on_with_nobodys_real_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, agent="demo") as here:
        file = here.keep("denied")
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        assert here.summary(opened).agent == "claude"
        refused = await here.refused("session.create", resume=file.stem, agent="demo")
        assert refused == "invalid_params"


async def test_what_a_session_has_used_is_in_the_index_though_nobody_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, journal="sqlite") as here:
        session = (await here.do("session.create", workspace=str(here.work), prompt="x"))["session"]
        seen = await here.until(session, ev.Complete)
    (complete,) = [event for event in seen if isinstance(event, ev.Complete)]
    index = Index(tmp_path / "state" / "library.sqlite3", prices())
    (spent,) = index.usage(["agent", "session"])
    index.close()
    assert spent.group == {"agent": "echo", "session": f"live:{session}"}
    assert spent.input_tokens == complete.data.input_tokens


async def test_an_index_that_cannot_be_opened_costs_no_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "library.sqlite3").mkdir()
    async with place(tmp_path, monkeypatch, journal="sqlite") as here:
        session = (await here.do("session.create", workspace=str(here.work), prompt="x"))["session"]
        await here.until(session, ev.Complete)


async def test_documents_of_both_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        told = await here.do("library.export", conversation=file.stem, format="html")
        assert told["name"].endswith(".html")
        assert "Red it is." in told["content"]
        session = (await here.do("session.create", workspace=str(here.work), prompt="a violet word"))[
            "session"
        ]
        await here.until(session, ev.Complete)
        told = await here.do("library.export", conversation=f"live:{session}", redact=True)
        assert "echo: a violet word" in told["content"]
        assert await here.refused("library.export", conversation="live:nobody") == "unknown_session"
        assert await here.refused("library.export", conversation="nobody") == "unknown_conversation"


async def test_a_conversation_is_renamed_beside_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        before = file.read_bytes()
        await here.do("library.rename", conversation=file.stem, title="Colours")
        assert (await here.do("library.list"))["conversations"][0]["title"] == "Colours"
        await here.do("library.rename", conversation=file.stem)
        assert (await here.do("library.list"))["conversations"][0]["title"].startswith("Touch")
        assert file.read_bytes() == before


async def test_pages_of_the_list_go_on_where_the_last_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        names = {here.keep(scenario).stem for scenario in ("denied", "subagent", "compact")}
        seen: list[str] = []
        after = None
        while True:
            page = await here.do("library.list", limit=1, before=after)
            seen += [one["id"] for one in page["conversations"]]
            after = page["next"]
            if after is None:
                break
        assert len(seen) == 3
        assert set(seen) == names
        assert await here.refused("library.list", before="nonsense") == "invalid_params"


EAGER = HistoryTimes(fresh_s=0, every_s=0.01, share=1, wait_s=60)


async def test_who_waits_for_another_list_is_answered_when_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, EAGER) as here:
        first = here.keep("denied")
        known = await here.do("library.list")
        again = await here.do("library.list", known="another")
        assert again == known
        waits = asyncio.ensure_future(here.do("library.list", known=known["version"]))
        elsewhere = asyncio.ensure_future(
            here.do(
                "library.list",
                folder="/elsewhere",
                known=(await here.do("library.list", folder="/elsewhere"))["version"],
            )
        )
        second = here.keep("subagent")
        async with asyncio.timeout(60):
            new = await waits
        assert {one["id"] for one in new["conversations"]} == {first.stem, second.stem}
        assert new["version"] != known["version"]
        # what does not concern a list answers nobody who waits for it
        waits = asyncio.ensure_future(here.do("library.list", known=new["version"]))
        second.unlink()
        async with asyncio.timeout(60):
            gone = await waits
        assert gone == known
        assert not elsewhere.done()
        # nor does an end of the sidecar leave one waiting
        await here.host.stop()
        async with asyncio.timeout(60):
            await asyncio.gather(elsewhere, return_exceptions=True)


async def test_who_may_see_some_conversations_hears_of_changes_of_these_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, EAGER) as here:
        mine = tmp_path / "mine"
        mine.mkdir()
        guest = Frontend("guest", "view", "guest", Scope(folders=(str(mine),)))

        async def ask(**more: object) -> Any:
            command = frames.commands.validate_python({"type": "library.list", "id": "1", **more})
            return await here.host.execute(command, guest)

        nothing = await ask()
        assert nothing["conversations"] == []
        waits = asyncio.ensure_future(ask(known=nothing["version"]))
        everything = asyncio.ensure_future(here.do("library.list", known=nothing["version"]))
        here.keep("denied")
        async with asyncio.timeout(60):
            assert len((await everything)["conversations"]) == 1
        assert not waits.done()
        own = here.keep("subagent", mine)
        async with asyncio.timeout(60):
            assert [one["id"] for one in (await waits)["conversations"]] == [own.stem]


async def test_waiting_for_another_list_ends_after_a_while_and_only_so_many_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, replace(EAGER, wait_s=0)) as here:
        here.keep("denied")
        known = await here.do("library.list")
        assert await here.do("library.list", known=known["version"]) == known
    async with place(tmp_path, monkeypatch, replace(EAGER, most_waiting=1)) as here:
        known = await here.do("library.list")
        waits = asyncio.ensure_future(here.do("library.list", known=known["version"]))
        await asyncio.sleep(0)
        assert await here.refused("library.list", known=known["version"]) == "rate_limited"
        assert (await here.do("library.list")) == known
        await here.host.stop()
        async with asyncio.timeout(60):
            await asyncio.gather(waits, return_exceptions=True)


async def test_a_list_answers_once_the_newest_are_read_while_the_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, took, answered = Index._take, list[str](), threading.Event()

    def taken(index: Index, file: SessionPath) -> None:
        # behind the newest, the look goes on only for an answer that waits for it
        while len(took) > PAGE + TOLD and not (answered.is_set() or index._door.locked()):
            time.sleep(0.001)
        take(index, file)
        took.append(Path(file.path).stem)

    monkeypatch.setattr(Index, "_take", taken)
    async with place(tmp_path, monkeypatch, HistoryTimes(patience_s=3600)) as here:
        source = here.keep("denied")
        names = [str(UUID(int=number)) for number in range(2 * PAGE)]
        for age, name in enumerate(names):
            copy = source.with_stem(name)
            copy.write_bytes(source.read_bytes())
            os.utime(copy, (2_000_000_000 - age, 2_000_000_000 - age))
        try:
            async with asyncio.timeout(60):
                told = await here.do("library.list")
            assert (told["complete"], len(told["conversations"])) == (False, 100)
            assert {one["id"] for one in told["conversations"]} <= set(names[: PAGE + 2 * TOLD])
            assert took[:PAGE] == names[:PAGE]
        finally:
            answered.set()
        async with asyncio.timeout(60):
            assert (await here.do("library.list", limit=PAGE + 1))["complete"]
        assert len(took) == 2 * PAGE + 1


async def test_looks_are_fewer_where_one_takes_long() -> None:
    assert HistoryTimes(every_s=2, share=0.05).pause(0.01) == 2
    assert HistoryTimes(every_s=2, share=0.05).pause(1) == 20


async def test_the_library_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with place(tmp_path, monkeypatch, history=False) as here:
        file = here.keep("denied")
        for kind, more in (
            ("library.list", {}),
            ("library.search", {"text": "x"}),
            ("library.open", {"conversation": file.stem}),
            ("library.usage", {}),
            ("session.create", {"resume": file.stem}),
        ):
            assert await here.refused(kind, **more) == "no_library"
        assert here.host.sessions() == []


async def test_a_conversation_that_is_not_there_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        for name in ("nobody", "../../etc/passwd", "", "%"):
            assert await here.refused("library.open", conversation=name) == "unknown_conversation"
            assert await here.refused("session.create", resume=name) == "unknown_conversation"
        assert here.host.sessions() == []


def test_the_role_view_reads_and_changes_nothing() -> None:
    assert {kind for kind in VIEW_COMMANDS if kind.startswith("library.")} == {
        "library.list",
        "library.search",
        "library.export",
        "library.usage",
    }


async def test_what_differs_in_a_workspace_and_its_files_are_told_to_who_may_steer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        opened = (await here.do("session.create", workspace=str(here.work)))["session"]
        (here.work / "new.txt").write_text("n\n")
        assert await here.do("workspace.files", session=opened, text="nw") == {
            "files": ["new.txt"],
            "complete": True,
        }
        assert await here.refused("workspace.diff", session=opened) == "no_repository"
        subprocess.run(["git", "init", str(here.work)], check=True, capture_output=True)
        told = await here.do("workspace.diff", session=opened)
        (file,) = told["files"]
        assert (told["base"], told["complete"], file["path"], file["status"]) == (
            None,
            True,
            "new.txt",
            "untracked",
        )
        assert await here.do("workspace.diff", session=opened, path="new.txt") == {
            "patch": "@@ -0,0 +1 @@\n+n\n",
            "cut": False,
            "binary": False,
        }
        assert await here.refused("workspace.diff", session=opened, path="other.txt") == "unknown_file"
        assert await here.refused("workspace.diff", session="none") == "unknown_session"
        assert not {"workspace.diff", "workspace.files"} & VIEW_COMMANDS


def begun(here: Place) -> NewSession:
    return NewSession(workspace=str(here.work), agent="echo")


async def test_what_the_operator_goes_on_with_is_shown_from_its_file_as_far_as_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        noted = here.projects.parent / "sessions" / "1.json"
        noted.parent.mkdir()
        noted.write_text(json.dumps({"pid": os.getpid(), "sessionId": file.stem}))
        with pytest.raises(CommandRefused, match="go on with --fork-session"):
            await here.host.open(begun(here), ResumePoint(file.stem))
        assert here.host.sessions() == []
        # a fork takes nothing from whoever has it open
        fork = await here.host.open(begun(here), ResumePoint(file.stem, branch=True))
        assert len(prompts(await here.events(fork.session))) == 3
        noted.unlink()
        latest = await here.host.open(begun(here), ResumePoint(latest=True))
        assert latest.record.options["conversation"] == file.stem
        assert prompts(await here.events(latest.session)) == prompts(await here.events(fork.session))
        # a message that the file has not, and a conversation that is none of this folder's: the CLI may know both
        odd = await here.host.open(begun(here), ResumePoint(file.stem, at="never-said", branch=True))
        unknown = await here.host.open(begun(here), ResumePoint("never-kept-here"))
        for one in (odd, unknown):
            assert prompts(await here.events(one.session)) == []


async def test_a_conversation_of_elsewhere_is_not_opened_where_it_does_not_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, max_sessions=1) as here:
        file, other = here.keep("denied"), here.keep("subagent")
        other_place = str(tmp_path / "elsewhere")
        assert (
            await here.refused("session.create", resume=file.stem, workspace=other_place) == "invalid_params"
        )
        guest = Frontend("guest", "control", "guest", Scope(folders=(str(tmp_path / "guests"),)))
        for asked in (
            frames.LibraryOpen(type="library.open", id="1", conversation=file.stem),
            frames.LibraryExport(type="library.export", id="1", conversation=file.stem),
            frames.SessionCreate(type="session.create", id="1", resume="never-kept-here", agent="echo"),
        ):
            with pytest.raises(CommandRefused) as refused:
                await here.host.execute(asked, guest)
            assert refused.value.code == "unknown_conversation"
        opened = (await here.do("library.open", conversation=file.stem))["session"]
        assert (await here.do("library.open", conversation=file.stem))["session"] == opened, "it is there"
        assert await here.refused("library.open", conversation=other.stem) == "limit_sessions"


async def test_a_conversation_whose_file_goes_as_it_is_opened_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        await here.do("library.list")
        file.unlink()
        assert await here.refused("library.open", conversation=file.stem) == "unknown_conversation"
        assert await here.host._history.has_message(file.stem, "m") is None
        assert here.host.sessions() == []


async def test_a_library_that_cannot_be_opened_is_refused_in_a_sentence_and_knows_of_no_conversation_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.json").write_text("{")
    async with place(tmp_path, monkeypatch, prices=tmp_path / "prices.json") as here:
        file = here.keep("denied")
        assert await here.refused("library.list") == "no_library"
        assert await here.host._history.remembered("echo", None, file.stem) is None
    assert await here.refused("library.list") == "no_library", "nor where the sidecar is stopping"


async def test_the_end_of_a_long_log_is_indexed_with_what_came_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        session = (await here.do("library.open", conversation=file.stem))["session"]
        turns: list[AgentEvent] = []
        for number in range(PIECE + 1):
            name = f"turn-{number + 9}"
            data = ev.CompleteData(outcome="completed", is_error=False)
            turns += [
                ev.TurnStarted(operation_id=name, origin="user", prompts=[]),
                ev.UserMessage(operation_id=name, text=f"violet{number}", uuid=f"u{number}"),
                ev.Complete(operation_id=name, data=data),
            ]
        await here.journal.append(session, [Entry(b'{"type":"of another release"}')])
        await here.journal.append(session, [Entry(to_json(event)) for event in turns])
        for number in (0, PIECE - 1, PIECE):
            (hit,) = (await here.do("library.search", text=f'"violet{number}"'))["hits"]
            assert (hit["id"], hit["message"]) == (session, f"u{number}")


async def test_a_conversation_goes_on_in_the_session_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        first = (await here.do("session.create", resume=file.stem, prompt="one"))["session"]
        await here.until(first, ev.Complete, 4)
        for more in ({}, {"prompt": "two"}, {"agent": "echo", "title": "mine"}):
            again = await here.do("session.create", resume=file.stem, **more)
            assert again == {"session": first}, more
        await here.until(first, ev.Complete, 5)
        assert await here.do("library.open", conversation=file.stem) == {"session": first}
        # another wish than it has is refused, and names it
        for wish in (
            {"policy": "plan"},
            {"model": "other"},
            {"permission_mode": "plan"},
            {"options": {"max_turns": 3}},
        ):
            with pytest.raises(CommandRefused) as caught:
                await here.do("session.create", resume=file.stem, **wish)
            assert (caught.value.code, caught.value.field) == ("in_session", next(iter(wish)))
            assert first in caught.value.message
        # of one whose agent has ended, too; the operator's own way there as well
        await here.do("session.close", session=first)
        assert await here.do("session.create", resume=file.stem) == {"session": first}
        opened = await here.host.open(NewSession(workspace=str(here.work)), ResumePoint(file.stem))
        assert opened.session == first
        assert opened.cli is not None
        await here.do("session.close", session=first)
        latest = await here.host.open(NewSession(workspace=str(here.work)), ResumePoint(latest=True))
        assert latest.session == first
        # a branch is another conversation
        branched = await here.host.open(NewSession(), ResumePoint(file.stem, branch=True), starts=False)
        assert branched.session != first
        assert len(here.host.sessions()) == 2


async def test_what_was_decided_for_a_session_holds_when_the_operator_goes_on_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        wish = {"policy": "supervised", "options": {"disallowed_tools": ["Bash"]}}
        first = (await here.do("session.create", resume=file.stem, prompt="one", **wish))["session"]
        await here.until(first, ev.Complete, 4)
        await here.do("session.close", session=first)
        opened = await here.host.open(NewSession(), ResumePoint(file.stem), starts=False)
        assert opened.record.policy == "supervised"
        assert RecordOptions.from_record(opened.record).agent_options == {"disallowed_tools": ["Bash"]}
        opened = await here.host.open(NewSession(policy="plan"), ResumePoint(file.stem), starts=False)
        assert (opened.session, opened.record.policy) == (first, "plan")


@pytest.mark.parametrize("sees", [True, False])
async def test_the_session_of_another_that_has_a_conversation_is_named_to_those_who_see_it(
    sees: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        scope = Scope.parse([f"folder:{here.work}"])
        ann, bob = (Frontend(f"user:{name}", "control", name, scope) for name in ("ann", "bob"))

        async def asks(frontend: Frontend, kind: str, **more: object) -> Any:
            command = frames.commands.validate_python({"type": kind, "id": "1", **more})
            return await here.host.execute(command, frontend)

        first = (await asks(ann, "session.create", resume=file.stem, prompt="one"))["session"]
        await here.until(first, ev.Complete, 4)
        if not sees:
            # as one in a worktree of a repository elsewhere
            monkeypatch.setattr(Frontend, "sees", lambda frontend, one: one.owner == frontend.user)
        for frontend, kind, more in (
            (bob, "session.create", {"resume": file.stem}),
            (bob, "session.create", {"resume": file.stem, "prompt": "two"}),
        ):
            with pytest.raises(CommandRefused) as caught:
                await asks(frontend, kind, **more)
            assert caught.value.code == "in_session"
            assert (first in caught.value.message) is sees
        if not sees:
            # to read it is no fault, but not to go on with it
            read = (await asks(bob, "library.open", conversation=file.stem))["session"]
            assert read != first
            for _ in range(2):
                with pytest.raises(CommandRefused) as caught:
                    await asks(bob, "prompt", session=read, text="two")
                assert caught.value.code == "in_session"
                assert first not in caught.value.message
                await here.do("session.close", session=first)
        (started,) = [one for one in await here.events(first) if isinstance(one, ev.ProcessStatus)][:1]
        assert started.state == "started"
        assert prompts(await here.events(first))[3:] == ["one"]


async def test_two_sessions_of_one_conversation_never_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch) as here:
        file = here.keep("denied")
        read = (await here.do("library.open", conversation=file.stem))["session"]
        record = here.host.record(read)
        assert record is not None
        # as an earlier version has made one beside it
        twin = await here.host.open(NewSession(workspace=str(here.work)), starts=False)
        twin.amend(cli_session_id=file.stem, turns=1)
        both = [here.do("prompt", session=one, text="on") for one in (twin.session, read)]
        answers = await asyncio.gather(*both, return_exceptions=True)
        codes = [one.code for one in answers if isinstance(one, CommandRefused)]
        assert codes == ["in_session"]
        assert sum(isinstance(one, dict) for one in answers) == 1
        await here.do("session.close", session=twin.session)
        # after its end either may, but not both
        twin.amend(cli_session_id=file.stem, turns=1)
        late = await here.host.open(NewSession(workspace=str(here.work)), starts=False)
        late.amend(cli_session_id=file.stem, turns=1)
        both = [here.do("session.resume", session=one.session) for one in (twin, late)]
        answers = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(type(one).__name__ for one in answers) == ["CommandRefused", "dict"]
        for kind in ("session.resume", "session.retry"):
            stopped = next(one for one in (twin, late) if one.cli is None)
            assert await here.refused(kind, session=stopped.session) in {"in_session", "nothing_to_retry"}

"""The main job on real input: a real CLI (offline), `turnwire run`, and frontends on the WebSocket."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from hub.client import Client, connect
from hub.following import Following
from hub.frames_out import CaughtUp, EventFrame
from normalize.events import Complete, MessageChunk, PermissionRequest, ToolCall, ToolUpdate, TurnStarted
from real_cli import real_cli, real_cli_environment
from scripted_messages_api import ScriptedMessagesApi, plan, scripted_messages_api, text, tool_use
from turnwire_process import DEADLINE, Served, environment, turnwire


def cli_home(folder: Path, api_url: str) -> dict[str, str]:
    """turnwire's environment: the CLI's own, which turnwire must hand on by name alone."""
    own = real_cli_environment(folder / "home", api_url)
    names = ",".join(name for name in own if name not in {"HOME", "PATH", "LANG", "TZ", "SHELL"})
    return environment(folder / "home", **own, TURNWIRE_PASS_ENV=names)


@asynccontextmanager
async def running(
    folder: Path, api: ScriptedMessagesApi, *options: str
) -> AsyncIterator[tuple[Served, Client, str]]:
    """`turnwire run` on the real CLI, and a client of it."""
    command = ("run", *options, "--", str(real_cli()))
    async with (
        turnwire(folder, *command, env=cli_home(folder, api.url)) as served,
        connect(served.url) as client,
    ):
        yield served, client, client.known_sessions[0].session


async def until_complete(following: Following, client: Client, session: str) -> list[EventFrame]:
    """Take events up to the next `complete`, allowing what is asked."""
    seen: list[EventFrame] = []
    async with asyncio.timeout(DEADLINE):
        async for frame in following:
            if not isinstance(frame, EventFrame):
                continue
            seen.append(frame)
            if isinstance(frame.event, PermissionRequest):
                await client.respond(
                    session, frame.event.pending_id, frame.event.permission_options[0].option_id
                )
            if isinstance(frame.event, Complete):
                return seen
    raise AssertionError("the stream of events ended before the turn did")


async def until_caught_up(following: Following) -> list[EventFrame]:
    """Take all events that are there."""
    seen: list[EventFrame] = []
    async with asyncio.timeout(DEADLINE):
        async for frame in following:
            if isinstance(frame, CaughtUp):
                break
            if isinstance(frame, EventFrame):
                seen.append(frame)
    return seen


Kind = TypeVar("Kind")


def events(frames: list[EventFrame], kind: type[Kind]) -> list[Kind]:
    """Nothing but the events of a kind."""
    return [frame.event for frame in frames if isinstance(frame.event, kind)]


async def test_a_turn_that_writes_edits_and_lists_reaches_the_browser_socket_whole(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    path = str(project / "hello.txt")
    prompt = plan(
        [text("I write it."), tool_use("Write", file_path=path, content="hello\n")],
        [tool_use("Read", file_path=path)],
        [tool_use("Edit", file_path=path, old_string="hello", new_string="goodbye")],
        [
            tool_use(
                "Bash",
                command=f"ls {project} > {project}/listing.txt; cat {project}/listing.txt",
                description="List",
            )
        ],
        [text("All is done.")],
        note="write a file, edit it, run ls",
    )
    with scripted_messages_api() as api:
        async with running(tmp_path, api, "--workspace", str(project)) as (served, client, session):
            following = client.follow(session)
            await client.prompt(session, prompt)
            frames = await until_complete(following, client, session)

            assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
            assert [call.tool_name for call in events(frames, ToolCall)] == ["Write", "Read", "Edit", "Bash"]
            ended = [update for update in events(frames, ToolUpdate) if update.tool_status != "running"]
            assert [update.tool_status for update in ended] == ["complete"] * 4
            assert len(events(frames, PermissionRequest)) >= 2
            assert "".join(chunk.text for chunk in events(frames, MessageChunk)) == "I write it.All is done."
            assert Path(path).read_text(encoding="utf-8") == "goodbye\n"
            assert len(events(frames, TurnStarted)) == 1

            (complete,) = events(frames, Complete)
            assert complete.data.outcome == "completed"
            assert complete.data.is_error is False
            committed = complete.data.last_message_uuid
            assert committed is not None

            async with connect(served.view_url) as watcher:
                log = await until_caught_up(watcher.follow(session))
            assert len(events(log, Complete)) == 1
            assert [frame.event for frame in log][: len(frames)] == [frame.event for frame in frames]

        lines = await resume_at(tmp_path, project, api, session_of(frames), committed)
        assert lines[-1]["type"] == "result"
        assert lines[-1]["is_error"] is False
        assert len(api.requests[-1]["messages"]) > 5  # the model sees the conversation up to there


def session_of(frames: list[EventFrame]) -> str:
    """The CLI's own session id."""
    return next(frame.event.session_id for frame in reversed(frames) if frame.event.session_id)


async def resume_at(
    folder: Path, project: Path, api: ScriptedMessagesApi, cli_session: str, message: str
) -> list[dict[str, object]]:
    """Run the CLI by itself from a message of a session on."""
    process = await asyncio.create_subprocess_exec(
        real_cli(),
        *("-p", "go on", "--output-format", "stream-json", "--verbose"),
        *(f"--resume={cli_session}", f"--resume-session-at={message}"),
        cwd=project,
        env=real_cli_environment(folder / "home", api.url),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    return [json.loads(line) for line in stdout.split(b"\n") if line]


async def test_turns_follow_each_other_and_a_late_frontend_sees_them_all(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, api) as (served, client, session):
            following = client.follow(session)
            for word in ("first", "second"):
                await client.prompt(session, plan([text(f"{word} answer")]))
                await until_complete(following, client, session)
            async with connect(served.view_url) as watcher:
                late = watcher.follow(session)
                replayed = [await until_complete(late, watcher, session) for _ in range(2)]
            texts = ["".join(chunk.text for chunk in events(frames, MessageChunk)) for frames in replayed]
            assert texts == ["first answer", "second answer"]


async def test_an_interrupt_ends_the_turn_and_the_session_goes_on(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, api) as (_, client, session):
            following = client.follow(session)
            await client.prompt(
                session, plan([tool_use("Bash", command="echo begin; sleep 30", description="Wait")])
            )
            async with asyncio.timeout(DEADLINE):
                async for frame in following:
                    if isinstance(frame, EventFrame) and isinstance(frame.event, ToolCall):
                        break
            await client.interrupt(session)
            (complete,) = events(await until_complete(following, client, session), Complete)
            assert complete.data.outcome == "interrupted"
            await client.prompt(session, plan([text("still here")]))
            frames = await until_complete(following, client, session)
            assert "".join(chunk.text for chunk in events(frames, MessageChunk)) == "still here"


async def test_no_cli_is_left_when_turnwire_has_ended(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        async with running(tmp_path, api) as (served, client, session):
            await client.prompt(
                session, plan([tool_use("Bash", command="echo begin; sleep 300", description="Wait")])
            )
            children = descendants(served.process.pid)
            assert children
        assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []


def descendants(pid: int) -> list[int]:
    """The processes below a process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue  # it has ended meanwhile
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                found += [int(entry.name), *descendants(int(entry.name))]
    return found

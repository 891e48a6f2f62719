"""Recordings played to frontends: at their pace, paused, faster, ahead and back; several at once; in little memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from turnwire.client import BEGINNING, Client, CommandFailed, connect
from turnwire.client import events as ev
from turnwire.client.commands import ReplayControl
from turnwire.client.frames import EventFrame, SessionSummary
from turnwire_process import DEADLINE
from turnwire_process import preloaded_turnwire as turnwire

STEP_S = 3600.0
"""An hour between two lines: played at its pace, nothing goes on by itself within a test."""


def recording(folder: Path, name: str, lines: int) -> Path:
    """A recording of chunks of text, an hour apart."""
    path = folder / name
    rows = []
    for number in range(lines):
        text = {"type": "text", "text": f"<{number}>"}
        line = {"type": "assistant", "message": {"id": f"m{number}", "content": [text]}, "session_id": name}
        hour = f"2026-01-{1 + number // 24:02d}T{number % 24:02d}:00:00.000000Z"
        rows.append({"ts": hour, "protocol": "streamjson", "agent": name, "event": "recv", "data": line})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@asynccontextmanager
async def replaying(folder: Path, *arguments: str) -> AsyncIterator[Client]:
    async with (
        turnwire(folder, "replay", *arguments, "--serve", stdout_lines=1) as served,
        connect(served.url) as client,
    ):
        yield client


async def steer(client: Client, session: str, action: str, **more: float) -> str:
    """Send replay.control; returns the session that plays on."""
    command = msgspec.convert(
        {"type": "replay.control", "session": session, "action": action, **more}, ReplayControl
    )
    return (await client.command(command)).session


async def summary(client: Client, session: str) -> SessionSummary:
    return next(one for one in await client.sessions() if one.session == session)


async def ended(client: Client, session: str) -> None:
    async with asyncio.timeout(DEADLINE):
        async for frame in client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame) and isinstance(frame.event, ev.ProcessStatus):
                break
        while (await summary(client, session)).state != "exited":
            await client.sessions()


async def text_until(client: Client, session: str, end: str) -> str:
    """The session's text from its beginning until something stands in it."""
    text = ""
    async with asyncio.timeout(DEADLINE):
        async for frame in client.follow(session, BEGINNING):
            if isinstance(frame, EventFrame) and isinstance(frame.event, ev.MessageChunk):
                text += frame.event.text
                if end in text:
                    return text
    raise AssertionError("the log ended")


def spoken(numbers: range) -> str:
    return "".join(f"<{number}>" for number in numbers)


async def test_a_replay_seeks_ahead_and_back_as_a_new_session(tmp_path: Path) -> None:
    path = recording(tmp_path, "slow", 40)
    async with replaying(tmp_path, str(path), "--speed", "1") as client:
        session = "replay-1"
        assert await text_until(client, session, "<0>") == "<0>"
        assert (await summary(client, session)).state == "replaying"
        assert await steer(client, session, "seek", position=0.5) == session
        assert await text_until(client, session, "<19>") == spoken(range(20))
        position = (await summary(client, session)).position
        assert position is not None
        assert 0.45 < position < 0.55
        # What frontends have seen stays true: going back is another session, played up to there at once.
        again = await steer(client, session, "seek", position=0.25)
        assert again == "replay-1@2"
        assert await text_until(client, again, "<9>") == spoken(range(10))
        assert (await summary(client, session)).position == position


async def test_a_replay_is_paused_and_played_at_another_pace(tmp_path: Path) -> None:
    path = recording(tmp_path, "slow", 40)
    async with replaying(tmp_path, str(path)) as client:
        session = "replay-1"
        await text_until(client, session, "<0>")
        await steer(client, session, "pause")
        assert (await summary(client, session)).speed == 0
        await steer(client, session, "play", speed=1_000_000)
        assert (await summary(client, session)).speed == 1_000_000
        assert await text_until(client, session, "<39>") == spoken(range(40))
        await ended(client, session)
        assert (await summary(client, session)).position == 1


async def test_several_files_are_several_sessions_and_take_nothing_but_replay_commands(
    tmp_path: Path,
) -> None:
    files = [recording(tmp_path, f"file{number}", 3) for number in range(3)]
    async with replaying(tmp_path, *map(str, files), "--speed", "0") as client:
        for number in range(3):
            assert await text_until(client, f"replay-{number + 1}", "<2>") == spoken(range(3))
        titles = [one.title for one in await client.sessions()]
        assert titles == ["file0", "file1", "file2"]
        with pytest.raises(CommandFailed, match="plays a recording") as refused:
            await client.prompt("replay-1", "hello?")
        assert refused.value.code == "not_live"
        with pytest.raises(CommandFailed, match="position"):
            await steer(client, "replay-1", "seek")

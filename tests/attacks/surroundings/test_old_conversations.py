"""Somebody has left files among the conversations of this user, and somebody has no token, or one that may only read."""

import json
import os
from pathlib import Path

import pytest
from kept_sessions import kept

from turnwire.client import CommandFailed, connect
from turnwire.client import commands as ask
from turnwire_process import environment, turnwire

pytestmark = pytest.mark.long

ESCAPES = "\x1b]0;mine\x07\x1b[2J<script>alert(1)</script>"


def planted(home: Path) -> tuple[Path, str]:
    """A home with an honest conversation, and beside it what an attacker would leave there; the secret it is after."""
    projects = home / ".claude" / "projects"
    project = projects / "project"
    project.mkdir(parents=True)
    source = kept("2.1.330", "denied").file
    honest = project / source.name
    honest.write_bytes(source.read_bytes())
    secret = home / "secret.txt"
    secret.write_text("the-secret-of-this-home\n")
    (project / "link.jsonl").symlink_to(secret)
    (projects / "away").symlink_to(home)
    (honest.with_suffix("") / "subagents").mkdir(parents=True)
    (honest.with_suffix("") / "subagents" / "agent-a.jsonl").symlink_to(secret)
    os.mkfifo(project / "pipe.jsonl")
    whole = source.read_bytes()
    (project / "deep.jsonl").write_bytes(whole + b'{"parentUuid":' + b"[" * 200_000 + b"\n")
    (project / "numbers.jsonl").write_bytes(
        whole.replace(b'"input_tokens":100', b'"input_tokens":' + b"9" * 3000)
    )
    title = json.dumps({"type": "custom-title", "customTitle": ESCAPES, "sessionId": "x"}).encode()
    (project / "titled.jsonl").write_bytes(whole + title + b"\n")
    elsewhere = whole.replace(b'"cwd":"/workspace/project"', b'"cwd":"/etc"')
    (project / "elsewhere.jsonl").write_bytes(elsewhere)
    return honest, secret.read_text().strip()


async def test_planted_conversations_lead_nowhere_and_cost_no_other(tmp_path: Path) -> None:
    honest, secret = planted(tmp_path / "home")
    env = environment(tmp_path / "home")
    async with turnwire(tmp_path, "serve", env=env) as served, connect(served.url) as client:
        listed = await client.command(ask.LibraryList())
        names = {one.id for one in listed.conversations}
        assert names == {honest.stem, "deep", "numbers", "titled", "elsewhere"}
        for name in sorted(names):
            page = await client.command(ask.LibraryExport(conversation=str(name), format="html"))
            assert secret not in str(page)
            assert "<script" not in str(page)
        assert secret not in str(await client.command(ask.LibrarySearch(text="secret home")))
        for name in ("../../secret.txt", "link", "pipe", "away", "", "x" * 150):
            with pytest.raises(CommandFailed, match="unknown_conversation"):
                await client.command(ask.LibraryOpen(conversation=name))
        with pytest.raises(CommandFailed, match="not_allowed"):
            await client.command(ask.SessionCreate(resume="elsewhere"))
        assert await client.sessions() == []


async def test_without_a_token_nothing_is_told_and_with_one_to_read_nothing_is_opened(tmp_path: Path) -> None:
    honest, _ = planted(tmp_path / "home")
    env = environment(tmp_path / "home")
    async with turnwire(tmp_path, "serve", env=env) as served, connect(served.view_url) as watcher:
        assert (await watcher.command(ask.LibraryList())).conversations
        for command in (
            ask.LibraryOpen(conversation=honest.stem),
            ask.LibraryRename(conversation=honest.stem, title="mine"),
            ask.SessionCreate(resume=honest.stem),
        ):
            with pytest.raises(CommandFailed, match="forbidden"):
                await watcher.command(command)
    env = environment(tmp_path / "home", TURNWIRE_HISTORY="false")
    async with turnwire(tmp_path, "serve", env=env) as served, connect(served.url) as client:
        for told in (
            ask.LibraryList(),
            ask.LibrarySearch(text="Red"),
            ask.LibraryOpen(conversation=honest.stem),
        ):
            with pytest.raises(CommandFailed, match="no_library"):
                await client.command(told)

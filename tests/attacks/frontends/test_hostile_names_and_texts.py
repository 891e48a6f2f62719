"""Names that cannot be names, texts that keep patterns busy, and a repository whose configuration runs programs."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live import program, real_setup, running, scripted_setup
from scripted_messages_api import ScriptedMessagesApi, plan, scripted_messages_api, text
from turnwire.client import CommandFailed

pytestmark = pytest.mark.long

HANG = 120
"""Seconds after which something is taken to hang."""


@pytest.fixture
def api() -> Iterator[ScriptedMessagesApi]:
    with scripted_messages_api() as running_api:
        yield running_api


async def test_names_of_megabytes_and_workspaces_that_are_none_are_refused_by_their_field(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, scripted_setup(tmp_path, "2.1.330")) as (mine, _):
        bad: dict[str, list[dict[str, Any]]] = {
            "title": [{"title": "x" * (800 << 10)}],
            "workspace": [
                {"workspace": name} for name in ("a\0b", "~nosuchuser", "~nosuchuser/x", "x" * 5000)
            ],
        }
        for field, attempts in bad.items():
            for attempt in attempts:
                with pytest.raises(CommandFailed) as refused:
                    await mine.client.create(**attempt)
                assert (refused.value.code, refused.value.field) == ("invalid_params", field)
        assert [one.session for one in await mine.client.sessions()] == [mine.session]
        await mine.turn("echo still here")


@pytest.mark.parametrize("unit", ["a.", "eyJ.", "-eyJ", "key=", "http://a:", "\\\\u0041", "0x"])
async def test_redaction_of_a_text_that_keeps_patterns_busy_comes_to_its_end(
    tmp_path: Path, unit: str
) -> None:
    hostile = tmp_path / "hostile.txt"
    hostile.write_text(unit * (200_000 // len(unit)))
    redacting = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "turnwire", "redact", str(hostile), str(tmp_path / "out.txt")
    )
    try:
        async with asyncio.timeout(HANG):
            assert await redacting.wait() == 0
    finally:
        if redacting.returncode is None:
            redacting.kill()
    assert (tmp_path / "out.txt").stat().st_size > 0


async def test_a_repository_runs_nothing_of_its_own_when_changes_are_looked_for(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    setup = real_setup(tmp_path, api, str)
    project, ran = tmp_path / "project", tmp_path / "ran"
    hostile = f"sh -c 'touch {ran}; cat'"
    project.mkdir()
    git = program("git")
    subprocess.run([git, "init", "-q", str(project)], check=True)
    for name in (
        "filter.any.clean",
        "filter.any.process",
        "core.fsmonitor",
        "core.sshCommand",
        "diff.external",
    ):
        subprocess.run([git, "-C", str(project), "config", name, hostile], check=True)
    (project / ".gitattributes").write_text("* filter=any diff=any\n")
    (project / "new.txt").write_text("new\n")
    async with running(tmp_path, setup, "--policy", "supervised") as (mine, _):
        assert (await mine.turn(plan([text("I am done.")]))).data.outcome == "completed"
        assert "new.txt" in json.dumps(api.requests[-1]["messages"]), "the workspace was looked at"
    assert not ran.exists()

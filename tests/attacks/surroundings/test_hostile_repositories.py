"""A workspace is a repository that names programs, leads elsewhere, and is full of odd and huge things; a frontend asks for its changes."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from live import Frontend, running, scripted_setup
from turnwire.client import CommandFailed, connect
from turnwire.client import commands as ask

pytestmark = pytest.mark.long

HOOKS = ("post-index-change", "fsmonitor-watchman", "pre-commit", "post-checkout")
ODD = ("line\nbreak.txt", "a\u202egnp.exe", "<img src=x onerror=alert(1)>", "-rf", ":(glob)*")


def git(folder: Path, *arguments: str) -> None:
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null"}
    named = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", *named, *arguments], cwd=folder, env=env, check=True, capture_output=True)


def planted(folder: Path, outside: Path) -> Path:
    """Make the folder such a repository; the trace that any program named in it would leave."""
    outside.mkdir()
    (outside / "secret.txt").write_text("the-secret-beside-it\n")
    program, trace = outside / "program", outside / "trace"
    program.write_text(f"#!/bin/sh\ntouch {trace}\nexec cat\n")
    program.chmod(0o755)
    git(folder, "init")
    for name in ("a.txt", "b.any", "gone.txt"):
        (folder / name).write_text("a\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    for name, value in {
        "core.fsmonitor": program,
        "core.hooksPath": outside / "hooks",
        "core.pager": program,
        "core.sshCommand": program,
        "diff.external": program,
        "diff.any.command": program,
        "diff.any.textconv": program,
        "filter.any.clean": program,
        "filter.any.process": program,
        "alias.diff": f"!{program}",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": "ssh://nowhere.invalid/x",
    }.items():
        git(folder, "config", name, str(value))
    (outside / "hooks").mkdir()
    for place in (outside / "hooks", folder / ".git" / "hooks"):
        place.mkdir(exist_ok=True)
        for hook in HOOKS:
            (place / hook).symlink_to(program)
    (folder / ".gitattributes").write_text("*.any filter=any diff=any\n")
    (folder / "a.txt").write_text("other\n")
    (folder / "b.any").write_text("other\n")
    (folder / "gone.txt").unlink()
    (folder / "link").symlink_to(outside / "secret.txt")
    (folder / "away").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    (folder / "git").symlink_to(program)
    for name in ODD:
        (folder / name).write_text("x\n")
    for number in range(3000):
        (folder / f"many-{number:04}").touch()
    with (folder / "huge").open("wb") as huge:
        huge.truncate(1 << 40)
    return trace


async def answers(mine: Frontend) -> list[Any]:
    """Everything that the commands about a workspace tell."""
    told: list[Any] = []
    listed = await mine.client.command(ask.WorkspaceDiff(session=mine.session))
    told.append(listed)
    for file in (listed.files or [])[:16]:
        more = ask.WorkspaceDiff(session=mine.session, path=file.path, old_path=file.old_path)
        told.append(await mine.client.command(more))
    texts = ("", "secret", "../", "link", "program")
    told += [await mine.client.command(ask.WorkspaceFiles(session=mine.session, text=text)) for text in texts]
    for path in ("away/secret.txt", "../outside/secret.txt", "/etc/passwd", ".git/config"):
        with pytest.raises(CommandFailed, match="unknown_file"):
            await mine.client.command(ask.WorkspaceDiff(session=mine.session, path=path))
    return told


async def test_a_hostile_repository_runs_nothing_and_leads_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    setup = scripted_setup(tmp_path, "2.1.330")
    trace = planted(folder, tmp_path / "outside")
    index = (folder / ".git" / "index").read_bytes()
    objects = sorted((folder / ".git" / "objects").rglob("*"))
    async with running(tmp_path, setup) as (mine, served):
        told = await answers(mine)
        assert not trace.exists()
        assert "the-secret-beside-it" not in str(told)
        assert len(told[0].files) == 2000
        assert not told[0].complete
        states = {file.path: file for file in told[0].files}
        assert states["a.txt"].added == 1
        assert states["b.any"].filtered
        assert states["huge"].binary
        assert set(ODD) <= states.keys()
        async with connect(served.view_url) as viewer:
            for command in (
                ask.WorkspaceDiff(session=mine.session),
                ask.WorkspaceFiles(session=mine.session),
            ):
                with pytest.raises(CommandFailed, match="forbidden"):
                    await viewer.command(command)
        # the session is none the worse for it
        await mine.prompt("ls")
    assert (folder / ".git" / "index").read_bytes() == index
    assert sorted((folder / ".git" / "objects").rglob("*")) == objects
    git(folder, "-c", "core.fsmonitor=false", "diff", "--", "a.txt")
    assert trace.exists(), "a plain git would have run it"

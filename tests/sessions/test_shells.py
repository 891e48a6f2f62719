"""Shells in the workspaces of sessions: real shells beside the scripted agent, with and without a sandbox."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from host_harness import SOMEBODY, HostHarness, host_harness

from recordings import ROOT
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.config.hub_settings import has_shells
from turnwire.config.settings import Settings
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire import frames
from turnwire.sessions import shells
from turnwire.sessions.shells import MOST_SHELLS, SessionShell, program_of
from waiting import until


@pytest.fixture(autouse=True)
def plain_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer's own shell does at its start is no matter of these tests."""
    monkeypatch.setenv("SHELL", "/bin/sh")


async def opened(harness: HostHarness, session: str) -> SessionShell:
    command = frames.ShellOpen(id="1", type="shell.open", session=session)
    return await harness.host.shells.open(command, SOMEBODY)


async def refusal(harness: HostHarness, session: str) -> CommandRefused:
    with pytest.raises(CommandRefused) as error:
        await opened(harness, session)
    return error.value


async def said(shell: SessionShell) -> str:
    output = b""
    async with asyncio.timeout(60):
        while piece := await shell.read():
            output += piece
    return output.decode()


async def test_a_shell_works_where_the_session_does_with_few_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("TURNWIRE_VIEW_TOKEN", "also-secret-1234567890")
    monkeypatch.setenv("GIT_ASKPASS", "/nowhere")
    async with host_harness(tmp_path, monkeypatch, settings={"view_token": None}) as harness:
        shell = await opened(harness, await harness.create())
        shell.resize(100, 40)
        shell.write(b"pwd; stty size; env | sort; exit 4\r")
        words = await said(shell)
        assert f"{tmp_path.resolve()}\r\n40 100\r\n" in words
        names = set(re.findall(r"^([A-Z_]+)=", words, re.MULTILINE))
        assert {"HOME", "PATH", "TERM"} <= names
        assert names <= {"HOME", "PATH", "SHELL", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "TERM",
                         "COLORTERM", "PWD", "OLDPWD", "SHLVL", "_", *(n for n in names if n.startswith("LC_"))}  # fmt: skip
        assert "secret" not in words
        await shell.close()
        assert shell.code == 4


async def test_the_audit_trail_says_who_opened_it_and_without_the_line_there_is_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trail, broken = tmp_path / "audit.jsonl", tmp_path / "full"
    broken.symlink_to("/dev/full")
    places: list[Path] = [trail]
    async with host_harness(
        tmp_path, monkeypatch, audit=lambda session: AuditTrail(places[0], session)
    ) as harness:
        session = await harness.create()
        shell = await opened(harness, session)
        rows = [json.loads(line) for line in trail.read_text().splitlines()]
        row: dict[str, Any] = next(one for one in rows if one["what"] == "shell_opened")
        assert (row["session"], row["by"], row["sandbox"]) == (session, "somebody", "off")
        assert row["workspace"] == str(tmp_path)
        await shell.close()
        places[0] = broken
        refused = await refusal(harness, session)
        assert refused.code == "no_shell"
        assert "audit" in refused.message
        places[0] = trail / "below"
        assert "audit" in (await refusal(harness, session)).message


async def test_a_shell_ends_with_the_agent_and_needs_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as harness:
        session = await harness.create()
        shell = await opened(harness, session)
        shell.write(b"trap '' HUP; echo pid=$$\r")
        words = ""
        async with asyncio.timeout(60):
            while (found := re.search(r"pid=(\d+)", words)) is None:
                words += (await shell.read()).decode()
        await harness.do("session.close", session)
        await until(lambda: not Path(f"/proc/{found[1]}").exists())
        assert await said(shell) == ""
        refused = await refusal(harness, session)
        assert refused.code == "not_running"
        assert (await refusal(harness, "nowhere")).code == "unknown_session"


async def test_a_session_has_so_many_shells_and_the_end_of_one_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shells, "MOST_SHELLS", 2)
    assert MOST_SHELLS > 2
    async with host_harness(tmp_path, monkeypatch) as harness:
        session = await harness.create()
        results = await asyncio.gather(*(opened(harness, session) for _ in range(3)), return_exceptions=True)
        open_now = [one for one in results if isinstance(one, SessionShell)]
        assert len(open_now) == 2
        refused = await refusal(harness, session)
        assert (refused.code, "close one" in refused.message) == ("no_shell", True)
        await open_now[0].close()
        await opened(harness, session)


async def test_input_that_is_not_read_is_refused_once_it_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as harness:
        shell = await opened(harness, await harness.create())
        shell.write(b"stty raw -echo; echo rea'dy'; sleep 1000\r")
        words = ""
        async with asyncio.timeout(60):
            while "ready" not in words:
                words += (await shell.read()).decode()
        shell.write(b"x" * 60_000)
        with pytest.raises(CommandRefused) as error:
            shell.write(b"x" * 60_000)
        assert error.value.code == "rate_limited"


async def test_a_folder_that_frontends_may_not_use_or_that_is_gone_gets_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    async with host_harness(tmp_path, monkeypatch) as harness:
        session = await harness.create(workspace=str(workspace))
        workspace.rmdir()
        assert "work" in (await refusal(harness, session)).message


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's")
async def test_in_a_sandbox_a_shell_sees_what_the_agent_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hidden from the agent")
    workspace = tmp_path / "work"
    workspace.mkdir()
    async with host_harness(
        tmp_path, monkeypatch, settings={"sandbox": "files", "sandbox_readable": [str(ROOT), sys.prefix]}
    ) as harness:
        shell = await opened(harness, await harness.create(workspace=str(workspace), sandbox="files"))
        shell.write(
            f"cat {outside}/secret; echo in >{workspace}/made; echo gone >{outside}/made; env; tty; exit\r".encode()
        )
        words = await said(shell)
        assert "hidden from the agent" not in words
        assert "TURNWIRE" not in words
        assert (workspace / "made").read_text() == "in\n"
        assert not (outside / "made").exists()


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        ({}, True),
        ({"host": "::1"}, True),
        ({"shell": "off"}, False),
        ({"host": "0.0.0.0"}, False),
        ({"host": "0.0.0.0", "shell": "on"}, True),
        ({"trusted_proxies": ["10.0.0.1"]}, False),
        ({"allowed_hosts": ["turnwire.example"]}, False),
        ({"allowed_origins": ["https://turnwire.example"]}, False),
        ({"public_url": "https://turnwire.example"}, False),
        ({"worker": "one"}, False),
    ],
)
def test_shells_are_on_where_this_machine_alone_is_served(settings: dict[str, Any], on: bool) -> None:
    assert has_shells(Settings.model_validate(settings)) is on


def test_the_persons_shell_is_run_where_it_is_a_program(tmp_path: Path) -> None:
    assert program_of({"SHELL": "/bin/sh"}) == "/bin/sh"
    plain = tmp_path / "plain"
    plain.write_text("")
    for named in ("", "sh", "/nowhere/zsh", str(plain), str(tmp_path)):
        assert program_of({"SHELL": named}) == "/bin/sh"

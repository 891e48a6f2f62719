"""`turnwire acp` as a command: before a hub that runs, without one, and without the client library."""

import asyncio
import shutil
import signal
from pathlib import Path

import pytest

from acp_editor import SCRIPT, started, within
from live import preloaded_running, scripted_setup
from turnwire.client.events import Complete
from turnwire_process import TURNWIRE, environment

CERTIFICATE = Path(__file__).parents[2] / "hub" / "localhost.pem"


async def failed(folder: Path, *command: str, env: dict[str, str]) -> tuple[int | None, str]:
    """How a command ends that must fail, and what it says."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await within(process.communicate())
    assert stdout == b""
    return process.returncode, stderr.decode()


async def test_it_serves_an_editor_before_a_hub_that_runs_on_when_the_editor_goes(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", SCRIPT)
    async with preloaded_running(tmp_path, setup) as (frontend, served):
        # the token is not on the command line, where others on the machine could read it
        env = environment(tmp_path / "home", TURNWIRE_TOKEN=served.token)
        async with started(tmp_path, "--connect", served.base, env=env) as harness:
            await harness.load(frontend.session)
            asking = asyncio.create_task(harness.prompt(frontend.session, "ask me"))
            (await harness.editor.next_asked()).choose("1")
            assert (await within(asking)).stop_reason == "end_turn"
            assert harness.editor.text() == "Asked."
        await frontend.until(Complete)
        # and it runs on
        assert (await frontend.turn("fail now")).data.outcome == "error"
        wrong = environment(tmp_path / "home", TURNWIRE_TOKEN="0123456789abcdef-wrong")
        code, said = await failed(tmp_path, *TURNWIRE, "acp", "--connect", served.base, env=wrong)
        assert code == 1
        assert said.startswith(f"turnwire: cannot connect to {served.base}")
        assert len(said.splitlines()) == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_as_the_end_of_stdin_does(tmp_path: Path, end: signal.Signals) -> None:
    process = await asyncio.create_subprocess_exec(
        *(*TURNWIRE, "acp", "--agent", "demo", "--port", "0", "--state-dir", str(tmp_path / "state")),
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    ready = await within(process.stderr.readline())
    assert b"turnwire serves an editor" in ready
    process.send_signal(end)
    stdout, _ = await within(process.communicate())
    assert (process.returncode, stdout) == (0, b"")


async def test_its_own_hub_may_speak_tls_and_a_browser_sees_the_same(tmp_path: Path) -> None:
    certificate = shutil.copy(CERTIFICATE, tmp_path / "hub.pem")
    env = environment(
        tmp_path / "home", TURNWIRE_TLS_CERTIFICATE=str(certificate), TURNWIRE_TLS_KEY=str(certificate)
    )
    async with started(tmp_path, "--agent", "demo", env=env) as harness:
        await harness.open()
        new = await within(harness.agent.new_session(cwd=str(tmp_path), mcp_servers=[]))
        assert (await harness.prompt(new.session_id, "/help")).stop_reason == "end_turn"
        assert "scripted agent" in harness.editor.text()
        log = (tmp_path / "acp.log").read_text()
        assert "open https://127.0.0.1:" in log

"""Several sidecars of one user at once, and one after another: nobody has to give a port, a directory or a new URL."""

import asyncio
import json
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest

from live import Frontend
from turnwire.client import AccessRefused, connect
from turnwire_process import DEADLINE, TURNWIRE, Served, environment
from turnwire_process import preloaded_turnwire as turnwire

DEMO = ("run", "--agent", "demo")

pytestmark = pytest.mark.usefixtures("default_ports")


@pytest.fixture
def home(tmp_path: Path) -> Mapping[str, str]:
    """The environment that all sidecars of a user share."""
    return environment(tmp_path / "home")


def folder(tmp_path: Path, name: str) -> Path:
    made = tmp_path / name
    made.mkdir(exist_ok=True)
    return made


async def workspaces(served: Served) -> list[str]:
    async with connect(served.url) as client:
        return [Path(session.workspace or "").name for session in client.known_sessions]


async def said(*arguments: str, env: Mapping[str, str], cwd: Path) -> str:
    """Run turnwire to its bad end, and return what it says of it."""
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *arguments,
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        _, stderr = await process.communicate()
    assert process.returncode == 1
    return stderr.decode()


@pytest.mark.long
async def test_what_is_kept_is_shut_to_others_from_the_top(home: Mapping[str, str], tmp_path: Path) -> None:
    state = tmp_path / "home" / ".local" / "state" / "turnwire"
    async with turnwire(folder(tmp_path, "red"), *DEMO, env=home, placed=False):
        kept = [path for path in (state, *state.rglob("*")) if path.is_dir()]
        assert len(kept) == 3
        assert [path for path in kept if path.stat().st_mode & 0o077] == []


@pytest.mark.long
async def test_runs_at_once_in_two_folders_and_twice_in_one_have_a_journal_and_a_port_each(
    home: Mapping[str, str], tmp_path: Path
) -> None:
    red, blue = folder(tmp_path, "red"), folder(tmp_path, "blue")
    async with (
        turnwire(red, *DEMO, env=home, placed=False) as first,
        turnwire(blue, *DEMO, env=home, placed=False) as second,
        turnwire(red, *DEMO, env=home, placed=False) as third,
    ):
        assert len({first.base, second.base, third.base}) == 3
        assert len({first.token, second.token, third.token}) == 3
        assert [await workspaces(each) for each in (first, second, third)] == [["red"], ["blue"], ["red"]]
        async with connect(third.url) as client:
            frontend = Frontend(client, third.session)
            await frontend.turn("/help")
            assert "This is a scripted agent" in frontend.text()


@pytest.mark.long
async def test_two_that_start_at_the_same_moment_in_one_folder_both_come_up(
    home: Mapping[str, str], tmp_path: Path
) -> None:
    red = folder(tmp_path, "red")

    async def one() -> str:
        async with turnwire(red, *DEMO, env=home, placed=False) as served:
            bases.append(served.base)
            if len(bases) == 2:
                both.set()
            await both.wait()
            return served.base

    bases: list[str] = []
    both = asyncio.Event()
    async with asyncio.timeout(DEADLINE):
        found = await asyncio.gather(one(), one())
    assert len(set(found)) == 2


@pytest.mark.long
async def test_the_next_run_in_a_folder_finds_its_sessions_and_is_reached_by_the_former_url(
    home: Mapping[str, str], tmp_path: Path
) -> None:
    red, blue = folder(tmp_path, "red"), folder(tmp_path, "blue")
    async with (
        turnwire(blue, *DEMO, env=home, placed=False),
        turnwire(red, *DEMO, env=home, placed=False) as before,
    ):
        pass  # red's port is not the first one, which is free again at its next start
    async with turnwire(red, *DEMO, env=home, placed=False) as after:
        assert after.base == before.base
        assert (after.token, after.view_url.partition("token=")[2]) == (
            before.token,
            before.view_url.partition("token=")[2],
        )
        async with connect(before.url) as client:
            assert [session.session for session in client.known_sessions] == [before.session, after.session]
    (kept,) = (tmp_path / "home" / ".local" / "state" / "turnwire" / "workspaces").glob("red-*/access.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept.read_text())["control"] == before.token


@pytest.mark.long
async def test_new_tokens_are_made_when_asked_for(home: Mapping[str, str], tmp_path: Path) -> None:
    red = folder(tmp_path, "red")
    async with turnwire(red, *DEMO, env=home) as before:
        pass
    async with turnwire(red, *DEMO, "--new-tokens", env=home) as after:
        assert after.token != before.token
        with pytest.raises(AccessRefused):
            async with connect(after.base, before.token):
                pass
    async with turnwire(red, *DEMO, env=home) as again:
        assert again.token == after.token


@pytest.mark.long
async def test_a_configured_token_is_written_nowhere(tmp_path: Path) -> None:
    red = folder(tmp_path, "red")
    secret = "configured-0123456789"
    async with turnwire(red, *DEMO, env=environment(tmp_path / "home", TURNWIRE_TOKEN=secret)) as served:
        assert secret not in served.url
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.name == "access.json" for file in files)
    assert [file for file in files if secret.encode() in file.read_bytes()] == []


@pytest.mark.long
async def test_what_was_given_and_is_taken_is_named_with_its_option(
    home: Mapping[str, str], tmp_path: Path
) -> None:
    red = folder(tmp_path, "red")
    async with turnwire(red, *DEMO, env=home) as running:
        complaint = await said(*DEMO, "--state-dir", str(red / "state"), env=home, cwd=red)
        assert "in use by another turnwire" in complaint
        assert "--state-dir" in complaint
        complaint = await said(*DEMO, "--port", running.base.rpartition(":")[2], env=home, cwd=red)
        assert "--port" in complaint


@pytest.mark.long
async def test_runs_without_a_journal_do_not_take_the_place_of_one_that_keeps_its_sessions(
    home: Mapping[str, str], tmp_path: Path
) -> None:
    red = folder(tmp_path, "red")
    async with (
        turnwire(red, *DEMO, "--journal", "memory", env=home, placed=False) as demo,
        turnwire(red, *DEMO, env=home, placed=False) as before,
    ):
        pass
    async with (
        turnwire(red, *DEMO, env=home, placed=False) as after,
        turnwire(red, *DEMO, "--journal", "memory", env=home, placed=False) as next_demo,
    ):
        assert len(await workspaces(after)) == 2
        assert after.token == before.token
        assert next_demo.token == demo.token


@pytest.mark.long
async def test_where_nothing_can_be_kept_a_demo_runs_all_the_same(tmp_path: Path) -> None:
    red = folder(tmp_path, "red")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".local").write_text("no directory")
    env = environment(tmp_path / "home")
    async with turnwire(red, *DEMO, "--journal", "memory", env=env, placed=False) as served:
        assert await workspaces(served) == ["red"]


@pytest.mark.long
async def test_a_given_port_is_not_left_for_another(home: Mapping[str, str], tmp_path: Path) -> None:
    red = folder(tmp_path, "red")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        complaint = await said(*DEMO, env={**home, "TURNWIRE_PORT": str(port)}, cwd=red)
    assert f"port {port}" in complaint
    assert "--port" in complaint


@pytest.mark.long
async def test_where_the_former_port_is_another_programs_the_former_tokens_open_nothing(
    home: Mapping[str, str], tmp_path: Path
) -> None:
    """Tabs that are still open show their token to whoever listens there."""
    red = folder(tmp_path, "red")
    async with turnwire(red, *DEMO, env=home, placed=False) as before:
        pass
    with socket.socket() as another:
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        another.bind(("127.0.0.1", int(before.base.rpartition(":")[2])))
        another.listen()
        async with turnwire(red, *DEMO, env=home, placed=False) as after:
            assert after.base != before.base
            with pytest.raises(AccessRefused):
                async with connect(after.base, before.token):
                    pass

"""Attacker: another user of the machine, who could write into turnwire's folders before it started."""

import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from live import running, scripted_setup
from turnwire_process import DEADLINE, TURNWIRE, environment

pytestmark = pytest.mark.long

PRECIOUS = "what is written elsewhere\n"


def symbolic(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def hard(path: Path, victim: Path) -> None:
    path.hardlink_to(victim)


def start(folder: Path) -> subprocess.CompletedProcess[str]:
    """Start turnwire where it must refuse."""
    return subprocess.run(
        [*TURNWIRE, "serve", "--port", "0", "--state-dir", str(folder / "state")],
        env=environment(folder / "home"),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )


async def test_a_state_directory_that_others_can_enter_is_shut_with_all_that_is_made_in_it(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(0o777)
    setup = scripted_setup(tmp_path, "2.1.330")
    async with running(
        tmp_path, setup, TURNWIRE_RECORD="true", TURNWIRE_RECORD_DIR=str(tmp_path / "rec")
    ) as (
        frontend,
        _,
    ):
        await frontend.turn("ls")
        assert stat.S_IMODE(state.stat().st_mode) == 0o700
        made = [path for folder in (state, tmp_path / "rec") for path in folder.rglob("*")]
        assert {"journal.sqlite3", "journal.sqlite3.lock", "audit.jsonl", "access.json"} <= {
            path.name for path in made
        }
        assert [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


@pytest.mark.parametrize("plant", [symbolic, hard])
@pytest.mark.parametrize("name", ["journal.sqlite3.lock", "journal.sqlite3"])
def test_a_link_in_the_place_of_the_journal_or_its_lock_is_refused(
    tmp_path: Path, plant: Callable[[Path, Path], None], name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text(PRECIOUS)
    (tmp_path / "state").mkdir()
    plant(tmp_path / "state" / name, victim)
    ended = start(tmp_path)
    assert ended.returncode != 0
    said = " ".join(ended.stderr.split())
    assert "link" in said
    assert name in said
    assert "Traceback" not in ended.stderr
    assert victim.read_text() == PRECIOUS


async def test_a_link_in_the_place_of_a_recording_costs_the_recording_alone(tmp_path: Path) -> None:
    victim, records = tmp_path / "victim", tmp_path / "rec"
    victim.write_text(PRECIOUS)
    records.mkdir()
    setup = scripted_setup(tmp_path, "2.1.330")
    variables = {"TURNWIRE_RECORD": "true", "TURNWIRE_RECORD_DIR": str(records)}
    async with running(tmp_path, setup, **variables) as (frontend, _):
        await frontend.turn("ls")
        # the name of a session is known once it runs: its file is planted for the next CLI
        raw = records / f"raw-streamjson-{frontend.session}.jsonl"
        await frontend.client.close_session(frontend.session)
        raw.unlink()
        raw.symlink_to(victim)
        await frontend.client.resume(frontend.session)
        complete = await frontend.turn("ls")
        assert complete.data.outcome == "completed"
    assert victim.read_text() == PRECIOUS
    assert "no recording: the file cannot be opened" in (tmp_path / "turnwire.log").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_another_users_state_directory_is_refused_in_one_sentence(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o777)
    os.chown(state, 65534, 65534)
    ended = start(tmp_path)
    assert ended.returncode != 0
    assert "belongs to another user (uid 65534)" in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
    assert list(state.iterdir()) == []

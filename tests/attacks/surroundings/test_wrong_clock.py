"""Attacker: a clock that is a month ahead at a start: a dead battery, a time server, a restored machine."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from live import running, scripted_setup

pytestmark = pytest.mark.long

ECHO = """
fallback:
  steps:
    - text: "echo: {prompt}"
"""

AHEAD = """
import time
_real, _ahead = time.time_ns, 31 * 86_400 * 10**9
time.time_ns = lambda: _real() + _ahead
"""
"""What Python runs before turnwire, so that its wall clock is ahead, and its boot clock is not."""


def dropped(folder: Path) -> int:
    """How many events retention has taken."""
    with closing(sqlite3.connect(folder / "state" / "journal.sqlite3")) as connection:
        return int(connection.execute("SELECT total(first - 1) FROM log").fetchone()[0])


async def test_a_start_with_the_clock_a_month_ahead_takes_nothing(tmp_path: Path) -> None:
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.turn("before")
    (tmp_path / "ahead").mkdir()
    (tmp_path / "ahead" / "sitecustomize.py").write_text(AHEAD)
    path = f"{tmp_path / 'ahead'}:{setup.env['PYTHONPATH']}"
    async with running(tmp_path, setup, PYTHONPATH=path) as (again, _):
        await again.turn("with the wrong clock")
    assert dropped(tmp_path) == 0
    assert (
        "the clock is ahead of the time that is known to have passed"
        in (tmp_path / "turnwire.log").read_text()
    )
    async with running(tmp_path, setup) as (last, _):
        await last.turn("with the right one again")
        assert {frontend.session, again.session} <= {known.session for known in last.client.known_sessions}
    assert dropped(tmp_path) == 0

"""kill -9 at any moment: what was announced is there afterwards, and the numbers go on."""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from journals import SqliteOpener
from turnwire.normalize.events.envelope import Cursor

ROOT = Path(__file__).parents[2]
CHILD = ROOT / "tests/support/stores/journal_child.py"


def run_and_kill(path: Path, known: int, lines: int) -> int:
    """Start the child, kill it after it announced so often, and return the newest number it announced."""
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(path), str(known)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        announced = known
        for _ in range(lines):
            line = child.stdout.readline()
            if not line:
                pytest.fail(f"the child gave up: {child.stderr.read().decode()}")
            announced = int(line)
        child.send_signal(signal.SIGKILL)
        # What was announced between the last line read and the kill counts as well; the last line may be torn.
        rest = child.stdout.read().split(b"\n")[:-1]
        return int(rest[-1]) if rest else announced


async def kill_often(path: Path, times: int) -> None:
    chance = random.Random(times)
    known = 0
    for _ in range(times):
        known = run_and_kill(path, known, chance.randint(1, 400))
    journal = await SqliteOpener(path)()
    last = journal.last("s")
    assert last >= known > times
    seqs, cursor = [], Cursor("", 0)
    while cursor.seq < last:
        page = await journal.read_after("s", cursor)
        seqs += [envelope.seq for envelope in page.envelopes]
        assert all(e.event == b'{"n":%d}' % e.seq + b" " * (e.seq % 977) for e in page.envelopes)
        cursor = page.cursor
    assert seqs == list(range(seqs[0], last + 1))
    assert len(seqs) >= min(last, 2800)
    await journal.close()


@pytest.mark.long
async def test_twenty_kills_take_nothing_that_was_announced(tmp_path: Path) -> None:
    await kill_often(tmp_path / "journal.db", 20)


@pytest.mark.long
async def test_a_hundred_kills_take_nothing_that_was_announced(tmp_path: Path) -> None:
    await kill_often(tmp_path / "journal.db", 100)

"""The journal passes turnwire's suite for journals: `pip install 'turnwire[testing]' . && pytest`."""

from pathlib import Path

import pytest

from turnwire.journal.base import KEEP_ALL, Journal, Retention
from turnwire.testing.journal_contract import FakeClock, JournalContract
from turnwire_lines import LinesJournal


class Opener:
    """Opens the same file each time."""

    durable = True

    def __init__(self, path: Path) -> None:
        self.path = path

    async def __call__(self, retention: Retention = KEEP_ALL, clock: FakeClock | None = None) -> Journal:
        clock = clock or FakeClock()
        return await LinesJournal.open_file(self.path, retention, clock, clock.steady)


class TestLinesJournal(JournalContract):
    """Runs the suite."""

    @pytest.fixture
    def opener(self, tmp_path: Path) -> Opener:
        """Return what opens the journal of one test."""
        return Opener(tmp_path / "journal.jsonl")

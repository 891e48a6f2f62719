"""Every journal that is shipped keeps the contract, and one that does not is told what it breaks."""

import pytest

from turnwire.testing.journal_contract import JournalContract, Opener


class TestEveryJournal(JournalContract):
    @pytest.fixture
    def opener(self, opener: Opener) -> Opener:
        """Those of conftest.py."""
        return opener

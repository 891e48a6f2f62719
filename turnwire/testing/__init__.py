"""Test suites for authors of journals and families of agents: subclass one in a test file, and pytest runs it.

Needs pytest and pytest-asyncio (`turnwire[testing]`). turnwire's own journals and families pass the same suites.
"""

import pytest

pytest.register_assert_rewrite(
    "turnwire.testing.core_contract", "turnwire.testing.events", "turnwire.testing.journal_contract"
)

"""Suites for those who write a journal or a family of agents: subclass one in a test file of your own, and pytest runs it.

Needs pytest and pytest-asyncio (`turnwire[testing]`). What turnwire ships itself passes the same suites.
"""

import pytest

pytest.register_assert_rewrite("turnwire.testing.core", "turnwire.testing.events", "turnwire.testing.journal")

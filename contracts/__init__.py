"""Suites for those who write a journal or a family of agents: subclass one in a test file of your own, and pytest runs it.

Needs pytest and pytest-asyncio (`turnwire[contracts]`). What turnwire ships itself passes the same suites.
"""

import pytest

pytest.register_assert_rewrite("contracts.core", "contracts.events", "contracts.journal")

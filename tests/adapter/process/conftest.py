"""Where what tests take is measured, supervisors and watchdogs are measured as well."""

import sys

import pytest

from turnwire.adapter.process import child, watchdog


@pytest.fixture(autouse=True)
def supervisors_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let them load site-packages, which begins the measuring of each Python (tests/support/processes/measured.py)."""
    if "coverage" in sys.modules:
        for module, name in ((child, "SUPERVISOR"), (watchdog, "WATCHDOG")):
            monkeypatch.setattr(module, name, tuple(word for word in getattr(module, name) if word != "-S"))

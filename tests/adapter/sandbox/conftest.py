"""Sandboxes around small programs; they need bubblewrap and user namespaces."""

from pathlib import Path

import pytest
from sandboxes import Places, places


@pytest.fixture
def place(tmp_path: Path) -> Places:
    return places(tmp_path)

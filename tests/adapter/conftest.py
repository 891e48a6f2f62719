"""Where sessions on the real CLI run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from desk import Office
from scripted_messages_api import scripted_messages_api


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with scripted_messages_api() as api:
        yield Office(tmp_path, api)

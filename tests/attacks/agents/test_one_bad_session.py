"""Attacker: one session of many, whose workspace has a name that no event can carry."""

import os
from pathlib import Path

import pytest

from live import Frontend, running, scripted_setup
from turnwire.client import CommandFailed

pytestmark = pytest.mark.long

ECHO = """
fallback:
  steps:
    - text: "echo: {prompt}"
"""


async def test_a_workspace_linked_to_a_name_that_is_no_utf8_is_refused_and_the_others_go_on(
    tmp_path: Path,
) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")  # noqa: PTH102 - a name as bytes
    (tmp_path / "link").symlink_to(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    setup = scripted_setup(tmp_path, "2.1.330", ECHO)
    async with running(tmp_path, setup) as (frontend, _):
        await frontend.turn("one")
        for _attempt in range(2):
            with pytest.raises(CommandFailed, match="is not UTF-8") as refused:
                await frontend.client.create(workspace=str(tmp_path / "link"))
            assert refused.value.code == "invalid_params"
        await frontend.turn("two")
        other = Frontend(frontend.client, await frontend.client.create(workspace=str(tmp_path)))
        await other.turn("three")
        assert len(frontend.client.known_sessions) == 2

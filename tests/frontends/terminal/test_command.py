"""Which session `turnwire attach` means, where several sidecars run; the lines that it reads."""

import os
from pathlib import Path

import pytest

from console_states import empty_hub, hub_harness, made, show
from turnwire.frontends.terminal.command import Hub, _having, lines_of
from turnwire.frontends.terminal.problems import NotAttached


async def test_of_several_sidecars_it_is_the_one_with_a_session_of_this_folder() -> None:
    async with hub_harness(host=empty_hub()) as one, hub_harness(host=empty_hub()) as two:
        await show(one, "s1", made([]), workspace="/one")
        await show(two, "s2", made([]), workspace="/two")
        hubs = [Hub(one.base, one.token), Hub(two.base, two.token)]
        assert await _having(hubs, None, "/two") == hubs[1]
        assert await _having(hubs, "s1", "/two") == hubs[0]
        with pytest.raises(NotAttached, match="name a session"):
            await _having(hubs, None, "/elsewhere")
        with pytest.raises(NotAttached, match="has a session 's9'"):
            await _having(hubs, "s9", "/one")


async def test_lines_come_from_a_file_from_a_pipe_and_none_from_the_null_device(tmp_path: Path) -> None:
    lines = b"one\r\n\xff\nlast"
    (tmp_path / "prompts").write_bytes(lines)
    reads, writes = os.pipe()
    os.write(writes, lines)
    os.close(writes)
    null, file = os.open(os.devnull, os.O_RDONLY), os.open(tmp_path / "prompts", os.O_RDONLY)
    try:
        found = [[line async for line in lines_of(one)] for one in (null, file, reads)]
    finally:
        for one in (null, file, reads):
            os.close(one)
    assert found == [[], ["one", "\ufffd", "last"], ["one", "\ufffd", "last"]]

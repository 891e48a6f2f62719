"""Which session `turnwire attach` means, where several sidecars run."""

import pytest

from console_states import empty_hub, hub_harness, made, show
from turnwire.frontends.terminal.command import Hub, _having
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

"""Sessions that an editor begins and takes up in the sidecar that it has started: they are the operator's own."""

from pathlib import Path

import pytest
from host_harness import host_harness

from turnwire.client import CommandFailed
from turnwire.frontends.acp.agent import SessionParams
from turnwire.sidecar.streams.acp.command import OperatorStarter

SERVER = {"command": "/bin/true", "args": [], "env": {}}


async def test_an_editor_may_work_anywhere_with_servers_of_its_own_beside_those_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    async with host_harness(tmp_path, monkeypatch) as harness:
        settings = harness.services.settings.model_copy(update={"mcp_servers": {"ours": SERVER}})
        starter = OperatorStarter(harness.host, settings)
        wish = SessionParams(str(elsewhere), {"theirs": SERVER}, directories=[str(tmp_path)], agent="echo")
        session = await starter.begin(wish)
        (summary,) = harness.host.sessions()
        assert (summary.session, summary.workspace, summary.agent) == (session, str(elsewhere), "echo")
        await starter.claim(session, SessionParams(str(elsewhere), {"later": SERVER}))
    record = await harness.store.get(session)
    assert record is not None
    assert set(record.options["mcp_servers"]) == {"ours", "later"}


async def test_what_is_refused_to_an_editor_is_told_as_a_hub_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host_harness(tmp_path, monkeypatch) as harness:
        starter = OperatorStarter(harness.host, harness.services.settings)
        with pytest.raises(CommandFailed) as refused:
            await starter.begin(SessionParams(str(tmp_path / "nowhere"), {}, agent="echo"))
        assert refused.value.field == "workspace"
        with pytest.raises(CommandFailed) as unknown:
            await starter.claim("nothing", SessionParams(str(tmp_path), {}))
        assert unknown.value.code == "unknown_session"

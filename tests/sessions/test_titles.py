"""One title for a session everywhere: somebody's own, else the agent's, else its first prompt, else its folder."""

import json
import sys
from pathlib import Path

import pytest

from live import Frontend
from turnwire.client import Client, commands, connect
from turnwire_process import environment
from turnwire_process import preloaded_turnwire as turnwire

SCRIPT = """
turns:
  - match: "^title"
    steps:
      - system: session_info_update
        fields: {title: "The agent's own\\u202e title"}
      - text: "titled"
fallback:
  steps:
    - text: "echo: {prompt}"
"""


def prepared(folder: Path) -> dict[str, str]:
    (folder / "script.yaml").write_text(SCRIPT)
    agent = [sys.executable, "-m", "turnwire.scripted_agent", str(folder / "script.yaml"), "--family", "acp"]
    table = f'[agents.scripted]\ncommand = {json.dumps(agent)}\nfamily = "acp"\n'
    (folder / "turnwire.toml").write_text(table)
    (folder / "project").mkdir()
    return environment(folder / "home", TURNWIRE_PASS_ENV="PYTHONPATH")


async def title(client: Client, session: str) -> str | None:
    return next(each.title for each in await client.sessions() if each.session == session)


async def test_a_session_is_called_by_its_first_prompt_then_by_its_agent_and_by_a_human_for_good(
    tmp_path: Path,
) -> None:
    env = prepared(tmp_path)
    async with (
        turnwire(tmp_path, "serve", "--agent", "scripted", env=env) as served,
        connect(served.url) as client,
    ):
        session = await client.create(workspace=str(tmp_path / "project"))
        frontend = Frontend(client, session)
        assert await title(client, session) == "project"
        await frontend.turn("\n  Mend the parser  \nand more")
        assert await title(client, session) == "Mend the parser"
        await frontend.turn("something else")
        assert await title(client, session) == "Mend the parser"
        await frontend.turn("title please")
        # what would turn the text around is spelt out
        named = await title(client, session)
        assert named is not None
        assert named.startswith("The agent's own")
        assert "\u202e" not in named
        await client.command(commands.SessionRename(session=session, title="Mine"))
        await frontend.turn("title again")
        assert await title(client, session) == "Mine"
        (summary,) = [each for each in await client.sessions() if each.session == session]
        assert summary.updated is not None
        assert summary.created is not None
        assert summary.updated > summary.created


@pytest.mark.long
async def test_a_given_title_stays_and_a_restart_forgets_none(tmp_path: Path) -> None:
    env = prepared(tmp_path)
    options = ("serve", "--agent", "scripted")
    async with turnwire(tmp_path, *options, env=env) as served, connect(served.url) as client:
        given = await client.create(workspace=str(tmp_path / "project"), title="Given")
        taken = await client.create(workspace=str(tmp_path / "project"))
        for session in (given, taken):
            await Frontend(client, session).turn("hello there")
        long = await client.create(workspace=str(tmp_path / "project"))
        await Frontend(client, long).turn("x" * 5000)
        assert len(await title(client, long) or "") == 200
    async with turnwire(tmp_path, *options, env=env) as served, connect(served.url) as client:
        assert await title(client, given) == "Given"
        assert await title(client, taken) == "hello there"
        await (await Frontend(client, taken).caught_up()).turn("title")
        assert (await title(client, taken) or "").startswith("The agent's own")

"""Real agents in a sandbox: conversations of other projects are not there, and their own can be gone on with, in and out."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from real_agents import CODEX, GEMINI, OPENCODE, QWEN, RealAgent
from scripted_models import Call, Say, ScriptedModels, scripted_models

from live import Frontend
from preloaded import ran
from turnwire.client import commands as ask
from turnwire.client import connect
from turnwire.client.events import Complete
from turnwire_process import environment, turnwire

pytestmark = [
    pytest.mark.long,
    pytest.mark.node,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap is Linux's"),
]


class Where(NamedTuple):
    """A place with two projects and one agent."""

    folder: Path
    agent: RealAgent
    models: ScriptedModels
    given: Mapping[str, str]

    async def session(
        self, project: str, prompt: str, *, sandbox: str, call: Call | None = None, resume: str | None = None
    ) -> tuple[str, str]:
        """Run one turn; returns the conversation's id, and all that the model was asked."""
        run = self.folder / f"{project}-{prompt.replace(' ', '-')}"
        run.mkdir()
        workspace = self.folder / project
        workspace.mkdir(exist_ok=True)
        env = "".join(f"{name} = {json.dumps(value)}\n" for name, value in self.given.items())
        (run / "turnwire.toml").write_text(
            f'sandbox = "{sandbox}"\n[agents.{self.agent.name}]\ncommand = {json.dumps(self.agent.command())}\n'
            f"[agents.{self.agent.name}.env]\n{env}"
        )
        before = len(self.models.requests)
        self.models.answers += [*([[call]] if call else []), [Say("Done.")]]
        options = ["run", "--agent", self.agent.name, "--workspace", str(workspace), "--policy", "autonomous"]
        options += ["--resume", resume] if resume else []
        async with (
            turnwire(run, *options, env=environment(self.home)) as served,
            connect(served.url) as client,
        ):
            frontend = Frontend(client, client.known_sessions[-1].session, 120.0)
            await frontend.caught_up()
            await frontend.turn(prompt)
            while not any(prompt in json.dumps(one) for one in self.models.requests[before:]):
                await frontend.turn()  # it was the end of an earlier turn
            found = frontend.seen(Complete)[-1].session_id
            await client.command(ask.SessionClose(session=frontend.session))
        self.agent.age(self.home)
        assert found is not None
        return found, json.dumps(self.models.requests[before:])

    @property
    def home(self) -> Path:
        return self.folder / "home"


@pytest.mark.parametrize("agent", [CODEX, GEMINI, OPENCODE, QWEN], ids=lambda agent: agent.name)
async def test_an_agent_sees_the_conversations_of_its_own_project_alone(
    tmp_path: Path, agent: RealAgent
) -> None:
    with scripted_models() as models:
        here = Where(tmp_path, agent, models, agent.prepare(tmp_path / "home", models.url))
        mine, _ = await here.session("one", "the fig is ripe", sandbox="off")
        other, _ = await here.session("two", "the pear is sour", sandbox="off")
        look = agent.shell(
            f"cd {here.home}; grep -rla 'the f[i]g is ripe' . >../one/own; grep -rlaE '(p[e]ar is sour|{tmp_path}/t[w]o)' . >../one/foreign; cd -; touch looked"
        )
        new, asked = await here.session("one", "say plum", sandbox="files", call=look)
        assert (tmp_path / "one/looked").exists(), asked[-3000:]
        assert (tmp_path / "one/own").read_text()
        assert (tmp_path / "one/foreign").read_text() == ""
        for conversation, earlier, level in (
            (mine, "the fig is ripe", "files"),
            (new, "say plum", "files"),
            (new, "say plum", "off"),
            (mine, "again-0", "off"),
        ):
            prompt = f"again-{sum(1 for _ in tmp_path.glob('one-again-*'))}"
            went_on, asked = await here.session("one", prompt, sandbox=level, resume=conversation)
            assert went_on == conversation
            assert earlier in asked
        listed = [json.loads(line) for line in ran(["sessions", "--json"], cwd=tmp_path, env=environment(here.home)).stdout.splitlines()]  # fmt: skip
        turns = {one["id"]: one["turns"] for one in listed}
        assert turns == {mine: 3, new: 3, other: 1}

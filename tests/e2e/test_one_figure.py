"""What a session of the real CLI has cost is one figure: of its events, `sessions`, `usage`, `inspect` and the metric."""

import asyncio
import json
import re
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from real_agents import older_claude

from live import Frontend, real_setup
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import connect
from turnwire.client.events import Complete
from turnwire_process import Served, lines_of
from turnwire_process import preloaded_turnwire as turnwire


async def turn(frontend: Frontend, prompt: str) -> Complete:
    """Send a prompt and wait for the end of its own turn: the CLI may begin others by itself."""
    sent = await frontend.prompt(prompt)
    return await frontend.until(Complete, lambda done: sent in (done.data.prompts or []))


def measured(served: Served) -> float:
    """What the metric says that all turns have cost."""
    asked = Request(f"{served.base}/metrics", headers={"Authorization": f"Bearer {served.token}"})
    with urlopen(asked) as answer:
        body: str = answer.read().decode()
    return sum(float(value) for value in re.findall(r"^turnwire_cost_total\S* (\S+)", body, re.MULTILINE))


@pytest.mark.long
@pytest.mark.parametrize("version", ["newest", "2.0.14"])
async def test_a_session_with_a_subagent_a_compaction_a_rewind_and_a_fork_has_one_figure(
    tmp_path: Path, version: str
) -> None:
    """2.0.14 keeps no totals: its compaction stands in no file, and answers are priced by the table."""
    (tmp_path / "project").mkdir()
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        config = tmp_path / "turnwire.toml"
        argv = list(setup.argv) if version == "newest" else older_claude()
        config.write_text(f"[agents]\nclaude = {json.dumps(argv)}\n")
        env = {
            **setup.env,
            "TURNWIRE_FRONTEND_WORKSPACES": str(tmp_path / "project"),
            "TURNWIRE_STATE_DIR": str(tmp_path / "state"),
        }
        async with (
            turnwire(tmp_path, "serve", "--config", str(config), env=env) as served,
            connect(served.url) as client,
        ):
            session = await client.create(agent="claude", workspace=str(tmp_path / "project"))
            frontend = Frontend(client, session)
            task = tool_use(
                "Task",
                description="Look",
                prompt=plan([text("Found.")]),
                subagent_type="general-purpose",
                run_in_background=False,
            )
            await turn(frontend, plan([text("I send one."), task], [text("Done.")]))
            first = await turn(frontend, plan([text("One.")]))
            await turn(frontend, plan([text("Two.")]))
            await client.resume(session, at=first.data.resume_token)
            await turn(frontend, plan([text("Another two.")]))
            await turn(frontend, "/compact")
            await turn(frontend, plan([text("After it.")]))
            branch = await client.fork(session)
            forked = await Frontend(client, branch).caught_up()
            await turn(forked, plan([text("In the fork.")]))
            metric = await asyncio.to_thread(measured, served)
            await client.close_session(session)
            await client.close_session(branch)
        price = sum(done.data.cost_usd or 0 for done in forked.seen(Complete)[-1:])
        live = sum(done.data.cost_usd or 0 for done in frontend.seen(Complete))
        if version == "newest":
            assert live + price == pytest.approx(len(api.requests) * price)
    assert metric == pytest.approx(live + price)
    listed = [json.loads(line) for line in await lines_of(tmp_path, env, "sessions", "--json")]
    used = {
        one["group"]["session"]: one
        for one in map(json.loads, await lines_of(tmp_path, env, "usage", "--by", "session", "--json"))
    }
    assert sorted(one["cost_usd"] for one in listed) == pytest.approx([price, live])
    assert sorted(used) == sorted(one["id"] for one in listed)
    for one in listed:
        assert used[one["id"]]["cost_usd"] == pytest.approx(one["cost_usd"])
        (file,) = (tmp_path / "home" / ".claude" / "projects").glob(f"*/{one['id']}.jsonl")
        report = json.loads(b"".join(await lines_of(tmp_path, env, "inspect", str(file), "--json")))
        assert report["cost_usd"] == pytest.approx(one["cost_usd"])
        estimates = one["estimated_usd"], used[one["id"]]["estimated_usd"], report["estimated_usd"]
        assert estimates == ((0, 0, 0) if version == "newest" else (estimates[0],) * 3)

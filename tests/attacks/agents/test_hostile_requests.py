"""An agent asks for lines that take long to judge: others are served meanwhile, and each request has its one answer or none."""

import asyncio
from pathlib import Path

import pytest
from hostile_cli import hostile_cli

from live import Frontend
from turnwire.client import connect
from turnwire.client.events import Complete, PermissionCancelled, PermissionRequest, PermissionResolved
from turnwire_process import DEADLINE, turnwire

pytestmark = pytest.mark.long

RULES = """
[[rules]]
action = "deny"
tool = "Bash"
input = { command = "rm *" }

[[rules]]
action = "deny"
tool = "Read"
input = { file_path = "secret/*" }
"""

REQUESTS = 100

ASKS = f"""
SHAPES = "cd d{{0}}; cat e{{0}}/f; ", "uv run --x{{0}} a --x1 a ", "tmux 'a {{0}}' 'a b' ", "git rebase -x a{{0}} -x a ", "> f{{0}} ", "cat ~/*a{{0}}/*b "
for number in range({REQUESTS}):
    unit = SHAPES[number % len(SHAPES)]
    command = "".join(unit.format(f"{{number}}x{{at}}") for at in range(12000 // len(unit)))
    input = {{"command": ("rm x; " if number % 2 else "") + command}}
    say(type="control_request", request_id=f"r{{number}}",
        request={{"subtype": "can_use_tool", "tool_name": "Bash", "input": input}})
"""

TAKEN_BACK = range(81, REQUESTS, 2)
DENIED = [number for number in range(1, REQUESTS, 2) if number not in TAKEN_BACK]

ANSWERS = f"""{ASKS}
for number in range(81, {REQUESTS}, 2):
    say(type="control_cancel_request", request_id=f"r{{number}}")
answers = []
while len(answers) < {len(DENIED)}:
    message = heard()
    if message["type"] == "control_response":
        answers.append(message["response"]["request_id"])
with open("answers", "w") as file:
    file.write(" ".join(answers))
end()
"""


async def test_others_are_served_while_an_agents_requests_are_judged(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    cli = hostile_cli(tmp_path, ANSWERS)
    rules = str(tmp_path / "rules.toml")
    async with (
        turnwire(tmp_path, "run", "--rules", rules, "--workspace", str(tmp_path), "--", *cli) as served,
        connect(served.url) as client,
        connect(served.url) as other,
    ):
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("go")
        ended = asyncio.create_task(frontend.until(Complete))
        progress: set[int] = set()
        async with asyncio.timeout(DEADLINE):
            while not ended.done():
                progress.add((await other.sessions())[-1].last_seq)
                await asyncio.sleep(0.03)  # the hub takes no more commands in a second
        await ended
    assert len(progress) > REQUESTS // 4  # commands were done between judgements, not after all of them
    assert sorted((tmp_path / "answers").read_text().split()) == sorted(f"r{number}" for number in DENIED)
    resolved = [event.pending_id for event in frontend.seen(PermissionResolved) if event.by == "rule:1"]
    assert sorted(resolved) == sorted(f"r{number}" for number in DENIED)
    asked = {event.pending_id for event in frontend.seen(PermissionRequest)}
    assert asked.isdisjoint(resolved)  # what rules decide was never shown as waiting
    cancelled = {event.pending_id for event in frontend.seen(PermissionCancelled)}
    assert {f"r{number}" for number in TAKEN_BACK} <= cancelled


async def test_a_hub_ends_at_once_while_requests_are_judged(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    cli = hostile_cli(tmp_path, f"{ASKS}\nwhile True: heard()")
    rules = str(tmp_path / "rules.toml")
    async with turnwire(
        tmp_path, "run", "--rules", rules, "--workspace", str(tmp_path), "--", *cli
    ) as served:
        async with connect(served.url) as client:
            frontend = Frontend(client, client.known_sessions[-1].session)
            await frontend.prompt("go")
            await frontend.until(PermissionResolved)
        served.process.terminate()
        async with asyncio.timeout(DEADLINE / 2):
            await served.ended()

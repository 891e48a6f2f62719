"""A CLI says far more than anybody reads: commands of frontends are done meanwhile, and what waits is bounded."""

import asyncio
from pathlib import Path

import pytest
from hostile_cli import hostile_cli

from live import Frontend
from turnwire.client import Client, connect
from turnwire.client.events import Complete, Notice, PermissionRequest, PermissionResolved, Unknown
from turnwire_process import DEADLINE, turnwire

pytestmark = pytest.mark.long

OBJECTS = 1 << 15

FLOODS = {
    "newlines": 'write(b"\\n" * (1 << 20))',
    "objects": f'write(b"{{}}\\n" * {OBJECTS})',
    "returns": 'write(b"\\r\\n" * (1 << 17))',
    "stderr": 'sys.stderr.write("x" * (64 << 20)); sys.stderr.flush()',
}


async def progress_of_a_turn(client: Client, session: str) -> list[int]:
    """Do one command after the other while a turn runs, at the pace that the hub takes; return how far the log had come."""
    begins = (await client.sessions())[-1].last_seq
    await client.prompt(session, "go")
    seen: list[int] = []
    async with asyncio.timeout(DEADLINE):
        while True:
            summary = (await client.sessions())[-1]
            seen.append(summary.last_seq)
            if summary.state == "idle" and summary.last_seq > begins + 2:
                return seen
            await asyncio.sleep(0.03)


@pytest.mark.parametrize("flood", FLOODS)
async def test_commands_are_done_while_the_cli_floods(tmp_path: Path, flood: str) -> None:
    attack = f'say(type="assistant", message={{"content": "on"}})\n{FLOODS[flood]}\nend()'
    cli = hostile_cli(tmp_path, attack)
    async with (
        turnwire(tmp_path, "run", "--workspace", str(tmp_path), "--", *cli) as served,
        connect(served.url) as client,
    ):
        session = client.known_sessions[-1].session
        seen, turns = await progress_of_a_turn(client, session), 1
        # what comes in one piece is not done in one: commands see it begun, on its way and done; but not where all stood still
        while flood == "objects" and len(set(seen)) <= 3 and turns < 10:
            seen, turns = await progress_of_a_turn(client, session), turns + 1
        frontend = Frontend(client, session)
        await frontend.prompt("nothing of the session is lost")
        # what a session does is known before all of it is in the log: so each turn's end is waited for
        for _ in range(turns + 1):
            await frontend.until(Complete)
    unknown = len(frontend.seen(Unknown))
    assert unknown == ((turns + 1) * OBJECTS if flood == "objects" else 0)
    assert len(frontend.events) - unknown < 25 * (turns + 1)
    assert flood != "objects" or len(set(seen)) > 3


ASKS = """
for number in range(4000):
    input = {"command": f"echo {number}"}
    say(type="control_request", request_id=f"r{number}",
        request={"subtype": "can_use_tool", "tool_name": "Bash", "input": input})
refused = [answer_to(f"r{number}") for number in range(256, 4000)]
assert {answer["response"]["behavior"] for answer in refused} == {"deny"}
assert not any(answer["response"].get("interrupt") for answer in refused)
end()
"""


async def test_requests_without_end_are_refused_beyond_what_may_wait(tmp_path: Path) -> None:
    cli = hostile_cli(tmp_path, ASKS)
    async with (
        turnwire(tmp_path, "run", "--workspace", str(tmp_path), "--", *cli) as served,
        connect(served.url) as client,
    ):
        frontend = Frontend(client, client.known_sessions[-1].session)
        await frontend.prompt("go")
        await frontend.until(Complete)
    # what may wait is asked; what is refused at once is told as refused, and no dialog opens for it
    assert len(frontend.seen(PermissionRequest)) == 256
    refused = [event for event in frontend.seen(PermissionResolved) if event.behavior == "deny"]
    assert len(refused) == 4000 - 256
    assert all(event.unasked for event in refused)
    asked = {event.pending_id for event in frontend.seen(PermissionRequest)}
    assert len(asked | {event.pending_id for event in refused}) == 4000
    assert [event.kind for event in frontend.seen(Notice)] == ["too_many_requests"]

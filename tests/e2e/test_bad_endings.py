"""Sessions that ended badly, played once more by the scripted agent: each turn that starts is completed exactly once."""

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from live import Frontend
from recordings import VERSIONS, Recording, recordings
from turnwire.client import Client, CommandFailed, connect
from turnwire.client.events import Complete, PermissionRequest, ProcessStatus, TurnStarted
from turnwire_process import DEADLINE, environment, turnwire

PREFIXES = (
    "eof-",
    "kill-",
    "sig",
    "api-",
    "interrupt-",
    "perm-interrupt",
    "perm-stdin-eof",
    "plan-reject-interrupt",
)

OLDEST, *BETWEEN, NEWEST = VERSIONS

AT_ONCE = 8
"""Sessions played at the same time."""


def badly_ended(version: str) -> list[Recording]:
    return [played for played in recordings(version=version) if played.scenario.startswith(PREFIXES)]


async def play(client: Client, played: Recording, workspace: Path) -> Frontend:
    """Say what the recorded host said: prompts, interrupts, answers; then close the session."""
    frontend = Frontend(client, await client.create(agent=played.scenario, workspace=str(workspace)))
    prompted = 0
    for line in played.sent():
        match msgspec.json.decode(line):
            case {"type": "user", "message": {"content": [{"text": str(text)}, *_]}}:
                prompted += 1
                await frontend.prompt(text)
            case {"type": "control_request", "request": {"subtype": "interrupt"}}:
                if prompted > len(frontend.seen(TurnStarted)):
                    await frontend.until(TurnStarted)
                await client.interrupt(frontend.session)
            case {"type": "control_response"}:
                request = await frontend.until(PermissionRequest)
                try:
                    await frontend.respond(request, "reject_interrupt")
                except CommandFailed:
                    pass  # it was withdrawn meanwhile, as it was in the recording
            case _:
                pass
    if any(row.eof for row in played.timeline()):
        await client.close_session(frontend.session)
    await frontend.until(ProcessStatus, lambda status: status.state == "exited")
    return await Frontend(client, frontend.session).caught_up()


@pytest.mark.long
@pytest.mark.parametrize(
    "version", [OLDEST, NEWEST, *(pytest.param(it, marks=pytest.mark.long) for it in BETWEEN)]
)
async def test_every_turn_that_starts_is_completed_once(tmp_path: Path, version: str) -> None:
    found = badly_ended(version)
    agents = {
        played.scenario: [sys.executable, "-m", "turnwire.scripted_agent", str(played.folder)]
        for played in found
    }
    lines = [f"{json.dumps(name)} = {json.dumps(argv)}" for name, argv in agents.items()]
    (tmp_path / "turnwire.toml").write_text("[agents]\n" + "\n".join(lines))
    env = environment(tmp_path / "home", TURNWIRE_PASS_ENV="PYTHONPATH")
    places = asyncio.Semaphore(AT_ONCE)

    async with turnwire(tmp_path, "serve", env=env) as served, connect(served.url) as client:

        async def one(played: Recording) -> None:
            try:
                async with places, asyncio.timeout(DEADLINE):
                    frontend = await play(client, played, tmp_path)
            except (CommandFailed, TimeoutError) as error:
                raise AssertionError(f"{played}: {error!r}") from error
            started = Counter(event.operation_id for event in frontend.seen(TurnStarted))
            completed = Counter(event.operation_id for event in frontend.seen(Complete))
            assert completed == started, str(played)
            assert set(completed.values()) == {1}, str(played)

        async with asyncio.TaskGroup() as group:
            for played in found:
                group.create_task(one(played), name=str(played))

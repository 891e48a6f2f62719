"""What a session of the real CLI has cost, in the list of sessions and in the report of its recording."""

import json
from pathlib import Path

import pytest

from live import Frontend, real_setup
from live import preloaded_running as running
from scripted_messages_api import plan, scripted_messages_api, text
from turnwire.client import connect
from turnwire.client.events import Complete
from turnwire_process import lines_of
from turnwire_process import preloaded_turnwire as turnwire


async def listed(frontend: Frontend) -> float | None:
    """What the list of sessions says of its cost."""
    return (await frontend.client.sessions())[0].total_cost_usd


@pytest.mark.long
async def test_a_session_costs_what_its_turns_cost_over_rewind_clear_resume_and_restart(
    tmp_path: Path,
) -> None:
    recordings = tmp_path / "recordings"
    record = ("--record", "--record-dir", str(recordings))
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        async with running(tmp_path, setup, *record) as (frontend, _):
            first = await frontend.turn(plan([text("One.")]))
            share = first.data.cost_usd
            assert share is not None
            assert share > 0
            await frontend.turn(plan([text("Two.")]))
            assert await listed(frontend) == pytest.approx(2 * share)
            await frontend.client.resume(frontend.session, at=first.data.resume_token)
            await frontend.turn(plan([text("Another two.")]))
            assert await listed(frontend) == pytest.approx(3 * share)
            cleared = await frontend.turn("/clear")
            assert cleared.data.cost_usd == 0
            assert await listed(frontend) == pytest.approx(3 * share)
            await frontend.turn(plan([text("After the clear.")]))
            await frontend.client.close_session(frontend.session)
            await frontend.client.resume(frontend.session)
            await frontend.turn(plan([text("Resumed.")]))
            assert await listed(frontend) == pytest.approx(5 * share)

        config = tmp_path / "turnwire.toml"
        config.write_text(f"[agents]\nclaude = {json.dumps(list(setup.argv))}\n")
        async with (
            turnwire(tmp_path, "serve", *record, env=setup.env) as served,
            connect(served.url) as client,
        ):
            (summary,) = client.known_sessions
            assert summary.total_cost_usd == pytest.approx(5 * share)
            again = await Frontend(client, summary.session).caught_up()
            await again.turn(plan([text("After the restart.")]))
            assert await listed(again) == pytest.approx(6 * share)
        requests = len(api.requests)
    assert requests == 6
    assert sum(complete.data.cost_usd or 0 for complete in again.seen(Complete)) == pytest.approx(6 * share)

    (raw,) = recordings.glob("raw-*.jsonl")
    report = json.loads(b"".join(await lines_of(tmp_path, setup.env, "inspect", str(raw), "--json")))
    assert report["cost_usd"] == pytest.approx(6 * share)
    assert report["cost_is_whole"] is True

"""Sessions that are resumed, retried, forked and steered, on the real CLI (offline), and what is left of them."""

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from live import Frontend, descendants, gone, real_setup
from live import preloaded_running as running
from scripted_messages_api import (
    JSON,
    ScriptedMessagesApi,
    http_error,
    plan,
    scripted_messages_api,
    sleep,
    text,
    tool_use,
)
from turnwire.client import CommandFailed, connect
from turnwire.client.commands import Attachment, SessionCreate
from turnwire.client.events import (
    Complete,
    MessageChunk,
    PermissionRequest,
    ProcessStatus,
    Queued,
    ToolCall,
    TurnStarted,
    Withdrawn,
)
from turnwire_process import DEADLINE, TURNWIRE
from turnwire_process import preloaded_turnwire as turnwire

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4ISeHFTEMLQkAkL9BAbKfPiIAAAAASUVORK5CYII="


@pytest.fixture
def api() -> Iterator[ScriptedMessagesApi]:
    with scripted_messages_api() as running_api:
        yield running_api


def said(request: JSON) -> str:
    """What the model was told, as text to look into."""
    return json.dumps(request["messages"])


@pytest.mark.long
async def test_a_session_of_a_killed_sidecar_is_resumed_with_its_conversation(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    setup = real_setup(tmp_path, api, str)
    async with running(tmp_path, setup) as (frontend, served):
        await frontend.turn(plan([text("I shall remember the word xylophone.")]))
        await frontend.prompt(plan([tool_use("Bash", command="echo begin; sleep 300", description="Wait")]))
        await frontend.until(ToolCall)
        children = descendants(served.process.pid)
        before = list(frontend.events)
        await served.kill()
    await gone(children)

    config = tmp_path / "turnwire.toml"
    config.write_text(f"[agents]\nclaude = {json.dumps(list(setup.argv))}\n")
    async with turnwire(tmp_path, "serve", env=setup.env) as served, connect(served.url) as client:
        (summary,) = client.known_sessions
        assert summary.session == frontend.session
        again = await Frontend(client, summary.session).caught_up()
        assert again.events[: len(before)] == before
        assert [complete.data.outcome for complete in again.seen(Complete)] == ["completed", "process_exited"]
        await client.resume(summary.session)
        complete = await again.turn(plan([text("It was xylophone.")]))
        assert complete.data.outcome == "completed"
        assert "xylophone" in said(api.requests[-1]).split("It was")[0]
        assert len(again.seen(TurnStarted)) == len(again.seen(Complete)) == 3


@pytest.mark.long
async def test_a_turn_that_failed_is_retried_from_before_its_prompt(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
        await frontend.turn(plan([text("The first answer.")]))
        api.queue([http_error(403, "permission_error", "not now")])
        failed = await frontend.turn("Do the second thing.")
        assert failed.data.is_error is True
        await frontend.client.retry(frontend.session)
        complete = await frontend.turn()
        assert complete.data.is_error is False
        sent = said(api.requests[-1])
        assert "The first answer." in sent
        assert sent.count("Do the second thing.") == 1
        assert "not now" not in sent


@pytest.mark.long
async def test_a_fork_knows_the_conversation_and_leaves_the_original_alone(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
        await frontend.turn(plan([text("The common part.")]))
        fork = Frontend(frontend.client, await frontend.client.fork(frontend.session))
        assert (await fork.turn()).operation_id == "turn-1"
        assert fork.text() == "The common part."
        await fork.turn(plan([text("The branch.")]))
        assert "The common part." in said(api.requests[-1])
        await frontend.turn(plan([text("The trunk.")]))
        assert "The branch." not in said(api.requests[-1])
        ids = {event.session_id for event in (frontend.events[-1], fork.events[-1])}
        assert len(ids) == 2


@pytest.mark.long
async def test_a_session_goes_back_to_a_message_and_its_fork_survives_a_restart(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    setup = real_setup(tmp_path, api, str)
    async with running(tmp_path, setup) as (frontend, _):
        first = await frontend.turn(plan([text("The root.")]))
        await frontend.turn(plan([text("A wrong way.")]))
        await frontend.client.resume(frontend.session, at=first.data.resume_token)
        await frontend.turn(plan([text("The right way.")]))
        sent = said(api.requests[-1])
        assert "The root." in sent
        assert "A wrong way." not in sent
        fork = await frontend.client.fork(frontend.session)  # nothing is said in it before the restart
    config = tmp_path / "turnwire.toml"
    config.write_text(f"[agents]\nclaude = {json.dumps(list(setup.argv))}\n")
    async with turnwire(tmp_path, "serve", env=setup.env) as served, connect(served.url) as client:
        branch = await Frontend(client, fork).caught_up()
        await branch.turn(plan([text("A branch.")]))
        sent = said(api.requests[-1])
        assert "The right way." in sent
        assert "A wrong way." not in sent
        assert branch.events[-1].session_id != frontend.events[-1].session_id


@pytest.mark.long
async def test_a_message_that_nobody_knows_is_refused_and_the_cli_runs_on(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
        await frontend.turn(plan([text("The root.")]))
        await frontend.prompt(
            plan([tool_use("Bash", command="touch made", description="Make")], [text("Made.")])
        )
        request = await frontend.until(PermissionRequest)
        sessions = len(await frontend.client.sessions())
        for attempt in (frontend.client.resume, frontend.client.fork):
            for at in ("11111111-1111-4111-8111-111111111111", "nonsense", ""):
                with pytest.raises(CommandFailed) as refused:
                    await attempt(frontend.session, at=at)
                assert (refused.value.code, refused.value.field) == ("invalid_params", "at")
        await frontend.respond(request)
        assert (await frontend.turn()).data.outcome == "completed"
        assert len(frontend.seen(ProcessStatus)) == 1
        assert len(await frontend.client.sessions()) == sessions


@pytest.mark.long
async def test_a_message_that_only_the_cli_can_judge_is_refused_in_its_words_and_the_session_goes_on(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    setup = real_setup(tmp_path, api, str)
    async with running(tmp_path, setup) as (frontend, _):
        first = await frontend.turn(plan([text("The root.")]))
        await frontend.turn(plan([text("A way.")]))
    assert first.session_id is not None
    options = ("--resume", first.session_id, "--journal", "memory")
    # without a look into the CLI's own file
    async with running(tmp_path, setup, *options, TURNWIRE_HISTORY="false") as (again, _):
        with pytest.raises(CommandFailed, match="No message found") as refused:
            await again.client.resume(again.session, at="11111111-1111-4111-8111-111111111111")
        assert (refused.value.code, refused.value.field) == ("refused_by_cli", "at")
        # the CLI's refusal was a turn of its own
        assert (await again.until(Complete)).data.outcome == "error"
        await again.turn(plan([text("On we go.")]))
        assert "A way." in said(api.requests[-1])
        with pytest.raises(CommandFailed, match="No message found"):
            await again.client.fork(again.session, at="11111111-1111-4111-8111-111111111111")
        assert len(await again.client.sessions()) == 1
        await again.client.resume(again.session, at=first.data.resume_token)
        await again.turn(plan([text("Back we went.")]))
        assert "The root." in said(api.requests[-1])
        assert "A way." not in said(api.requests[-1])


@pytest.mark.long
@pytest.mark.parametrize("option", ["--resume", "--continue"])
async def test_a_conversation_of_another_sidecar_goes_on(
    tmp_path: Path, api: ScriptedMessagesApi, option: str
) -> None:
    setup = real_setup(tmp_path, api, str)
    async with running(tmp_path, setup) as (frontend, _):
        complete = await frontend.turn(plan([text("The word was xylophone.")]))
    assert complete.session_id is not None
    options = [option] if option == "--continue" else [option, complete.session_id]
    async with running(tmp_path, setup, *options, "--journal", "memory") as (again, _):
        await again.caught_up()
        assert again.text() == "The word was xylophone."
        assert len(again.seen(Complete)) == 1
        done = await again.turn(plan([text("Indeed.")]))
        assert (done.operation_id, done.session_id) == ("turn-2", complete.session_id)
        assert "The word was xylophone." in said(api.requests[-1])


@pytest.mark.long
@pytest.mark.parametrize("option", ["--resume", "--continue"])
async def test_a_conversation_of_an_earlier_life_goes_on_in_its_session(
    tmp_path: Path, api: ScriptedMessagesApi, option: str
) -> None:
    setup = real_setup(tmp_path, api, str)
    async with running(tmp_path, setup) as (frontend, _):
        complete = await frontend.turn(plan([text("said-0")]))
        session = frontend.session
    assert complete.session_id is not None
    options = [option] if option == "--continue" else [option, complete.session_id]
    async with running(tmp_path, setup, *options) as (again, _):
        assert [one.session for one in await again.client.sessions()] == [session]
        await again.caught_up()
        for number in range(1, 4):
            done = await again.turn(plan([text(f"said-{number}")]))
            assert done.session_id == complete.session_id
        # nor does a frontend begin a second one
        resumed = SessionCreate(resume=complete.session_id)
        assert (await again.client.command(resumed)).session == session
        await again.turn(plan([text("said-4")]))
        assert [one.session for one in await again.client.sessions()] == [session]
        assert len(again.seen(Complete)) == 5
    (file,) = (tmp_path / "home" / ".claude" / "projects").glob("*/*.jsonl")
    assert all(f"said-{number}" in file.read_text() for number in range(5))


@pytest.mark.long
async def test_a_prompt_while_a_tool_runs_joins_the_turn(tmp_path: Path, api: ScriptedMessagesApi) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
        await frontend.prompt(
            plan([tool_use("Bash", command="touch made.txt", description="Make")], [text("Made.")])
        )
        request = await frontend.until(PermissionRequest)  # the tool waits, and so does the turn
        await frontend.prompt("And mind the umlauts.")
        await frontend.respond(request)
        await frontend.turn()
        async with asyncio.timeout(DEADLINE):
            while "umlauts" not in said(api.requests[-1]):
                await frontend.next()
        assert len(frontend.seen(TurnStarted)) == len(frontend.seen(Complete))


@pytest.mark.long
async def test_a_prompt_while_text_streams_is_answered_after_it(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
        await frontend.prompt(plan([text("A slow "), sleep(0.5), text("answer.")]))
        await frontend.until(MessageChunk)
        await frontend.prompt(plan([text("The next one.")]))
        while "The next one." not in frontend.text():
            await frontend.next()
        await frontend.until(Complete)
        assert frontend.text() == "A slow answer.The next one."
        assert len(frontend.seen(TurnStarted)) == len(frontend.seen(Complete)) == 2


@pytest.mark.long
async def test_a_pasted_image_reaches_the_model_as_an_image(tmp_path: Path, api: ScriptedMessagesApi) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str)) as (frontend, _):
        image = Attachment(name="screen.png", base64=PNG)
        await frontend.client.prompt(frontend.session, "What is this?", attachments=[image])
        await frontend.turn()
        blocks = [
            block
            for message in api.requests[-1]["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        (found,) = [block for block in blocks if block["type"] == "image"]
        assert found["source"]["media_type"] == "image/png"
        assert base64.b64decode(found["source"]["data"]).startswith(b"\x89PNG")


@pytest.mark.long
async def test_a_failing_resume_says_why(tmp_path: Path, api: ScriptedMessagesApi) -> None:
    (tmp_path / "project").mkdir()
    setup = real_setup(tmp_path, api, str)
    command = ("run", "--resume", "99999999-9999-4999-8999-999999999999", "--", *setup.argv)
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE,
        *command,
        cwd=tmp_path / "project",
        env={**setup.env, "TURNWIRE_PORT": "0", "TURNWIRE_STATE_DIR": str(tmp_path / "state")},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(DEADLINE):
        _, stderr = await process.communicate()
    assert process.returncode == 1
    assert "No conversation found with session ID" in stderr.decode()


@pytest.mark.long
async def test_twenty_sessions_side_by_side_end_every_turn_once(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    setup = real_setup(tmp_path, api, str)
    async with running(tmp_path, setup) as (frontend, _):
        workspace = str(tmp_path / "project")
        made = [await frontend.client.create(workspace=workspace) for _ in range(19)]
        others = [frontend, *(Frontend(frontend.client, session) for session in made)]

        async def two_turns(number: int, one: Frontend) -> None:
            for turn in range(2):
                command = f"echo session {number} turn {turn}"
                steps = plan(
                    [tool_use("Bash", command=command, description="Say")], [text(f"{number}.{turn} ")]
                )
                assert (await one.turn(steps)).data.outcome == "completed"

        async with asyncio.TaskGroup() as group:
            for number, one in enumerate(others):
                group.create_task(two_turns(number, one))
        for number, one in enumerate(others):
            assert one.text() == f"{number}.0 {number}.1 "
            assert len(one.seen(TurnStarted)) == len(one.seen(Complete)) == 2


@pytest.mark.long
async def test_a_session_that_is_closed_begins_no_prompt_that_waits(
    tmp_path: Path, api: ScriptedMessagesApi
) -> None:
    async with running(tmp_path, real_setup(tmp_path, api, str), "--policy", "supervised") as (frontend, _):
        await frontend.prompt(
            plan([tool_use("Bash", command="touch made", description="Make")], [text("Never.")])
        )
        await frontend.until(PermissionRequest)
        waiting = await frontend.client.prompt(frontend.session, plan([text("Served.")]))
        await frontend.until(Queued)
        asked = len(api.requests)
        await frontend.client.close_session(frontend.session)
        await frontend.until(ProcessStatus, lambda one: one.state == "exited")
        assert [one.prompt for one in frontend.seen(Withdrawn)] == [waiting]
        assert len(frontend.seen(TurnStarted)) == 1
        assert len(api.requests) == asked

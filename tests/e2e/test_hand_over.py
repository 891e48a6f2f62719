"""`turnwire attach --native`: a conversation goes into the real CLI's own interface in a terminal, and back, offline."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
from terminal import welcomed
from tmux import Terminal, terminal

from live import AgentSetup, Frontend, real_setup, told
from scripted_messages_api import plan, scripted_messages_api, text, tool_use
from turnwire.client import Answer, CommandFailed, commands, connect
from turnwire.client.events import (
    CompactBoundary,
    Complete,
    MessageChunk,
    PermissionCancelled,
    PermissionRequest,
    PermissionResolved,
    QuestionRequest,
    ToolCall,
    TurnStarted,
)
from turnwire_process import DEADLINE, TURNWIRE, Served, turnwire
from waiting import until

pytestmark = pytest.mark.long

SLOW = "touch two; sleep 3"


@asynccontextmanager
async def in_its_interface(folder: Path, setup: AgentSetup, name: str) -> AsyncIterator[Terminal]:
    command = " ".join([*TURNWIRE, "attach", "--native", "--state-dir", str(folder / "state")])
    async with terminal(folder, command, name, setup.env, width=120, height=40) as place:
        await place.sees("? for shortcuts")
        yield place


async def typed(place: Terminal, prompt: str) -> None:
    """Type a prompt, and Enter once the interface shows its end, or that it takes all of it for one paste."""
    prompt = json.dumps(json.loads(prompt), separators=(",", ":"))
    place.say(prompt)
    await until(lambda: place.shows(prompt[-12:]) or place.shows("[Pasted text"), 240)
    place.keys("Enter")


def kill(folder: Path, word: str) -> None:
    """Kill the newest process that has an argument like this and is of this test."""
    found = []
    for one in Path("/proc").iterdir():
        with suppress(OSError):
            if one.name.isdecimal() and str(folder).encode() in (one / "environ").read_bytes():
                words = (one / "cmdline").read_bytes().split(b"\0")
                if any(given.startswith(word.encode()) for given in words):
                    found.append(int(one.name))
    os.kill(min(found), signal.SIGKILL)


def kept(file: Path) -> list[str]:
    """The same of the conversation's file, without the ends, which it does not have."""
    found: list[str] = []
    for line in file.read_text().splitlines():
        record = json.loads(line)
        content = record.get("message", {}).get("content")
        if record["type"] not in {"user", "assistant"} or record.get("isMeta"):
            continue
        if record["message"].get("model") == "<synthetic>":
            continue  # the CLI closes an interrupted turn with it, and says it to nobody
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            match block["type"]:
                case "text" if record["type"] == "assistant":
                    found.append(f"said {block['text']}")
                case "text":
                    found.append(f"> {block['text']}")
                case "tool_use":
                    found.append(f"call {block['id']}")
                case "tool_result":
                    found.append(f"result {block['tool_use_id']}")
                case _:
                    pass
    return found


async def test_a_conversation_goes_into_a_terminal_and_back_and_is_answered_from_elsewhere(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        welcomed(tmp_path / "home", project, setup.env["ANTHROPIC_API_KEY"])
        run = ("run", "--workspace", str(project), "--", *setup.argv)
        async with turnwire(tmp_path, *run, env=setup.env) as served, connect(served.url) as client:
            frontend = await Frontend(client, client.known_sessions[0].session).caught_up()
            session = frontend.session
            await frontend.turn(plan([text("headless-one")]))
            async with in_its_interface(tmp_path, setup, "one") as place:
                assert client.known_sessions[0].in_terminal
                with pytest.raises(CommandFailed) as refused:
                    await client.resume(session)
                assert refused.value.code == "in_terminal"
                await typed(
                    place,
                    plan(
                        [tool_use("Bash", command="echo 1 >one")],
                        [
                            tool_use(
                                "AskUserQuestion",
                                questions=[
                                    {
                                        "question": "Which?",
                                        "header": "H",
                                        "multiSelect": False,
                                        "options": [
                                            {"label": "A", "description": ""},
                                            {"label": "B", "description": ""},
                                        ],
                                    }
                                ],
                            )
                        ],
                        [tool_use("Bash", command=SLOW)],
                        [text("interface-two")],
                    ),
                )
                request = await frontend.until(PermissionRequest)
                await place.sees("Do you want to proceed?")
                await client.respond(session, request.pending_id, "allow_once")
                question = await frontend.until(QuestionRequest)
                await place.sees("Which?")
                await client.answer(session, question.pending_id, Answer({"Which?": "B"}))
                await frontend.until(PermissionRequest, lambda one: SLOW in str(one.tool_input))
                await place.sees("Do you want to proceed?", "touch two")
                async with asyncio.timeout(DEADLINE):
                    # a key that comes with the dialog is not taken
                    while "Do you want to proceed?" in place.text():
                        place.keys("1")
                        await asyncio.sleep(1)
                asked = frontend.seen(PermissionRequest)[-1].pending_id
                resolved = await frontend.until(PermissionResolved, lambda one: one.pending_id == asked)
                assert resolved.behavior == "allow"
                await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 2)
                waiting = await client.prompt(session, plan([text("waited-three")]))
                await client.command(commands.NativeTakeBack(session=session))
                await place.sees("over", "brkint", "extproc")
                assert place.is_as_found
            await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 3)
            assert frontend.seen(TurnStarted)[-1].prompts == [waiting]

            async with in_its_interface(tmp_path, setup, "two") as place:
                await place.sees("waited-three")
                await typed(place, plan([tool_use("Bash", command="echo 4 >four")], [text("never")]))
                await frontend.until(PermissionRequest, lambda one: "four" in str(one.tool_input))
                kill(tmp_path, "--resume=")
                await place.sees("over", "brkint", "extproc")
                assert place.is_as_found
            await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 4)
            async with in_its_interface(tmp_path, setup, "three") as place:
                kill(tmp_path, "attach")
                await place.sees("over 137")
                await until(lambda: client.known_sessions[0].in_terminal is None, 60)
                await until(lambda: place.settings() == (tmp_path / "before").read_text(), 60)
            await frontend.turn(plan([text("headless-five")]))
            (file,) = (tmp_path / "home" / ".claude" / "projects").glob("*/*.jsonl")
            assert [one for one in told(frontend) if one != "complete"] == kept(file)
            assert told(frontend).count("complete") == len(frontend.seen(TurnStarted)) == 5


async def allowed(place: Terminal, made: Path) -> None:
    """Allow the call that makes a file: the key is repeated, since one that comes with the dialog is not taken."""
    async with asyncio.timeout(DEADLINE):
        while not made.exists():
            if "Do you want to proceed?" in place.text():
                place.keys("1")
            with suppress(TimeoutError):
                await until(made.exists, 3)


async def test_kills_of_the_sidecar_while_a_turn_runs_in_the_terminal_lose_and_double_nothing(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        welcomed(tmp_path / "home", project, setup.env["ANTHROPIC_API_KEY"])
        (tmp_path / "turnwire.toml").write_text(
            f'agent = "claude"\n[agents.claude]\ncommand = {json.dumps(list(setup.argv))}\n'
        )
        env = {**setup.env, "TURNWIRE_STATE_DIR": str(tmp_path / "state")}

        async def again(served: Served, stack: AsyncExitStack) -> tuple[Served, Frontend]:
            """Kill a sidecar and start another one in its place."""
            await served.kill()
            serve = ("serve", "--port", served.base.rpartition(":")[2])
            found = await stack.enter_async_context(turnwire(tmp_path, *serve, placed=False, env=env))
            client = await stack.enter_async_context(connect(found.url))
            return found, await Frontend(client, session).caught_up()

        async with AsyncExitStack() as stack:
            run = ("run", "--workspace", str(project))
            served = await stack.enter_async_context(turnwire(tmp_path, *run, env=env))
            client = await stack.enter_async_context(connect(served.url))
            frontend = await Frontend(client, client.known_sessions[0].session).caught_up()
            session = frontend.session
            await frontend.turn(plan([text("headless-one")]))
            async with in_its_interface(tmp_path, setup, "one") as place:
                await typed(
                    place,
                    plan(
                        [text("interface-two"), tool_use("Bash", command="echo 1 >one")],
                        [tool_use("Bash", command="touch two; until [ -e go ]; do sleep 0.1; done")],
                        [text("interface-three")],
                    ),
                )
                await frontend.until(PermissionRequest)
                # while a dialog waits
                served, frontend = await again(served, stack)
                await allowed(place, project / "one")
                await allowed(place, project / "two")
                await frontend.until(PermissionResolved)
                # while a call runs
                served, frontend = await again(served, stack)
                assert frontend.client.known_sessions[0].in_terminal
                # only the request that nobody could answer from here any more; the call of the other runs
                assert len(frontend.seen(PermissionCancelled)) == 1
                (project / "go").touch()
                await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 2)
                # while nothing happens, and twice in a row
                served, frontend = await again(served, stack)
                served, frontend = await again(served, stack)
                await typed(place, plan([text("interface-four")]))
                await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 3)
                # while nobody follows
                await served.kill()
                await typed(place, plan([text("interface-five")]))
                await place.sees("interface-five")
                serve = ("serve", "--port", served.base.rpartition(":")[2])
                served = await stack.enter_async_context(turnwire(tmp_path, *serve, placed=False, env=env))
                client = await stack.enter_async_context(connect(served.url))
                frontend = await Frontend(client, session).caught_up()
                if len(frontend.seen(Complete)) < 4:
                    await frontend.until(Complete, lambda _: len(frontend.seen(Complete)) == 4)
                await client.command(commands.NativeTakeBack(session=session))
                await place.sees("over", "brkint", "extproc")
                assert place.is_as_found
            await frontend.turn(plan([text("headless-six")]))
            (file,) = (tmp_path / "home" / ".claude" / "projects").glob("*/*.jsonl")
            assert [one for one in told(frontend) if one != "complete"] == kept(file)
            begun = [one.operation_id for one in frontend.seen(TurnStarted)]
            assert [one.operation_id for one in frontend.seen(Complete)] == begun
            assert len(set(begun)) == 5
            assert not [one for one in frontend.seen(Complete) if one.data.is_error]


async def allowed_turn(frontend: Frontend, words: str) -> None:
    """Wait for the end of a turn in which or after which these words came, and allow what is asked meanwhile."""
    while True:
        event = await frontend.next()
        if isinstance(event, PermissionRequest):
            await frontend.client.respond(frontend.session, event.pending_id, "allow_once")
        elif isinstance(event, Complete) and words in "".join(
            one.text for one in frontend.seen(MessageChunk)
        ):
            return


PRINTED = re.compile(r"> <local-command-stdout>(.*)</local-command-stdout>", re.DOTALL)
STYLES = re.compile(r"\x1b\[[0-9;]*m")


def done_and_said(told: list[str]) -> list[str]:
    """Prompts of the test, texts, calls and results: a file has other words around commands, and summaries."""
    plain = [PRINTED.sub(r"said \1", STYLES.sub("", one)) for one in told]
    return [one for one in plain if one.startswith(("> {", "said ", "call ", "result "))]


async def test_ten_hand_overs_in_a_row_of_one_conversation(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()

    def agent(number: int) -> str:
        below = plan([tool_use("Bash", command=f"touch below-{number}")], [text(f"reported-{number}")])
        given = {"description": "d", "subagent_type": "general-purpose", "run_in_background": False}
        return plan([tool_use("Task", prompt=below, **given)], [text(f"interface-{number}")])

    def bash(number: int, *commands: str, **more: object) -> str:
        calls = [tool_use("Bash", command=command, **more) for command in commands]
        return plan([text(f"begun-{number}"), *calls], [text(f"interface-{number}")])

    prompts = [
        bash(0, "touch 0"),
        plan(
            [tool_use("Write", file_path=str(project / "1"), content="one\n")],
            [tool_use("Read", file_path=str(project / "1"))],
            [text("interface-1")],
        ),
        bash(2, "touch 2", "touch two"),
        bash(3, "touch 3; sleep 1000", run_in_background=True),
        agent(4),
        "/compact",
        bash(6, "touch 6"),
        plan([text("interface-7")]),
        agent(8),
        bash(9, "touch 9; false"),
    ]
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        welcomed(tmp_path / "home", project, setup.env["ANTHROPIC_API_KEY"])
        run = ("run", "--workspace", str(project), "--", *setup.argv)
        async with turnwire(tmp_path, *run, env=setup.env) as served, connect(served.url) as client:
            frontend = await Frontend(client, client.known_sessions[0].session).caught_up()
            session = frontend.session
            for number, prompt in enumerate(prompts):
                await frontend.prompt(plan([text(f"headless-{number}")]))
                await allowed_turn(frontend, f"headless-{number}")
                async with in_its_interface(tmp_path, setup, f"t{number}") as place:
                    if prompt == "/compact":
                        place.say(prompt)
                        await place.sees("Free up context by summarizing")
                        place.keys("Enter")
                        await frontend.until(CompactBoundary)
                    else:
                        await typed(place, prompt)
                        # a subagent runs in the background there, and its end begins another turn
                        await allowed_turn(
                            frontend, f"{'reported' if 'reported' in prompt else 'interface'}-{number}"
                        )
                    await until(lambda: client.known_sessions[0].state == "idle", 60)
                    await client.command(commands.NativeTakeBack(session=session))
                    await place.sees("over", "brkint", "extproc")
                    assert place.is_as_found
                await until(lambda: client.known_sessions[0].in_terminal is None, 60)
            await frontend.prompt(plan([text("headless-last")]))
            await allowed_turn(frontend, "headless-last")
            (file,) = (tmp_path / "home" / ".claude" / "projects").glob("*/*.jsonl")
            assert done_and_said(told(frontend, below=False)) == done_and_said(kept(file))
            calls = [one.tool_call_id for one in frontend.seen(ToolCall)]
            assert len(calls) == len(set(calls))
            begun = [one.operation_id for one in frontend.seen(TurnStarted)]
            assert [one.operation_id for one in frontend.seen(Complete)] == begun
            assert len(set(begun)) == len(begun)
            assert {one.name for one in project.iterdir()} >= {
                "0",
                "1",
                "2",
                "two",
                "3",
                "6",
                "9",
                "below-4",
                "below-8",
            }

"""No two processes of a user run one conversation: sidecars, runners and `turnwire stdio`, each with a state of its own."""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from plain_agent import program_of

from agent_process import AgentProcess
from journals import RedisProcess
from live import Frontend, real_setup
from scripted_messages_api import plan, scripted_messages_api, text
from turnwire.adapter.families import open_session
from turnwire.adapter.options import CommandOptions, ConversationInUse, SessionOptions
from turnwire.adapter.process.conversation_lock import ConversationLock
from turnwire.adapter.session.notices import SessionNotice
from turnwire.client import Client, CommandFailed, connect
from turnwire.client import commands as do
from turnwire.client.events import Complete, TurnStarted
from turnwire.normalize.events import Complete as Finished
from turnwire.normalize.inputs import Ended
from turnwire.sidecar.streams.stdio.arguments import GoesOn
from turnwire.sidecar.streams.stdio.serve import Driven
from turnwire_process import DEADLINE, TURNWIRE, Served, environment
from turnwire_process import preloaded_turnwire as turnwire

JSON = dict[str, Any]

NEWEST = '(open("newest").read() if "--continue" in sys.argv else "cli-" + os.urandom(8).hex())'
"""Which conversation the agent has without being told its id."""

ANSWERS = """
def answers(text):
    folder = os.path.expanduser("~/.claude/projects/-p")
    os.makedirs(folder, exist_ok=True)
    said = {"type": "user", "uuid": os.urandom(8).hex(), "sessionId": session, "cwd": os.getcwd(), "timestamp": "2026-01-02T03:04:05.000Z"}
    with open(folder + "/" + session + ".jsonl", "a") as file:
        file.write(json.dumps({**said, "message": {"role": "user", "content": text}}) + "\\n")
    return ["echo: " + text]
"""
"""Keeps its conversations where Claude Code has them."""


@pytest.fixture
def agent(tmp_path: Path) -> list[str]:
    """An agent that goes on with the conversation in the file `newest` where it is to continue."""
    program = program_of(ANSWERS)
    own = '"cli-" + os.urandom(8).hex()'
    assert program.count(own) == 1
    (tmp_path / "agent.py").write_text(program.replace(own, NEWEST))
    return [sys.executable, "-S", "-E", str(tmp_path / "agent.py")]


@asynccontextmanager
async def sidecar(folder: Path, name: str, agent: list[str]) -> AsyncIterator[tuple[Client, Served]]:
    """A sidecar with its own state directory, and the HOME that all of them have."""
    own = folder / name
    own.mkdir(exist_ok=True)
    (own / "turnwire.toml").write_text(
        f"agent = 'echo'\nfrontend_workspaces = [{str(folder)!r}]\n[agents.echo]\nfamily = 'claude'\ncommand = {agent!r}\n"
    )
    env = environment(folder / "home", XDG_STATE_HOME=str(own / "xdg"))
    async with turnwire(own, "serve", env=env) as served, connect(served.url) as client:
        yield client, served


async def begun(client: Client, folder: Path) -> tuple[Frontend, str]:
    """A new session, and the id of its conversation, which the agent tells late."""
    frontend = Frontend(client, await client.create(workspace=str(folder)))
    complete = await frontend.turn("hello")
    assert complete.session_id is not None
    return frontend, complete.session_id


async def opened(client: Client, folder: Path, conversation: str) -> Frontend:
    """The conversation at another sidecar, which only shows it until there is a prompt."""
    resume = do.SessionCreate(workspace=str(folder), resume=conversation)
    return await Frontend(client, (await client.command(resume)).session).caught_up()


def owner(session: str, served: Served) -> str:
    return f"the session {session} of the turnwire process {served.process.pid}"


async def test_a_second_sidecar_is_refused_a_conversation_until_the_first_one_is_gone(
    tmp_path: Path, agent: list[str]
) -> None:
    async with (
        sidecar(tmp_path, "one", agent) as (client, served),
        sidecar(tmp_path, "two", agent) as (other, _),
    ):
        frontend, conversation = await begun(client, tmp_path)
        second = await opened(other, tmp_path, conversation)
        with pytest.raises(CommandFailed, match="go on there, end that session, or fork") as refused:
            await second.prompt("in between")
        assert refused.value.code == "in_session"
        assert owner(frontend.session, served) in str(refused.value)
        # the first one goes on as before
        assert (await frontend.turn("again")).session_id == conversation

        # a process that is killed blocks nobody
        await served.kill()
        assert (await second.turn("and on")).session_id == conversation


async def test_a_fork_takes_nothing_from_its_parent_and_an_ended_agent_holds_nothing(
    tmp_path: Path, agent: list[str]
) -> None:
    async with (
        sidecar(tmp_path, "one", agent) as (client, served),
        sidecar(tmp_path, "two", agent) as (other, at_two),
    ):
        frontend, conversation = await begun(client, tmp_path)
        fork = Frontend(client, (await client.command(do.SessionFork(session=frontend.session))).session)
        await fork.caught_up()
        own = (await fork.turn("aside")).session_id
        assert own != conversation
        # the fork's own conversation is held, as its agent has named it
        assert own is not None
        with pytest.raises(CommandFailed, match=owner(fork.session, served)):
            await (await opened(other, tmp_path, own)).prompt("hello")
        assert (await frontend.turn("again")).session_id == conversation

        await client.command(do.SessionClose(session=frontend.session))
        second = await opened(other, tmp_path, conversation)
        await second.turn("mine now")
        with pytest.raises(CommandFailed, match=owner(second.session, at_two)) as refused:
            await client.resume(frontend.session)
        assert refused.value.code == "in_session"


@asynccontextmanager
async def stdio(folder: Path, agent: list[str], *options: str) -> AsyncIterator[AgentProcess]:
    own = folder / "stdio"
    own.mkdir(exist_ok=True)
    (folder / "stdio.toml").write_text(f"[agents]\nunder = {json.dumps(agent)}\n")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(*TURNWIRE, "stdio", "--agent=under", f"--config={folder / 'stdio.toml'}", *options),
        cwd=folder,
        env=environment(folder / "home", TURNWIRE_STATE_DIR=str(own)),
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    try:
        async with asyncio.timeout(DEADLINE):
            yield AgentProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def ended(cli: AgentProcess) -> tuple[int | None, str]:
    """How a process ended by itself, and what it said."""
    _, errors = await cli.process.communicate()
    return cli.process.returncode, errors.decode()


@pytest.mark.parametrize("options", [["--resume", "{}"], ["--resume={}"], ["-r", "{}"]], ids=" ".join)
async def test_stdio_is_refused_what_a_sidecar_runs(
    tmp_path: Path, agent: list[str], options: list[str]
) -> None:
    async with sidecar(tmp_path, "one", agent) as (client, served):
        frontend, conversation = await begun(client, tmp_path)
        async with stdio(tmp_path, agent, *(one.format(conversation) for one in options)) as cli:
            code, said = await ended(cli)
        assert (code, owner(frontend.session, served) in said, said.count("\n")) == (1, True, 1)
        assert said.startswith("turnwire: ")


@pytest.mark.parametrize("option", ["-c", "--continue"])
async def test_stdio_that_finds_out_late_is_ended(tmp_path: Path, agent: list[str], option: str) -> None:
    more = [one.replace("--continue", option) for one in agent]
    program = Path(agent[-1])
    program.write_text(program.read_text().replace('"--continue" in', f'"{option}" in'))
    async with sidecar(tmp_path, "one", more) as (client, served):
        frontend, conversation = await begun(client, tmp_path)
        (tmp_path / "newest").write_text(conversation)
        async with stdio(tmp_path, more, option) as cli:
            cli.prompt("hi")
            code, said = await ended(cli)
        assert (code, owner(frontend.session, served) in said) == (1, True)
        # a fork of it takes nothing
        async with stdio(tmp_path, more, option, "--fork-session") as cli:
            cli.prompt("hi")
            assert (await cli.result())["subtype"] == "success"
        assert (await frontend.turn("again")).session_id == conversation


async def test_a_session_that_finds_out_late_is_ended_and_says_why(tmp_path: Path, agent: list[str]) -> None:
    async def outcome(command: CommandOptions) -> tuple[list[SessionNotice], Ended]:
        notices: list[SessionNotice] = []
        options = SessionOptions(
            workspace=tmp_path,
            executable=agent,
            command=command,
            environment=environment(tmp_path / "home"),
            ask_version=False,
        )
        async with asyncio.timeout(DEADLINE), open_session(options, notify=notices.append) as session:
            await session.prompt("hi")
            async for batch in session.batches():
                for item, events in batch:
                    if any(isinstance(event, Finished) for event in events):
                        session.close_input()
                    if isinstance(item, Ended):
                        return notices, item
        raise AssertionError("the session has no end")

    async with sidecar(tmp_path, "one", agent) as (client, served):
        frontend, conversation = await begun(client, tmp_path)
        (tmp_path / "newest").write_text(conversation)
        (notice,), end = await outcome(CommandOptions(continue_latest=True))
        assert (notice.code, owner(frontend.session, served) in notice.message) == (
            "conversation_in_use",
            True,
        )
        assert end.reason == "stopped"
        assert (await outcome(CommandOptions(continue_latest=True, fork=True)))[0] == []
        assert (await outcome(CommandOptions()))[0] == []
        assert (await frontend.turn("again")).session_id == conversation


async def test_a_sidecar_is_refused_what_stdio_runs(tmp_path: Path, agent: list[str]) -> None:
    async with sidecar(tmp_path, "one", agent) as (client, _), stdio(tmp_path, agent) as cli:
        cli.prompt("hi")
        conversation = (await cli.result())["session_id"]
        second = await opened(client, tmp_path, conversation)
        with pytest.raises(CommandFailed, match=f"the session stdio-{cli.process.pid} of the turnwire") as no:
            await second.prompt("hello")
        assert no.value.code == "in_session"
        cli.process.kill()
        await cli.process.wait()
        assert (await second.turn("on")).session_id == conversation


async def test_a_run_of_a_runner_is_refused_what_another_process_runs(
    tmp_path: Path, agent: list[str]
) -> None:
    async with sidecar(tmp_path, "one", agent) as (client, served):
        frontend, conversation = await begun(client, tmp_path)
        message = {"type": "user", "message": {"role": "user", "content": "hi"}}
        runs = [
            {
                "type": "run",
                "id": name,
                "params": {"model": "m", "rate_limit_max_retries": 0, "message": message, **more},
            }
            for name, more in (("a", {"resume": conversation}), ("b", {}))
        ]
        process = await asyncio.create_subprocess_exec(
            *(*TURNWIRE, "runner", "--", *agent),
            cwd=tmp_path,
            env=environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "runner")),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        lines = "".join(json.dumps(run) + "\n" for run in runs)
        output, _ = await process.communicate(lines.encode())
        found = [json.loads(line) for line in output.splitlines()]
        ends = {line["id"]: line for line in found if line["type"] == "end"}
        assert ends["a"]["error"].startswith("conversation-in-use: ")
        assert owner(frontend.session, served) in ends["a"]["error"]
        assert ends["b"]["status"] == "ok"


@pytest.mark.long
async def test_two_sidecars_over_the_real_cli_lose_no_turn_and_both_show_the_conversation(
    tmp_path: Path,
) -> None:
    with scripted_messages_api() as api:
        setup = real_setup(tmp_path, api, str)
        (tmp_path / "project").mkdir()
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "turnwire.toml").write_text(
                f"frontend_workspaces = [{str(tmp_path)!r}]\n[agents]\nclaude = {json.dumps(list(setup.argv))}\n"
            )
        async with (
            turnwire(tmp_path / "one", "serve", env=setup.env) as served,
            turnwire(tmp_path / "two", "serve", env=setup.env) as at_two,
            connect(served.url) as client,
            connect(at_two.url) as other,
        ):
            first = Frontend(client, await client.create(workspace=str(tmp_path / "project")))
            complete = await first.turn(plan([text("said-0")]))
            conversation = complete.session_id
            assert conversation is not None
            # what only shows it is not locked out
            opened = await other.command(do.LibraryOpen(conversation=conversation))
            shown = await Frontend(other, opened.session).caught_up()
            assert [one.session_id for one in shown.seen(Complete)][:1] == [conversation]
            with pytest.raises(CommandFailed) as refused:
                await other.prompt(opened.session, plan([text("elsewhere")]))
            assert refused.value.code in {"followed", "in_session"}
            for number in range(1, 4):
                assert (await first.turn(plan([text(f"said-{number}")]))).session_id == conversation
            await client.command(do.SessionClose(session=first.session))
            prompt = await shown.prompt(plan([text("said-4")]))
            await shown.until(TurnStarted, lambda turn: prompt in (turn.prompts or []))
            assert (await shown.until(Complete)).session_id == conversation
        (file,) = (tmp_path / "home" / ".claude" / "projects").glob("*/*.jsonl")
        assert all(f"said-{number}" in file.read_text() for number in range(5))
        assert "elsewhere" not in file.read_text()


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")
async def test_two_workers_of_a_group_do_not_run_one_conversation(tmp_path: Path, agent: list[str]) -> None:
    with TemporaryDirectory(prefix="redis-") as folder:
        redis = RedisProcess(Path(folder), "--save", "")
        redis.start()
        try:
            env = environment(tmp_path / "home")
            for name in ("hub", "w1", "w2"):
                (tmp_path / name).mkdir()
                settings = f"journal = {redis.url!r}\n"
                if name != "hub":
                    settings += (
                        f"worker = '{name}'\nworker_group = 'g'\nagent = 'echo'\nfrontend_workspaces = [{str(tmp_path)!r}]\n"
                        f"[agents.echo]\nfamily = 'claude'\ncommand = {agent!r}\n"
                    )
                (tmp_path / name / "turnwire.toml").write_text(settings)
            async with (
                turnwire(tmp_path / "w1", "serve", env=env) as one,
                turnwire(tmp_path / "w2", "serve", env=env) as two,
                turnwire(tmp_path / "hub", "hub", env=env) as hub,
                connect(hub.url) as client,
            ):
                begins = do.SessionCreate(workspace=str(tmp_path), worker="w1")
                first = Frontend(client, (await client.command(begins)).session)
                conversation = (await first.turn("hello")).session_id
                resume = do.SessionCreate(workspace=str(tmp_path), resume=conversation)
                # whoever names no worker goes on where it is
                assert (await client.command(resume)).session == first.session
                elsewhere = do.SessionCreate(workspace=str(tmp_path), resume=conversation, worker="w2")
                second = await Frontend(client, (await client.command(elsewhere)).session).caught_up()
                with pytest.raises(CommandFailed, match=owner(first.session, one)) as refused:
                    await second.prompt("in between")
                assert refused.value.code == "in_session"
                assert (await first.turn("again")).session_id == conversation

                await client.command(do.SessionClose(session=first.session))
                prompt = await second.prompt("on")
                await second.until(TurnStarted, lambda turn: prompt in (turn.prompts or []))
                with pytest.raises(CommandFailed, match=owner(second.session, two)):
                    await first.prompt("and I")
        finally:
            redis.kill()


async def test_stdio_waits_a_little_for_a_holder_that_is_ending(tmp_path: Path) -> None:
    """A caller goes on with a conversation as soon as it has an answer, and its last process may still end."""
    home = {"HOME": str(tmp_path)}
    with (
        closing(ConversationLock("claude", home, "s-1")) as holder,
        closing(Driven(GoesOn("c1", True), home)) as next_one,
    ):
        holder.take("c1")
        taking = asyncio.create_task(next_one.take("c1"))
        await asyncio.sleep(0)
        assert not taking.done()
        holder.close()
        await taking
        with pytest.raises(ConversationInUse):
            holder.take("c1")


async def test_an_agent_that_gives_the_conversation_another_id_goes_on_with_nobody_elses(
    tmp_path: Path,
) -> None:
    home = {"HOME": str(tmp_path)}
    with (
        closing(ConversationLock("claude", home, "s-1")) as holder,
        closing(Driven(GoesOn("c1", True), home)) as next_one,
    ):
        holder.take("c2")
        await next_one.take("c1")
        await next_one.take("c2")
        with pytest.raises(ConversationInUse):
            holder.take("c1")

"""`turnwire attach` on real agents, offline: two terminals and a frontend at once, decisions, interrupts, and a hub that is killed."""

import asyncio
import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from real_agents import CODEX, OPENCODE, RealAgent
from scripted_models import Answer, Say, Wait, last_prompt, scripted_models
from tmux import Terminal, terminal

from cut_line import SlowLine, line_to
from live import Frontend
from real_cli import real_cli, real_cli_environment
from scripted_messages_api import (
    ScriptedMessagesApi,
    hang,
    pause,
    plan,
    scripted_messages_api,
    text,
    tool_use,
)
from turnwire.client import connect
from turnwire.client.events import (
    Complete,
    PermissionRequest,
    QuestionRequest,
    Queued,
    UserMessage,
    Withdrawn,
)
from turnwire_process import TURNWIRE, environment, turnwire
from waiting import until

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 240.0


class Agent:
    """A real agent whose model does as the test says."""

    def __init__(
        self,
        run: Callable[[str, str], str],
        stand_still: Callable[[], str],
        is_still: Callable[[], bool],
        say: Callable[[str], str],
    ) -> None:
        self.run = run
        """Returns the prompt with which it runs a command and then says a text."""
        self.stand_still = stand_still
        """Returns the prompt with which its model says nothing."""
        self.is_still = is_still
        self.say = say
        """Returns the prompt with which it says a text."""


def configured(folder: Path, name: str, command: list[str], env: dict[str, str]) -> None:
    lines = [
        f'agent = "{name}"',
        f"[agents.{name}]",
        f"command = {json.dumps(command)}",
        f"[agents.{name}.env]",
    ]
    lines += [f"{key} = {json.dumps(value)}" for key, value in env.items()]
    (folder / "turnwire.toml").write_text("\n".join(lines))


def configured_claude(folder: Path, api: ScriptedMessagesApi) -> None:
    env = real_cli_environment(folder / "home", api.url)
    own = {key: value for key, value in env.items() if key not in {"HOME", "PATH"}}
    configured(folder, "claude", [str(real_cli())], own)


@contextmanager
def claude(folder: Path) -> Iterator[Agent]:
    with scripted_messages_api() as api:
        configured_claude(folder, api)
        yield Agent(
            lambda command, said: plan([tool_use("Bash", command=command)], [text(said)]),
            lambda: plan([hang()]),
            lambda: json.dumps('"hang"')[1:-1] in json.dumps(api.requests[-1:]),
            lambda said: plan([text(said)]),
        )


@contextmanager
def other(folder: Path, agent: RealAgent) -> Iterator[Agent]:
    with scripted_models() as models:
        configured(folder, agent.name, agent.command(), dict(agent.prepare(folder / "home", models.url)))

        def queued(*answers: list[object]) -> str:
            models.answers.clear()  # of some agents a refusal ends the turn
            models.answers.extend(answers)  # type: ignore[arg-type]  # their parts
            return "Go on."

        yield Agent(
            lambda command, said: queued([agent.shell(command)], [Say(said)]),
            lambda: queued([Wait()]),
            models.waiting.is_set,
            lambda said: queued([Say(said)]),
        )


AGENTS: dict[str, Callable[[Path], AbstractContextManager[Agent]]] = {
    "claude": claude,
    "codex": lambda folder: other(folder, CODEX),
    "opencode": lambda folder: other(folder, OPENCODE),
}


async def prompted(place: Terminal, prompt: str, key: str = "Enter") -> None:
    place.say(prompt)
    try:
        await until(lambda: place.shows(prompt[-8:]), 60)
    except TimeoutError:
        pytest.fail(f"{prompt!r} is not in the field:\n{place.text()}")
    place.keys(key)


async def three_wait_and_one_is_changed(place: Terminal, key: str = "Enter") -> None:
    """Say three prompts while a turn runs; take the last one back, and change the one before it."""
    for count, prompt in enumerate(("queue-one", "queue-two", "queue-three"), start=1):
        await prompted(place, prompt, key)
        await place.sees(f"{count} waiting:", "Say something")
    await place.sees("3 waiting: queue-one · queue-two · queue-three")
    place.keys("F6")
    await place.sees("2 waiting: queue-one · queue-two ", "│ queue-three ")
    place.keys("C-u")
    await place.sees("Say something")
    place.keys("F6")
    await place.sees("1 waiting: queue-one ", "│ queue-two ")
    await prompted(place, ".changed", key)
    await place.sees("2 waiting: queue-one · queue-two.changed ", "Say something")


async def decided(place: Terminal, key: str, is_done: Callable[[], bool]) -> None:
    """Press the key of a decision as a person does, and again if the request had not stood there for long enough."""
    place.keys("F2")
    async with asyncio.timeout(PATIENCE):
        while not is_done():
            place.keys(key)
            try:
                await until(is_done, 3)
            except TimeoutError:
                continue


def is_whole(place: Terminal) -> bool:
    """Whether the field of the prompt is at the bottom of the screen, in one piece."""
    lines = place.text().rstrip("\n").split("\n")
    return [line[:1] for line in lines[-4:-1]] == ["╭", "│", "╰"]


@pytest.mark.parametrize("name", AGENTS)
async def test_a_real_agent_is_led_from_two_terminals_and_a_frontend(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    attach = " ".join([*TURNWIRE, "attach", "--state-dir", str(tmp_path / "state")])
    with AGENTS[name](tmp_path) as agent:
        run = ("run", "--workspace", str(project), "--policy", "supervised")
        async with (
            turnwire(tmp_path, *run, env=home) as served,
            terminal(tmp_path, attach, "small", width=80, height=24) as small,
            terminal(tmp_path, attach, "large", width=200, height=50) as large,
        ):
            async with connect(served.url) as client:
                frontend = Frontend(client, client.known_sessions[0].session, PATIENCE)
                session = frontend.session
                await small.sees("Say something")
                await large.sees("Say something")

                await prompted(small, agent.run("touch one", "first-is-done"))
                await small.sees("touch one", "y or 1:")
                await large.sees("touch one", "y or 1:")
                await decided(small, "y", (project / "one").exists)
                await large.sees("first-is-done")
                await small.sees("first-is-done", "Allowed by terminal")
                await frontend.until(Complete)

                await prompted(large, agent.run("touch two", "second-is-done"))
                await small.sees("touch two", "y or 1:")
                await large.sees("y or 1:")
                await decided(large, "n", lambda: "Denied by terminal" in large.text())
                await small.sees("Denied by terminal")
                await frontend.until(Complete)
                assert not (project / "two").exists()

                await prompted(small, agent.run("touch three", "third-is-done"))
                await small.sees("touch three", "y or 1:")
                asked = await frontend.until(
                    PermissionRequest, lambda one: "three" in str(one.permission_title)
                )
                once = next(one for one in asked.permission_options if one.kind == "allow_once")
                await frontend.respond(asked, once.option_id)
                await small.until_gone("y or 1:")
                await large.sees("third-is-done")
                await frontend.until(Complete)

                await prompted(small, agent.stand_still())
                await until(agent.is_still, 90)
                await small.sees("working")
                small.keys("Escape")
                await large.sees("Interrupted")
                await frontend.until(Complete)

                for width, height in ((120, 35), (60, 16), (80, 24)):
                    small.run("resize-window", "-x", str(width), "-y", str(height))
                    await until(lambda: is_whole(small), 60)

            large.keys("C-b")
            await large.sees("d: leave")
            large.keys("d")
            await large.sees("turnwire: left", "over 0", "brkint")
            assert large.is_as_found

            await served.kill()
            await small.sees("no connection")
            again = ("serve", "--port", served.base.rpartition(":")[2])
            async with (
                turnwire(tmp_path, *again, placed=False, env=home),
                terminal(tmp_path, f"{attach} {session}", "third", width=200, height=50) as third,
            ):
                await small.until_gone("no connection")
                await third.sees("third-is-done")
                await prompted(small, agent.say("after-the-kill"))
                await small.sees("after-the-kill")
                await third.sees("after-the-kill")
                third.keys("C-q")
                await third.sees("over 0", "brkint")
                assert third.is_as_found


async def test_a_question_of_claude_code_is_answered_in_a_terminal(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    attach = " ".join([*TURNWIRE, "attach", "--state-dir", str(tmp_path / "state")])
    options = [{"label": label, "description": ""} for label in ("Red", "Blue")]
    question = {"question": "Which colour?", "header": "C", "multiSelect": False, "options": options}
    with claude(tmp_path):
        async with (
            turnwire(tmp_path, "run", "--workspace", str(project), env=home) as served,
            connect(served.url) as client,
            terminal(tmp_path, attach, width=80, height=24) as place,
        ):
            frontend = Frontend(client, client.known_sessions[0].session, PATIENCE)
            await place.sees("Say something")
            asking = plan([tool_use("AskUserQuestion", questions=[question])], [text("it-is-painted")])
            await frontend.prompt(asking)
            await frontend.until(QuestionRequest)
            await place.sees("Which colour?", "2: Blue")
            await until(lambda: client.known_sessions[0].pending == 1, PATIENCE)
            await decided(place, "2", lambda: client.known_sessions[0].pending == 0)
            assert (await frontend.until(Complete)).data.outcome == "completed"


def said_in(place: Terminal) -> list[str]:
    """Return the conversation on the screen, without the lines above and below it."""
    return place.text().rstrip("\n").split("\n")[1:-4]


@pytest.mark.parametrize("name", AGENTS)
async def test_a_real_agent_is_led_over_a_slow_line_that_is_cut(tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    with AGENTS[name](tmp_path) as agent:
        run = ("run", "--workspace", str(project), "--policy", "supervised")
        async with (
            turnwire(tmp_path, *run, env=home) as served,
            line_to(served.base, SlowLine) as (line, base),
        ):
            far = f"{base}/#token={served.token}&session={served.session}"
            near = " ".join([*TURNWIRE, "attach", "--state-dir", str(tmp_path / "state")])
            async with (
                terminal(
                    tmp_path, " ".join([*TURNWIRE, "attach", shlex.quote(far)]), "far", width=100, height=30
                ) as place,
                terminal(tmp_path, near, "near", width=100, height=30) as beside,
            ):
                await place.sees("Say something", "idle")
                await beside.sees("Say something", "idle")
                await prompted(place, agent.run("touch one", "first-is-done"))
                await place.sees("touch one", "y or 1:")
                await decided(place, "y", (project / "one").exists)
                await place.sees("first-is-done", "Allowed by terminal")
                await place.until_gone("y or 1:")

                await prompted(place, agent.stand_still())
                await until(agent.is_still, 90)
                await place.sees("working")
                line.cut()
                await place.sees("no connection")
                line.mend()
                await place.until_gone("no connection")
                # a prompt whose reply was cut off came back into the field, and leaves it by itself
                await place.sees("working", "Say something")
                place.keys("Escape")
                await place.sees("Interrupted")
                await place.until_gone("working")

                await prompted(place, agent.say("after-the-cut"))
                await beside.sees("after-the-cut", "first-is-done")
                try:
                    await until(lambda: said_in(place) == said_in(beside), 60)
                except TimeoutError:
                    pytest.fail(f"the screens differ:\n{place.text()}\n{beside.text()}")
                assert "after-the-cut" in place.text()


async def test_prompts_that_wait_for_claude_code_are_taken_back_changed_and_served_in_order(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    attach = " ".join([*TURNWIRE, "attach", "--state-dir", str(tmp_path / "state")])
    with scripted_messages_api() as api:
        configured_claude(tmp_path, api)
        async with (
            turnwire(tmp_path, "run", "--workspace", str(project), env=home) as served,
            connect(served.url) as client,
            terminal(tmp_path, attach, width=120, height=30) as place,
        ):
            frontend = Frontend(client, client.known_sessions[0].session, PATIENCE)
            await place.sees("Say something", "idle")
            await prompted(place, plan([text("it-begins"), pause(), text("it-ends")]))
            await place.sees("working")
            await until(lambda: bool(api.requests), 90)
            await three_wait_and_one_is_changed(place)
            api.resume()
            await place.until_gone("waiting:")
            await place.sees("it-ends")
            await place.until_gone("working")
            sent = json.dumps(api.requests[-1]["messages"])
            assert 0 < sent.index("queue-one") < sent.index("queue-two.changed")
            assert sent.count("queue-two") == sent.count("queue-two.changed")
            assert "queue-three" not in sent
            withdrawn = [(await frontend.until(Withdrawn)).prompt for _ in range(2)]
            said = {one.uuid: one.text for one in frontend.seen(UserMessage)}
            assert [said[prompt] for prompt in withdrawn] == ["queue-three", "queue-two"]


@pytest.mark.parametrize(
    ("agent", "key"),
    [(CODEX, "F8"), (OPENCODE, "Enter"), (OPENCODE, "F8")],
    ids=["codex-F8", "opencode-Enter", "opencode-F8"],
)
async def test_prompts_that_wait_for_other_agents_are_taken_back_changed_and_served_after_the_turn(
    tmp_path: Path, agent: RealAgent, key: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = environment(tmp_path / "home", TURNWIRE_STATE_DIR=str(tmp_path / "state"))
    attach = " ".join([*TURNWIRE, "attach", "--state-dir", str(tmp_path / "state")])

    def answer(prompt: str, results: int) -> Answer:
        if prompt.rsplit(maxsplit=1)[-1] != "begin":
            return [Say(f"heard-{prompt.rsplit(maxsplit=1)[-1]}")]
        return [Say("it-ends")] if results else [Say("it-begins"), agent.shell("touch one")]

    with scripted_models() as models:
        models.model = answer
        configured(tmp_path, agent.name, agent.command(), dict(agent.prepare(tmp_path / "home", models.url)))
        async with (
            turnwire(
                tmp_path, "run", "--workspace", str(project), "--policy", "supervised", env=home
            ) as served,
            connect(served.url) as client,
            terminal(tmp_path, attach, width=120, height=40) as place,
        ):
            frontend = Frontend(client, client.known_sessions[0].session, PATIENCE)
            await place.sees("Say something", "idle")
            await prompted(place, "begin")
            await place.sees("it-begins", "y or 1:")
            await three_wait_and_one_is_changed(place, key)
            await decided(place, "y", (project / "one").exists)
            await place.until_gone("waiting:")
            await place.sees("it-ends", "heard-queue-one", "heard-queue-two.changed")
            for _ in range(3):
                await frontend.until(Complete)
            said = [(prompt.split()[-1], results) for prompt, results in map(last_prompt, models.requests)]
            assert said == [("begin", 0), ("begin", 1), ("queue-one", 0), ("queue-two.changed", 0)]
            texts = {one.prompt: one.text for one in frontend.seen(Queued)}
            withdrawn = [texts[one.prompt] for one in frontend.seen(Withdrawn)]
            assert withdrawn == ["queue-three", "queue-two"]

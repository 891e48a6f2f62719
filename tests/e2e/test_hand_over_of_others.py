"""`turnwire attach --native` of agents other than Claude Code: into the real interface in a terminal, and back, offline."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from real_agents import GEMINI, OPENCODE, QWEN, RealAgent
from scripted_models import Answer, Say, scripted_models
from tmux import Terminal, terminal

from live import Frontend, told
from turnwire.client import commands, connect
from turnwire.client.events import Complete, TurnStarted
from turnwire_process import TURNWIRE, environment, turnwire
from waiting import until

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 240.0


def records(folder: Path) -> list[dict[str, Any]]:
    """The lines of all conversations in a folder."""
    return [
        json.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()
    ]


def kept_by_qwen(home: Path) -> Iterator[str]:
    (chats,) = home.glob(".qwen/projects/*/chats")
    for record in records(chats):
        for part in record.get("message", {}).get("parts", ()):
            match part:
                case {"functionCall": call}:
                    yield f"call {call['id']}"
                case {"functionResponse": response}:
                    yield f"result {response['id']}"
                case {"text": text}:
                    yield f"{'>' if record['type'] == 'user' else 'said'} {text}"
                case _:
                    pass


def kept_by_gemini(home: Path) -> Iterator[str]:
    (chats,) = home.glob(".gemini/tmp/*/chats")
    # a message is written again when its calls have ended
    for message in {record["id"]: record for record in records(chats) if "id" in record}.values():
        match message:
            case {"type": "user", "content": content}:
                yield from (f"> {part['text']}" for part in content if "text" in part)
            case {"type": "gemini", "content": text}:
                if text:
                    yield f"said {text}"
                for call in message.get("toolCalls", ()):
                    yield f"call {call['id']}"
                    yield from (f"result {one['functionResponse']['id']}" for one in call["result"])
            case _:
                pass


def kept_by_opencode(home: Path) -> Iterator[str]:
    with closing(sqlite3.connect(home / ".local" / "share" / "opencode" / "opencode.db")) as database:
        found = database.execute(
            "SELECT message.data, part.data FROM part JOIN message ON message.id = message_id ORDER BY part.id"
        ).fetchall()
    for message, part in ((json.loads(message), json.loads(part)) for message, part in found):
        match part:
            case {"type": "text", "text": text}:
                yield f"{'>' if message['role'] == 'user' else 'said'} {text}"
            case {"type": "tool", "callID": call, "state": {"status": "completed"}}:
                yield f"call {call}"
                yield f"result {call}"
            case _:
                pass


@dataclass(frozen=True)
class Interface:
    """An agent's own interface."""

    agent: RealAgent
    ready: str
    """What stands on the screen once it takes keys."""
    kept: Callable[[Path], Iterator[str]]
    """Prompts, texts, calls and results of the conversation that is kept below a HOME, as `told` has them."""
    loads_at_once: bool = True
    """Whether it loads a conversation without a terminal in the minute in which that began, or in which it was loaded last."""


INTERFACES = [
    Interface(QWEN, "Type your message", kept_by_qwen),
    Interface(OPENCODE, "ctrl+p commands", kept_by_opencode),
    Interface(GEMINI, "Type your message", kept_by_gemini, loads_at_once=False),
]


async def pressed(place: Terminal, is_done: Callable[[], bool], where: str = "") -> None:
    """Press Enter where a text is on the screen until it has been taken: an interface that has just drawn itself takes no keys yet."""
    async with asyncio.timeout(PATIENCE):
        while not is_done():
            if where in place.text():
                place.keys("Enter")
            with suppress(TimeoutError):
                await until(is_done, 3)


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.agent.name)
async def test_a_conversation_goes_into_the_interface_and_back_twice(
    tmp_path: Path, interface: Interface
) -> None:
    agent = interface.agent
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()

    def answer(prompt: str, results: int) -> Answer:
        """Make a file if the prompt names one; an agent's own questions, such as whether a command is safe, get another answer."""
        name = prompt.strip().rpartition("make-")[2]
        if not name.isalpha():
            return [Say(f"answer-to-{prompt.strip()[-8:]}")]
        return [Say(f"{name}-is-there")] if results else [agent.shell(f"echo 1 >{name}")]

    with scripted_models() as models:
        models.model = answer
        given = agent.prepare(home, models.url)
        program, *rest = agent.command()
        (tmp_path / "bin").mkdir()
        named = tmp_path / "bin" / agent.name
        named.write_text(
            f'#!/bin/sh\nexec {" ".join([program, *(one for one in rest if "/" in one)])} "$@"\n'
        )
        named.chmod(0o755)
        words = [str(named), *(one for one in rest if "/" not in one)]
        (tmp_path / "turnwire.toml").write_text(
            f'agent = "{agent.name}"\n[agents.{agent.name}]\ncommand = {json.dumps(words)}\n[agents.{agent.name}.env]\n'
            + "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
        )
        env = environment(home, **given)
        attach = " ".join([*TURNWIRE, "attach", "--native", "--state-dir", str(tmp_path / "state")])
        run = ("run", "--workspace", str(project))
        async with turnwire(tmp_path, *run, env=env) as served, connect(served.url) as client:
            frontend = Frontend(client, client.known_sessions[0].session, PATIENCE)
            await frontend.prompt("headless-0")
            await frontend.until(Complete)
            began = time.time() // 60
            for turns, name in ((2, "one"), (4, "two")):
                async with terminal(tmp_path, attach, name, env, width=120, height=40) as place:
                    await place.sees("answer-to-adless-0", interface.ready)
                    place.say(f"make-{name}")
                    await until(lambda name=name: place.text().count(f"make-{name}") == 1, 60)  # type: ignore[misc]  # bound now
                    await pressed(place, lambda name=name: f"make-{name}" in json.dumps(models.requests[-1]))  # type: ignore[misc]
                    await pressed(place, (project / name).exists, "llow once")
                    await place.sees(f"{name}-is-there")
                    while f"{name}-is-there" not in frontend.text():
                        await frontend.next()
                    await client.command(commands.NativeTakeBack(session=frontend.session, now=True))
                    await place.sees("over", "brkint", "extproc")
                    assert place.is_as_found
                await frontend.until(Complete, lambda _, turns=turns: len(frontend.seen(Complete)) == turns)  # type: ignore[misc]  # bound now
                await until(lambda: client.known_sessions[0].in_terminal is None, 60)
                await until(lambda began=began: interface.loads_at_once or time.time() // 60 > began, 90)  # type: ignore[misc]  # bound now
                await frontend.prompt(f"headless-{name}")
                await frontend.until(
                    Complete,
                    lambda _, turns=turns: len(frontend.seen(Complete)) == turns + 1,  # type: ignore[misc]  # bound now
                )
                began = time.time() // 60
            assert [one for one in told(frontend) if one != "complete"] == list(interface.kept(home))
            assert frontend.text() == (
                "answer-to-adless-0one-is-thereanswer-to-less-onetwo-is-thereanswer-to-less-two"
            )
            assert len(frontend.seen(TurnStarted)) == 5
            # the agent knows all of it
            assert "one-is-there" in json.dumps(models.requests[-1])
            assert "two-is-there" in json.dumps(models.requests[-1])

"""A program written for Claude Code's SDK over real agents of other kinds, offline: one conversation, from its prompt to its resumption."""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    StreamEvent,
    TextBlock,
    ToolPermissionContext,
    ToolResultBlock,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)
from real_agents import CODEX, GEMINI, OPENCODE, QWEN, RealAgent, node
from scripted_models import Answer, Call, Say, ScriptedModels, Wait, scripted_models

from recordings import ROOT
from turnwire_process import environment
from waiting import until

pytestmark = [pytest.mark.long, pytest.mark.node]

PATIENCE = 120.0


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with scripted_models() as served:
        yield served


def options(folder: Path, agent: RealAgent, family: str, url: str) -> ClaudeAgentOptions:
    """What starts the SDK over `turnwire stdio` over the agent."""
    (folder / "project").mkdir()
    given = agent.prepare(folder / "home", url)
    (folder / "turnwire.toml").write_text(
        f'[agents.tried]\nfamily = "{family}"\ncommand = {json.dumps(agent.command())}\n[agents.tried.env]\n'
        + "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
    )
    turnwire = [
        sys.executable,
        "-m",
        "turnwire",
        "stdio",
        "--agent",
        "tried",
        "--config",
        str(folder / "turnwire.toml"),
    ]
    program = folder / "cli"
    program.write_text(
        f'#!/bin/sh\nexec env -i $(env | grep -E "^(HOME|PATH|PYTHONPATH)=") {shlex.join(turnwire)} "$@"\n'
    )
    program.chmod(0o755)
    return ClaudeAgentOptions(
        cli_path=program,
        cwd=folder / "project",
        env={**environment(folder / "home"), "PYTHONPATH": str(ROOT)},
        include_partial_messages=True,
    )


async def turn(client: ClaudeSDKClient, prompt: str) -> tuple[list[Any], ResultMessage]:
    await client.query(prompt)
    messages = [message async for message in client.receive_response()]
    result = messages[-1]
    assert isinstance(result, ResultMessage)
    return messages, result


def texts(messages: list[Any]) -> list[str]:
    said = [message.content for message in messages if isinstance(message, AssistantMessage)]
    return [block.text for content in said for block in content if isinstance(block, TextBlock)]


def results(messages: list[Any]) -> list[ToolResultBlock]:
    told = [m.content for m in messages if isinstance(m, UserMessage) and isinstance(m.content, list)]
    return [block for content in told for block in content if isinstance(block, ToolResultBlock)]


@dataclass
class Tried:
    agent: RealAgent
    family: str
    add: str | None
    """What its model calls the tool of a server; None where it has to be looked for."""


AGENTS = [
    pytest.param(Tried(CODEX, "codex-app-server", None), id="codex"),
    pytest.param(Tried(GEMINI, "acp", "mcp_calc_add"), id="gemini"),
    pytest.param(Tried(QWEN, "qwen", "mcp__calc__add"), id="qwen"),
]


@pytest.mark.parametrize("tried", AGENTS)
async def test_a_program_of_the_sdk_drives_the_agent(
    tried: Tried, models: ScriptedModels, tmp_path: Path
) -> None:
    agent = tried.agent
    asked: list[tuple[str, dict[str, Any]]] = []
    added: list[dict[str, Any]] = []

    async def decide(
        name: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        asked.append((name, arguments))
        if "denied" in str(arguments):
            return PermissionResultDeny(message="not this one")
        return PermissionResultAllow()

    @tool("add", "Add two numbers", {"a": int, "b": int})
    async def add_numbers(arguments: dict[str, Any]) -> dict[str, Any]:
        added.append(arguments)
        return {"content": [{"type": "text", "text": "five"}]}

    made = options(tmp_path, agent, tried.family, models.url)
    made.can_use_tool = decide
    made.mcp_servers = {"calc": create_sdk_mcp_server("calc", tools=[add_numbers])}
    touched, denied = (tmp_path / "project" / name for name in ("touched", "denied"))
    async with asyncio.timeout(PATIENCE), ClaudeSDKClient(made) as client:
        models.answers += [[Say("Hello there, it works.")]]
        messages, result = await turn(client, "Greet me.")
        assert texts(messages) == ["Hello there, it works."]
        deltas = [m.event["delta"] for m in messages if isinstance(m, StreamEvent) and "delta" in m.event]
        assert "".join(one.get("text", "") for one in deltas) == "Hello there, it works."
        assert (result.subtype, result.is_error, result.result) == (
            "success",
            False,
            "Hello there, it works.",
        )
        assert result.usage is not None
        session = result.session_id

        models.answers += [[agent.shell(f"touch {touched}")], [Say("It is touched.")]]
        messages, result = await turn(client, "Touch it.")
        assert [(name, arguments["command"]) for name, arguments in asked] == [("Bash", f"touch {touched}")]
        assert touched.exists()
        assert (texts(messages), result.session_id) == (["It is touched."], session)
        assert [bool(one.is_error) for one in results(messages)] == [False]

        models.answers += [[agent.shell(f"touch {denied}")], [Say("Then not.")]]
        messages, result = await turn(client, "Touch the other.")
        assert not denied.exists()
        assert [one["tool_name"] for one in result.permission_denials or []] == ["Bash"]

        models.answers.clear()  # one that ends its turn at a denial has not taken the last
        if tried.add is not None:
            models.answers += [[Call(tried.add, {"a": 2, "b": 3})], [Say("Five.")]]
            messages, result = await turn(client, "Add them.")
            assert added == [{"a": 2, "b": 3}]
            assert asked[-1] == ("mcp__calc__add", {"a": 2, "b": 3})
            assert "five" in str(results(messages)[-1].content)

        models.answers += [[Wait()]]
        models.waiting.clear()
        await client.query("Wait.")
        await until(models.waiting.is_set)
        await client.interrupt()
        last = [message async for message in client.receive_response()][-1]
        assert isinstance(last, ResultMessage)
        assert last.subtype == "error_during_execution"

    agent.age(tmp_path / "home")
    made.resume = session
    async with asyncio.timeout(PATIENCE), ClaudeSDKClient(made) as client:
        models.answers += [[Say("I remember.")]]
        messages, result = await turn(client, "Go on.")
        assert texts(messages)[-1] == "I remember."
        assert "Greet me." in json.dumps(models.requests[-1])


def _answers(agent: RealAgent, add: str, touched: Path) -> Callable[[str, int], Answer]:
    def answer(prompt: str, results: int) -> Answer:
        for word, call in (
            ("Touch-it", agent.shell(f"touch {touched}")),
            ("Add-it", Call(add, {"a": 2, "b": 3})),
        ):
            if word in prompt:
                return [Say(f"{word}: done.")] if results else [call]
        return [Say("Hello there.")]

    return answer


async def test_a_program_of_the_sdk_for_typescript_drives_the_agents(tmp_path: Path) -> None:
    scenario = {
        "options": {"include_partial_messages": True},
        "tool": {"behavior": "allow"},
        "mcp": True,
        "hooks": {},
        "actions": [
            [kind, word] for word in ("Greet-me", "Touch-it", "Add-it") for kind in ("say", "result")
        ],
    }
    chosen = (
        (GEMINI, "acp", "mcp_sums_add"),
        (QWEN, "qwen", "mcp__sums__add"),
        (OPENCODE, "acp", "sums_add"),
    )
    jobs, folders = [], [tmp_path / agent.name for agent, _, _ in chosen]
    with ExitStack() as served:
        for folder, (agent, family, add) in zip(folders, chosen, strict=True):
            folder.mkdir()
            models = served.enter_context(scripted_models())
            models.model = _answers(agent, add, folder / "touched")
            made = options(folder, agent, family, models.url)
            jobs.append({"scenario": scenario, "cli": str(made.cli_path), "env": made.env})
        work = tmp_path / "jobs.json"
        work.write_text(json.dumps({"jobs": jobs, "at_once": len(jobs)}))
        player = ROOT / "tests" / "support" / "agents" / "sdk_typescript.mjs"
        process = await asyncio.create_subprocess_exec(
            str(node()), str(player), str(ROOT / "tests" / "agents"), str(work),
            env=environment(tmp_path / "home"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(PATIENCE):
            printed, stderr = await process.communicate()
    assert process.returncode == 0, stderr
    for folder, told in zip(folders, json.loads(printed), strict=True):
        assert told["error"] == "", folder.name
        messages = [json.loads(one) for one in told["messages"]]
        results = [(one["subtype"], one["result"]) for one in messages if one["type"] == "result"]
        assert results == [
            ("success", "Hello there."),
            ("success", "Touch-it: done."),
            ("success", "Add-it: done."),
        ], folder.name
        assert (folder / "touched").exists()
        assert told["calls"][0].startswith("Bash ")
        assert "5" in str([one for one in messages if one["type"] == "user"][-1]["message"]["content"])


MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
CALLBACKS = ("absent", "denying", "raising", "allowing")
ALLOWED: Mapping[str, Callable[[str, str], bool]] = {
    "default": lambda _, callback: callback == "allowing",
    "acceptEdits": lambda act, callback: act == "write" or callback == "allowing",
    "plan": lambda _, callback: callback == "allowing",
    "dontAsk": lambda *_: False,
    "bypassPermissions": lambda *_: True,
}
"""Permission mode -> whether the caller allows an act, which is `run` or `write`, by its mode and its callback."""


def _does_as_told(agent: RealAgent, project: Path) -> Callable[[str, int], Answer]:
    def answer(prompt: str, results: int) -> Answer:
        wanted = re.search(r"Make-it ((run|write)-[a-z]+)", prompt)  # an agent may add words of its own
        if wanted is None or results:
            return [Say("That is all.")]
        made = project / wanted[1]
        return [agent.shell(f"touch {made}") if wanted[2] == "run" else agent.write(made, "made\n")]

    return answer


@pytest.mark.filterwarnings("ignore::claude_agent_sdk.CanUseToolShadowedWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("agent", "family"),
    [
        pytest.param(CODEX, "codex-app-server", id="codex"),
        pytest.param(GEMINI, "acp", id="gemini"),
        pytest.param(OPENCODE, "acp", id="opencode"),
        pytest.param(QWEN, "qwen", id="qwen"),
    ],
)
async def test_an_agent_does_nothing_that_the_mode_and_the_callback_do_not_allow(
    agent: RealAgent, family: str, mode: Any, models: ScriptedModels, tmp_path: Path
) -> None:
    callback, asked = "denying", list[str]()

    async def decide(
        name: str, arguments: dict[str, Any], context: ToolPermissionContext
    ) -> PermissionResultAllow | PermissionResultDeny:
        asked.append(str(arguments))
        if callback == "raising":
            raise ValueError("the callback failed")
        return (
            PermissionResultAllow()
            if callback == "allowing"
            else PermissionResultDeny(message="not this one")
        )

    made = options(tmp_path, agent, family, models.url)
    made.permission_mode = mode
    project = tmp_path / "project"
    models.model = _does_as_told(agent, project)
    for has_callback in (False, True):
        made.can_use_tool = decide if has_callback else None
        async with asyncio.timeout(PATIENCE), ClaudeSDKClient(made) as client:
            for callback in CALLBACKS:
                if (callback != "absent") != has_callback:
                    continue
                for act in ("run", "write"):
                    file = project / f"{act}-{callback}"
                    asked.clear()
                    await turn(client, f"Make-it {file.name}")
                    is_asked = any(file.name in one for one in asked)
                    why = f"{mode}, {callback}, {act}: asked {asked}"
                    if not ALLOWED[mode](act, callback):
                        assert not file.exists(), why
                    elif mode != "plan":  # an agent that plans may refuse by itself
                        assert file.exists(), why
                    if file.exists() and mode in ("default", "plan"):
                        assert is_asked, why

"""Commands that an agent has us run: in the workspace, bounded, and none outlives the session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from turnwire.adapter.acp.terminals import TerminalRefused, Terminals


@asynccontextmanager
async def _terminals(workspace: Path, *, limit: int = 32, max_output: int = 1024) -> AsyncIterator[Terminals]:
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        terminals = Terminals(
            workspace, {"PATH": "/usr/bin:/bin"}, tasks=tasks, limit=limit, max_output=max_output
        )
        try:
            yield terminals
        finally:
            await terminals.close()


async def _run(terminals: Terminals, **params: object) -> tuple[object, object]:
    made = await terminals.answer("terminal/create", dict(params))
    ended = await terminals.answer("terminal/wait_for_exit", made)
    return ended, await terminals.answer("terminal/output", made)


async def test_a_command_runs_with_its_arguments_or_as_a_line_for_the_shell(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with _terminals(tmp_path) as terminals:
        ended, said = await _run(terminals, command="echo", args=["a b", "$HOME"])
        assert ended == {"exitCode": 0, "signal": None}
        assert said == {"output": "a b $HOME\n", "truncated": False, "exitStatus": ended}
        ended, said = await _run(terminals, command="echo out; echo err >&2; exit 3")
        assert (ended, said["output"]) == ({"exitCode": 3, "signal": None}, "out\nerr\n")  # type: ignore[index]
        _, said = await _run(
            terminals,
            command='pwd; echo "$WORD"',
            cwd=str(tmp_path / "sub"),
            env=[{"name": "WORD", "value": "x"}],
        )
        assert said["output"] == f"{tmp_path.resolve()}/sub\nx\n"  # type: ignore[index]


async def test_the_end_of_a_long_output_is_kept_whole_characters_alone(tmp_path: Path) -> None:
    async with _terminals(tmp_path, max_output=8) as terminals:
        _, said = await _run(terminals, command="printf 'äöüäöüx'")
        # eight bytes begin within a character
        assert said == {"output": "äöüx", "truncated": True, "exitStatus": {"exitCode": 0, "signal": None}}


async def test_what_runs_is_killed_and_released_and_nothing_outlives_the_session(tmp_path: Path) -> None:
    async with _terminals(tmp_path) as terminals:
        made = await terminals.answer("terminal/create", {"command": "echo ready; sleep 600"})
        ready = {"output": "ready\n", "truncated": False}
        while await terminals.answer("terminal/output", made) != ready:  # noqa: ASYNC110  nobody is told of output
            await asyncio.sleep(0.005)
        await terminals.answer("terminal/kill", made)
        assert await terminals.answer("terminal/wait_for_exit", made) == {
            "exitCode": None,
            "signal": "SIGKILL",
        }
        await terminals.answer("terminal/release", made)
        with pytest.raises(TerminalRefused, match="no terminal"):
            await terminals.answer("terminal/output", made)
        await terminals.answer("terminal/create", {"command": "sleep 600"})


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"command": "ls", "cwd": "/etc"}, "not a folder in the workspace"),
        ({"command": "ls", "cwd": "{workspace}/.."}, "not a folder in the workspace"),
        ({"command": "ls", "cwd": "{workspace}/out"}, "not a folder in the workspace"),
        ({"command": "ls", "cwd": "{workspace}/a\0"}, "not a folder in the workspace"),
        ({"command": ""}, "needs a command"),
        ({"command": "a\0b"}, "needs a command"),
        ({"command": "ls", "args": ["a\0b"]}, "cannot be started"),
    ],
)
async def test_what_leads_out_or_is_no_command_is_refused(
    tmp_path: Path, params: dict[str, object], why: str
) -> None:
    (tmp_path / "out").symlink_to("/")
    spelled = {
        name: value.replace("{workspace}", str(tmp_path)) if isinstance(value, str) else value
        for name, value in params.items()
    }
    async with _terminals(tmp_path) as terminals:
        with pytest.raises(TerminalRefused, match=why):
            await terminals.answer("terminal/create", spelled)


async def test_no_more_terminals_than_allowed(tmp_path: Path) -> None:
    async with _terminals(tmp_path, limit=1) as terminals:
        made = await terminals.answer("terminal/create", {"command": "sleep 600"})
        with pytest.raises(TerminalRefused, match="there are 1 terminals"):
            await terminals.answer("terminal/create", {"command": "true"})
        await terminals.answer("terminal/release", made)
        await terminals.answer("terminal/create", {"command": "true"})

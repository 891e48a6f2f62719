"""The ground the other end-to-end tests stand on: the real CLI answers from the scripted Messages API."""

import asyncio
import json
from pathlib import Path

import pytest

from real_cli import real_cli, real_cli_environment
from scripted_messages_api import http_error, plan, scripted_messages_api, text, thinking, tool_use


async def ask(prompt: str, folder: Path, api_url: str) -> list[dict[str, object]]:
    """Run one prompt through the real CLI and return what it wrote."""
    process = await asyncio.create_subprocess_exec(
        real_cli(),
        *(
            "-p",
            prompt,
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "bypassPermissions",
        ),
        cwd=folder,
        env=real_cli_environment(folder / "home", api_url),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        stdout, stderr = await process.communicate()
    assert stderr == b""
    return [json.loads(line) for line in stdout.split(b"\n") if line]


@pytest.mark.long
async def test_a_planned_turn_runs_its_tools(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        prompt = plan(
            [thinking("hm"), tool_use("Bash", command="echo made > made.txt", description="make")],
            [text("It is made.")],
        )
        lines = await ask(prompt, tmp_path, api.url)
        assert (tmp_path / "made.txt").read_text() == "made\n"
        assert lines[-1]["type"] == "result"
        assert lines[-1]["result"] == "It is made."
        assert prompt in api.prompts()


@pytest.mark.long
async def test_a_queued_answer_comes_before_the_plan(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        api.queue([text("from the queue")])
        lines = await ask(plan([text("from the plan")]), tmp_path, api.url)
        assert lines[-1]["result"] == "from the queue"


async def test_an_http_error_reaches_the_result(tmp_path: Path) -> None:
    with scripted_messages_api() as api:
        lines = await ask(plan([http_error(403, "permission_error", "not you")]), tmp_path, api.url)
        assert lines[-1]["is_error"] is True
        assert "not you" in str(lines[-1]["result"])


def test_the_cli_of_a_test_speaks_to_loopback_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="loopback alone"):
        real_cli_environment(tmp_path, "https://example.org")

"""The real CLI, run offline: the one that the claude-agent-sdk wheel carries, in an environment of its own.

TURNWIRE_TEST_CLI names another one, to see how other versions do. It gets an empty environment with a HOME in the
test's folder, a placeholder key and a Messages API on loopback; it can
reach neither credentials nor a network service. A missing CLI fails the test, it never skips it.
"""

import asyncio
import importlib.util
import json
import os
from pathlib import Path
from typing import Any

from turnwire_process import DEADLINE


def real_cli() -> Path:
    """Return the path of the CLI; raises FileNotFoundError with what to do when it is not there."""
    if named := os.environ.get("TURNWIRE_TEST_CLI"):
        return Path(named)
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("claude-agent-sdk is not installed: run `make venv`")
    path = Path(spec.origin).parent / "_bundled" / "claude"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: the wheel of this platform carries no CLI")
    return path


def real_cli_environment(home: Path, api_url: str) -> dict[str, str]:
    """Return the whole environment for the CLI: nothing of ours is passed on.

    The CLI keeps the rules of a project at the top of its git repository, and for that it looks for `.git` in all
    folders above. The test's folder gets one, so that a `/tmp/.git`, which other agents leave behind, gathers no
    rules that the next test would find.

    Args:
        home: a folder inside the test's own; created when missing.
        api_url: the base URL of a Messages API on loopback.
    """
    if "127.0.0.1" not in api_url:
        raise ValueError(f"the CLI of a test may speak to loopback alone, not to {api_url}")
    home.mkdir(parents=True, exist_ok=True)
    (home.parent / ".git").mkdir(exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": "sk-local-dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # as root the CLI refuses bypassPermissions outside of a sandbox
        "IS_SANDBOX": "1",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
    }


async def by_hand(folder: Path, api_url: str, *prompts: str) -> list[dict[str, Any]]:
    """Run the CLI by itself in the folder `project`, as somebody in a terminal would, and return what it printed."""
    said = [{"type": "user", "message": {"role": "user", "content": prompt}} for prompt in prompts]
    process = await asyncio.create_subprocess_exec(
        str(real_cli()), "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
        "--permission-mode", "bypassPermissions",
        cwd=folder / "project",
        env=real_cli_environment(folder / "home", api_url),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 24,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    lines: list[dict[str, Any]] = []
    async with asyncio.timeout(DEADLINE):
        for one in said:
            process.stdin.write(json.dumps(one).encode() + b"\n")
            while not lines or lines[-1]["type"] != "result":
                lines.append(json.loads(await process.stdout.readline()))
            lines.append({"type": "end of turn"})
        process.stdin.close()
        await process.wait()
    return lines

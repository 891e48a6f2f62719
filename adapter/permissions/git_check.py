"""Uncommitted changes in a workspace, for the Stop hook. Where git cannot say, there are none: the hook only reminds."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

DEADLINE = 10.0
"""Seconds that git may take."""

IGNORED = ".turnwire/"
"""What turnwire itself puts into a workspace."""


async def uncommitted_changes(workspace: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the lines of `git status --porcelain`; none without a repository, without git, or in doubt."""
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            "-c",
            "core.fsmonitor=false",  # a program of the repository's choice
            "status",
            "--porcelain",
            "--untracked-files=normal",
            cwd=workspace,
            # taking the index lock could fail a git command of the agent's
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ()
    try:
        async with asyncio.timeout(DEADLINE):
            stdout, _ = await process.communicate()
    except TimeoutError:
        return ()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        return ()
    lines = stdout.decode("utf-8", "replace").splitlines()
    return tuple(line for line in lines if not line[3:].startswith(IGNORED))

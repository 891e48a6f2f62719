"""Uncommitted changes in a workspace, for the Stop hook. Where git cannot say, there are none: the hook only reminds.

A change in the working tree that only a filter (LFS, git-crypt) could tell is left out.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from turnwire.adapter.workspace.repository import MAX_OUTPUT, GitFailed, repository

DEADLINE = 10.0
"""Seconds that git may take, all in all."""

IGNORED = ".turnwire/"
"""What turnwire itself puts into a workspace."""


async def uncommitted_changes(
    workspace: Path,
    environment: Mapping[str, str],
    *,
    deadline: float = DEADLINE,
    max_output: int = MAX_OUTPUT,
) -> tuple[str, ...]:
    """Return the lines of `git status --porcelain`; none without a repository, without git, or in doubt.

    Nothing that the repository names is executed. Seconds beyond `deadline` and bytes beyond `max_output` are cut off.
    """
    try:
        async with (
            asyncio.timeout(deadline),
            repository(workspace, environment, max_output=max_output) as there,
        ):
            changes = await there.git(
                "status",
                "--porcelain",
                "--untracked-files=normal",
                "--no-renames",
                "--ignore-submodules=dirty",  # looking into one runs git there, under its own configuration
            )
            lines = [line for line in changes.text.splitlines() if not line[3:].startswith(IGNORED)]
            # a name in quotes is rare enough to be listed in doubt
            doubtful = [line[3:] for line in lines if line.startswith(" M ") and not line.startswith(' M "')]
            unclear = await there.filtered(doubtful)
    except (OSError, TimeoutError, GitFailed):
        return ()
    return tuple(line for line in lines if not (line.startswith(" M ") and line[3:] in unclear))

"""Versions of the CLI, and what each of them can do.

A CLI says its version with `--version` ("2.1.330 (Claude Code)"). One that does not say is taken for a new one: all
that depends on a version here is about what old ones lack.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from adapter.process.cli import CliProcess, ProgramNotFound
from adapter.process.watchdog import Watchdog

VERSION_DEADLINE = 10.0
"""Seconds that `--version` may take."""

EXIT_DEADLINE = 1.0
"""Seconds that it has to go once it has said all."""

MOST_SAID = 1 << 16
"""Bytes that are read of what it answers."""

_NUMBER = re.compile(r"(?<!\d)(\d{1,9})\.(\d{1,9})\.(\d{1,9})")


class Version(NamedTuple):
    """A version of the CLI; compares as versions do."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class Abilities(NamedTuple):
    """What a version of the CLI can do."""

    resume_at: Literal["nothing", "api_message_id", "message_uuid"]
    """What --resume-session-at takes: unknown to 1.0, the API's message id in 2.0.14, a message uuid from 2.0.76."""
    keeps_session_id: bool
    """False where --resume goes on under a new session id (1.0)."""
    waits_after_cancel: bool
    """True where a cancelled permission request must be answered all the same, or the turn never ends (1.0)."""
    withdraws_prompts: bool
    """True where cancel_async_message is answered (2.1)."""
    asks_despite_hooks: bool
    """True where plan mode asks about what a hook has allowed, or has a classifier refuse it (2.1.330, not 2.1.220)."""
    forwards_subagents: bool
    """True where --forward-subagent-text is known (2.1.211); a CLI that does not say its version may not know it."""
    is_early: bool
    """True where `initialize` is not answered, there are no hooks, and an option of NEWER_OPTIONS ends the CLI (1.0.60; not 1.0.120)."""


def parse_version(text: str) -> Version | None:
    """Return the first version number in a text; None when there is none."""
    found = _NUMBER.search(text)
    return Version(int(found[1]), int(found[2]), int(found[3])) if found else None


def abilities(version: Version | None) -> Abilities:
    """Return what a version can do; an unknown one can do what the newest can, but gets no option that would end an old one."""
    if version is None:
        return Abilities(
            "message_uuid",
            keeps_session_id=True,
            waits_after_cancel=False,
            withdraws_prompts=True,
            asks_despite_hooks=True,
            forwards_subagents=False,
            is_early=False,
        )
    return Abilities(
        resume_at="nothing"
        if version < (2,)
        else "api_message_id"
        if version < (2, 0, 76)
        else "message_uuid",
        keeps_session_id=version >= (2,),
        waits_after_cancel=version < (2,),
        withdraws_prompts=version >= (2, 1),
        asks_despite_hooks=version > (2, 1, 220),
        forwards_subagents=version >= (2, 1, 211),
        is_early=version < (1, 0, 120),
    )


_known: dict[tuple[str, ...], Version | None] = {}


async def detect_version(
    executable: Sequence[str],
    environment: Mapping[str, str],
    workspace: Path,
    watchdog: Watchdog | None = None,
) -> Version | None:
    """Ask a CLI for its version; None when it does not say one in time.

    The answer is kept for the life of this process, for as long as the file of the CLI is the same.
    """
    key = (*executable, _stamp(executable[0]))
    if key not in _known:
        _known[key] = await _ask(executable, environment, workspace, watchdog)
    return _known[key]


async def _ask(
    executable: Sequence[str], environment: Mapping[str, str], workspace: Path, watchdog: Watchdog | None
) -> Version | None:
    try:
        process = await CliProcess.spawn(
            [*executable, "--version"], workspace=workspace, environment=environment, watchdog=watchdog
        )
    except (ProgramNotFound, OSError):
        return None
    process.close_input()
    said = bytearray()
    try:
        async with asyncio.timeout(VERSION_DEADLINE):
            while len(said) < MOST_SAID and (chunk := await process.read()):
                said += chunk
            await process.exits_within(EXIT_DEADLINE)
    except TimeoutError:
        return None
    finally:
        if not process.has_exited:
            process.kill()
        await process.wait()
    return parse_version(said.decode("utf-8", "replace"))


def _stamp(program: str) -> str:
    try:
        status = Path(program).stat()
    except OSError:
        return ""
    return f"{status.st_mtime_ns}:{status.st_size}"

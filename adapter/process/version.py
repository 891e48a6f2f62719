"""Versions of programs: what they answer to `--version` ("2.1.330 (Claude Code)")."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.cli import CliProcess, Enters, ProgramNotFound
from turnwire.adapter.process.watchdog import Watchdog

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


def parse_version(text: str) -> Version | None:
    """Return the first version number in a text; None when there is none."""
    found = _NUMBER.search(text)
    return Version(int(found[1]), int(found[2]), int(found[3])) if found else None


_known: dict[tuple[str, ...], Version | None] = {}


async def detect_version(
    executable: Sequence[str],
    environment: Mapping[str, str],
    workspace: Path,
    watchdog: Watchdog | None = None,
    deadline: float = VERSION_DEADLINE,
    *,
    sandbox: Enters | None = None,
) -> Version | None:
    """Ask a CLI for its version; None when it does not say one in time.

    turnwire keeps the answer for the life of this process, as long as the CLI's file does not change. An answer that
    came too late is not kept: the machine was slow, and the next session asks again.
    """
    key = (*executable, _stamp(executable[0]))
    if key not in _known:
        try:
            _known[key] = await _ask(executable, environment, workspace, watchdog, deadline, sandbox=sandbox)
        except TimeoutError:
            return None
    return _known[key]


async def _ask(
    executable: Sequence[str],
    environment: Mapping[str, str],
    workspace: Path,
    watchdog: Watchdog | None,
    deadline: float,
    *,
    sandbox: Enters | None,
) -> Version | None:
    try:
        process = await CliProcess.spawn(
            [*executable, "--version"],
            workspace=workspace,
            environment=environment,
            watchdog=watchdog,
            sandbox=sandbox,
        )
    except (ProgramNotFound, OSError):
        return None
    process.close_input()
    said = bytearray()
    try:
        async with suspend_aware.timeout(deadline):
            while len(said) < MOST_SAID and (chunk := await process.read()):
                said += chunk
            await process.exits_within(EXIT_DEADLINE)
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

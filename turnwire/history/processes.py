"""Find agents in terminals among this user's processes (Linux only).

Newer versions of Claude Code note what they have open (folders.py); all others are known by what they are called and where they
work. Which conversation such a one has open is told by the files it holds, by its arguments, or else is the newest
of its folder, if that was written to since it began.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from turnwire.adapter.process.identity import MARK

PROC = Path("/proc")

_AGENTS = {
    "claude": re.compile(r"(?:^|/)(?:claude|claude-code/cli\.js)$"),
    "codex": re.compile(r"(?:^|/)(?:codex|codex\.js)$"),
    "gemini": re.compile(r"(?:^|/)(?:gemini|gemini-cli/bundle/gemini\.js)$"),
    "qwen": re.compile(r"(?:^|/)(?:qwen|qwen-code/cli\.js)$"),
    "copilot": re.compile(r"(?:^|/)copilot$"),
    "cursor": re.compile(r"(?:^|/)cursor-agent$"),
    "droid": re.compile(r"(?:^|/)droid$"),
    "kimi": re.compile(r"(?:^|/)(?:kimi|kimi-code/dist/main\.mjs)$"),
    "opencode": re.compile(r"(?:^|/)opencode$"),
}
"""What a program or the script that it runs is called."""

_NAMED = frozenset({"--resume", "-r", "resume", "--session-id", "--session", "-s", "-S"})
_ID = re.compile(r"(?:session_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|ses_[0-9a-zA-Z]{10,60}")

LONGEST = 1 << 16
"""Bytes of a command line or an environment that are looked at."""


class RunningAgent(Struct, frozen=True):
    """An agent that runs."""

    pid: int
    agent: str
    folder: str
    """Where it works."""
    began: float
    """Seconds since 1970."""
    resumed: str | None
    """The conversation that it was told to go on with."""
    files: Sequence[str]
    """Files of a line a record that it holds open."""


def running_agents(proc: Path = PROC) -> Iterator[RunningAgent]:
    """Yield the running agents, except those that turnwire has started; skip processes that cannot be read."""
    booted = _booted(proc)
    if booted is None:
        return
    for process in proc.iterdir():
        if process.name.isdecimal():
            try:
                found = _look_at(process, booted)
            except (OSError, ValueError, IndexError):
                continue  # it has ended, or is somebody else's
            if found is not None:
                yield found


def _look_at(process: Path, booted: float) -> RunningAgent | None:
    words = [os.fsdecode(word) for word in _read(process / "cmdline").split(b"\0") if word]
    # a program, or what runs a script and its options before that
    agent = next(
        (agent for agent, called in _AGENTS.items() if any(called.search(word) for word in words[:3])), None
    )
    if agent is None or f"\0{MARK}=".encode() in b"\0" + _read(process / "environ"):
        return None
    told = next(
        (word for before, word in pairwise(words) if before in _NAMED and _ID.fullmatch(word)),
        None,
    )
    held = [str(file.readlink()) for file in (process / "fd").iterdir()]
    ticks = int(_read(process / "stat").rpartition(b")")[2].split()[19])
    return RunningAgent(
        int(process.name),
        agent,
        str((process / "cwd").readlink()),
        booted + ticks / os.sysconf("SC_CLK_TCK"),
        told,
        [path for path in held if path.endswith(".jsonl")],
    )


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LONGEST)


def _booted(proc: Path) -> float | None:
    """Return when the machine was started, in seconds since 1970; None where there is no /proc that says so."""
    try:
        found = re.search(rb"^btime (\d+)$", _read(proc / "stat"), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else float(found[1])

"""Find the files in which agents keep their conversations, and those that are being written now."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from turnwire.config.settings import Settings

_DIGITS = re.compile(r"\d{2,4}")
"""Years, months and days, as folders."""


class SessionPath(NamedTuple):
    """A file that may hold a conversation."""

    path: str
    changed: int
    """When it was changed last: nanoseconds since 1970."""
    size: int
    """Bytes."""


def folders(settings: Settings) -> Sequence[Path]:
    """Return the folders whose conversations are listed: those of the settings, else this user's own."""
    if settings.history_dirs is not None:
        return [folder.expanduser() for folder in settings.history_dirs]
    home = Path.home()
    return [
        Path(os.environ.get(variable) or usual) / below
        for variable, usual, below in (
            ("CLAUDE_CONFIG_DIR", home / ".claude", "projects"),
            ("CODEX_HOME", home / ".codex", "sessions"),
            ("GEMINI_CLI_HOME", home, ".gemini/tmp"),
            ("QWEN_HOME", home / ".qwen", "projects"),
        )
    ]


def files_in(folder: Path) -> Iterator[SessionPath]:
    """Yield the session files below a folder, in no order; what cannot be read is skipped.

    They lie in a folder for each project (Claude Code), in `chats` in such a folder (Gemini CLI, Qwen Code), or in folders
    for year, month and day (Codex). Links are not followed: they could lead out of what the settings allow.
    """
    waiting = [(entry, 1) for entry in _entries(folder) if _is_folder(entry)]
    while waiting:
        inside, depth = waiting.pop()
        dated = _DIGITS.fullmatch(inside.name) is not None
        for entry in _entries(inside.path):
            if _is_folder(entry):
                if (depth == 1 and entry.name == "chats") or (
                    dated and depth < 3 and _DIGITS.fullmatch(entry.name)
                ):
                    waiting.append((entry, depth + 1))
            elif entry.name.endswith(".jsonl") and not entry.name.startswith("agent-"):
                try:
                    if not entry.is_file(follow_symlinks=False):
                        continue
                    about = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                yield SessionPath(entry.path, about.st_mtime_ns, about.st_size)


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


class _Running(msgspec.Struct):
    pid: int
    session: str = msgspec.field(name="sessionId")


_decode_running = msgspec.json.Decoder(_Running).decode


def running(folder: Path) -> dict[int, str]:
    """Return the sessions that CLIs of this machine have open, by process. Newer CLIs note them beside their projects."""
    found: dict[int, str] = {}
    try:
        noted = [
            entry.path for entry in os.scandir(folder.parent / "sessions") if entry.name.endswith(".json")
        ]
    except OSError:
        return found
    for path in noted:
        try:
            one = _decode_running(Path(path).read_bytes())
            os.kill(one.pid, 0)
        except PermissionError:
            found[one.pid] = one.session
        except (OSError, msgspec.MsgspecError, RecursionError, OverflowError):
            continue
        else:
            found[one.pid] = one.session
    return found

"""Find the files in which agents keep their conversations, and those that are being written now."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from turnwire.config.settings import Settings
from turnwire.recordings.database import stored_in
from turnwire.recordings.recorded import is_database
from turnwire.recordings.session_file import MAIN
from turnwire.recordings.unpacked import plain_name

_DIGITS = re.compile(r"\d{2,4}")
"""Years, months and days, as folders."""


_NOTES = ".settings.json"
"""What ends the name of a file beside a conversation's, which has its sums of tokens (Droid)."""

_ROLLOUT = "rollout-"
"""What begins the name of a file of Codex. Archived ones lie in no folder of a day."""


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
            ("CODEX_HOME", home / ".codex", "archived_sessions"),
            ("GEMINI_CLI_HOME", home, ".gemini/tmp"),
            ("QWEN_HOME", home / ".qwen", "projects"),
            ("COPILOT_HOME", home / ".copilot", "session-state"),
            ("FACTORY_HOME_OVERRIDE", home, ".factory/sessions"),
            ("KIMI_CODE_HOME", home / ".kimi-code", "sessions"),
            ("XDG_DATA_HOME", home / ".local" / "share", "opencode"),
            ("CURSOR_CONFIG_DIR", home / ".cursor", "projects"),
        )
    ]


def files_in(folder: Path) -> Iterator[SessionPath]:
    """Yield the session files below a folder, in no order; what cannot be read is skipped.

    Claude Code and Droid have a folder for each project, Copilot one for each conversation. Gemini CLI and Qwen Code have `chats` in a
    project's folder. Codex has folders for year, month and day, and one for archived conversations. Cursor and Kimi Code have deeper ones.
    A database has several conversations. Older versions of Gemini CLI wrote one object (`session-*.json`). Files that Codex has compressed are yielded like others.
    Links are not followed: they could lead out of what the settings allow.
    """
    entries = _entries(folder)
    yield from _in_databases(entries)
    yield from _conversations([entry for entry in entries if entry.name.startswith(_ROLLOUT)])
    waiting = [(entry, 1) for entry in entries if _is_folder(entry)]
    while waiting:
        inside, depth = waiting.pop()
        dated = _DIGITS.fullmatch(inside.name) is not None
        within = _entries(inside.path)
        yield from _conversations(within)
        waiting += [
            (entry, depth + 1)
            for entry in within
            if _is_folder(entry)
            and (
                (depth == 1 and entry.name == "chats")
                or (dated and depth < 3 and _DIGITS.fullmatch(entry.name))
                or _is_deeper(inside, entry, depth)
            )
        ]


def _conversations(entries: Sequence[os.DirEntry[str]]) -> Iterator[SessionPath]:
    """Yield the session files among the entries of a folder."""
    notes = {entry.name.removesuffix(_NOTES): entry for entry in entries if entry.name.endswith(_NOTES)}
    for entry in entries:
        name = plain_name(entry.name)
        is_old_gemini = name.startswith("session-") and name.endswith(".json")
        if not (name.endswith(".jsonl") or is_old_gemini) or name.startswith("agent-"):
            continue
        try:
            if not entry.is_file(follow_symlinks=False):
                continue
            about = entry.stat(follow_symlinks=False)
            beside = notes.get(name.removesuffix(".jsonl"))
            changed = 0 if beside is None else beside.stat(follow_symlinks=False).st_mtime_ns
        except OSError:
            continue
        yield SessionPath(entry.path, max(about.st_mtime_ns, changed), about.st_size)


def _is_deeper(inside: os.DirEntry[str], entry: os.DirEntry[str], depth: int) -> bool:
    """Tell whether conversations may lie in a folder that is no project's: Cursor's transcripts, and Kimi's main agents."""
    return (
        (depth == 1 and (entry.name == "agent-transcripts" or entry.name.startswith("session_")))
        or (depth == 2 and (inside.name == "agent-transcripts" or entry.name == "agents"))
        or (depth == 3 and inside.name == "agents" and entry.name == MAIN.parent.name)
    )


def _in_databases(entries: Sequence[os.DirEntry[str]]) -> Iterator[SessionPath]:
    """Yield the conversations of databases; the path of each is below that of its database."""
    for entry in entries:
        if (
            entry.name.endswith(".db")
            and entry.is_file(follow_symlinks=False)
            and is_database(Path(entry.path))
        ):
            try:
                stored = stored_in(Path(entry.path))
            except OSError:
                # the index says of it what it says of other files that cannot be read
                yield SessionPath(f"{entry.path}/conversations", 1, 1)
                continue
            for one in stored:
                yield SessionPath(f"{entry.path}/{one.id}", one.changed * 1_000_000, one.size)


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

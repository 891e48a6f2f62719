"""Where agents keep their conversations: which files there are, and which of them somebody is writing now."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sidecar.config.settings import Settings

AGENT = "claude"
"""The one family whose files are known."""


class SessionPath(NamedTuple):
    """A file that may hold a conversation."""

    path: str
    changed: int
    """When it was changed last: nanoseconds since 1970."""
    size: int
    """Bytes."""


def folders(settings: Settings) -> Sequence[Path]:
    """Return the folders whose conversations are listed: those of the settings, else this user's own."""
    if not settings.history:
        return []
    if settings.history_dirs is not None:
        return [folder.expanduser() for folder in settings.history_dirs]
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return [(Path(configured) if configured else Path.home() / ".claude") / "projects"]


def files_in(folder: Path) -> Iterator[SessionPath]:
    """Yield the session files of a folder, one level below it, in no order; what cannot be read is passed over.

    Links are not followed: they could lead out of what the settings allow.
    """
    try:
        projects = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
    for project in projects:
        try:
            entries = list(os.scandir(project))
        except OSError:
            continue
        for entry in entries:
            if not entry.name.endswith(".jsonl") or entry.name.startswith("agent-"):
                continue
            try:
                if not entry.is_file(follow_symlinks=False):
                    continue
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            yield SessionPath(entry.path, about.st_mtime_ns, about.st_size)


class _Running(msgspec.Struct):
    pid: int
    session: str = msgspec.field(name="sessionId")


_decode_running = msgspec.json.Decoder(_Running).decode


def running(folder: Path) -> set[str]:
    """Return the sessions that a CLI of this machine has open, as newer ones note beside their projects."""
    found: set[str] = set()
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
            found.add(one.session)
        except (OSError, msgspec.MsgspecError, RecursionError, OverflowError):
            continue
        else:
            found.add(one.session)
    return found

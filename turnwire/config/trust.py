"""Decide which configuration files are trusted. A `turnwire.toml` in the current directory is not, unless a user has trusted it.

Such a file comes with its folder, and whoever wrote the folder is not its reader. What it may decide unasked is a list
of harmless settings; a new setting is none of them until somebody puts it there. The rest counts once the user has
trusted the file by name and content (`turnwire trust`), or named it (`--config`, TURNWIRE_CONFIG).
"""

import hashlib
import os
import tempfile
from pathlib import Path

PROJECT_FILE = "turnwire.toml"
"""The file that is looked for in the current directory."""

HARMLESS = frozenset(
    {
        "port",
        "compression",
        "max_connections",
        "durability",
        "field_limit",
        "model",
        "stall_after_s",
        "agent_start_timeout_s",
        "agent_answer_timeout_s",
        "agent_exit_timeout_s",
        "max_attachments",
        "max_attachment_bytes",
        "max_sessions",
        "max_processes",
        "max_pending",
        "trace_fold_deltas",
        "trace_spans",
    }
)
"""Harmless settings: they run, permit and remove nothing, give no access, and write or send nothing elsewhere."""


class TrustStore:
    """Remembers files by name and content: a small file for each, in a folder of the user's alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def trusts(self, file: Path, content: bytes) -> bool:
        """Tell whether a file of that name was trusted with this very content; an unreadable store trusts nothing."""
        try:
            return self._entry(file).read_bytes() == _record(file, content)
        except OSError:
            return False

    def trust(self, file: Path, content: bytes) -> None:
        """Trust a file as it is now, and no more as it was before; raises OSError."""
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        # mkstemp makes files of mode 600
        number, temporary = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(number, "wb") as out:
            out.write(_record(file, content))
        Path(temporary).replace(self._entry(file))

    def revoke(self, file: Path) -> bool:
        """Trust a file no more; False when it was not trusted. Raises OSError."""
        try:
            self._entry(file).unlink()
        except FileNotFoundError:
            return False
        return True

    def _entry(self, file: Path) -> Path:
        return self._folder / hashlib.sha256(_name(file)).hexdigest()


def full_name(file: Path) -> Path:
    """Return the name that trust is bound to.

    It is the real folder with the file's own name: relative paths in the file mean something else in another folder,
    so a link to a trusted file is another file.
    """
    return file.parent.resolve() / file.name


def _name(file: Path) -> bytes:
    return os.fsencode(full_name(file))


def _record(file: Path, content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"  " + _name(file) + b"\n"

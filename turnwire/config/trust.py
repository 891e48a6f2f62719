"""Decide which settings of a `turnwire.toml` in the current directory count.

Such a file comes with its folder and may be written by a stranger. So only the harmless settings in a fixed list count; a
new setting is not in it by default. Everything counts if the user has trusted the file by name and content
(`turnwire trust`), or has named it (`--config`, TURNWIRE_CONFIG).
"""

import hashlib
import os
import tempfile
from pathlib import Path

PROJECT_FILE = "turnwire.toml"
"""Name of the file in the current directory."""

HARMLESS = frozenset({
    "port", "compression", "max_connections", "durability", "field_limit", "model", "stall_after_s",
    "agent_start_timeout_s", "agent_answer_timeout_s", "agent_exit_timeout_s", "max_attachments",
    "max_attachment_bytes", "max_sessions", "max_processes", "max_pending", "trace_fold_deltas",
    "trace_spans",
})  # fmt: skip
"""Settings that run, permit and delete nothing, grant no access, and write or send nothing elsewhere."""


class TrustStore:
    """Remembers trusted files by name and content, in a private folder with a small file for each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def trusts(self, file: Path, content: bytes) -> bool:
        """Return whether this file was trusted with exactly this content. An unreadable store trusts nothing."""
        try:
            return self._entry(file).read_bytes() == _record(file, content)
        except OSError:
            return False

    def trust(self, file: Path, content: bytes) -> None:
        """Trust a file with this content only. Raises OSError."""
        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        # mkstemp sets mode 600
        number, temporary = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(number, "wb") as out:
            out.write(_record(file, content))
        Path(temporary).replace(self._entry(file))

    def revoke(self, file: Path) -> bool:
        """Withdraw trust. Returns False if the file was not trusted. Raises OSError."""
        try:
            self._entry(file).unlink()
        except FileNotFoundError:
            return False
        return True

    def _entry(self, file: Path) -> Path:
        return self._folder / hashlib.sha256(_name(file)).hexdigest()


def full_name(file: Path) -> Path:
    """Return the name that trust is bound to: the resolved folder and the file's own name.

    Relative paths in a file depend on its folder, so a link to a trusted file is another file.
    """
    return file.parent.resolve() / file.name


def _name(file: Path) -> bytes:
    return os.fsencode(full_name(file))


def _record(file: Path, content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"  " + _name(file) + b"\n"

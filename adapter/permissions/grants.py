"""Permanent permissions of humans: the rules of "always" answers that turnwire's policies need.

The CLI keeps its own record of them. Under `supervised` our hook asks before that record is read, so it needs one too:
in memory for the session, in a file of turnwire's own for the rest. (The CLI's settings files in a workspace are no
source: they come with a repository, and nobody here agreed to them.)
"""

import fcntl
import json
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import NamedTuple

from turnwire._runtime.private_files import open_private
from turnwire.adapter.permissions.addresses import DOMAIN, covers_domain
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.patterns import covers
from turnwire.protocol.json_values import text_at
from turnwire.protocol.parsing import depth

log = logging.getLogger(__name__)

_EVERYWHERE = "*"

HOST = "host:"
"""Begins a grant that is about one host and port of the sandbox's network."""


class Grant(NamedTuple):
    """A tool that may be called without asking, and what with."""

    tool: str
    """The tool's name."""
    content: str = ""
    """Which calls: a command, a command's beginning (`git log:*`), a host by http or https on their own ports (`domain:example.org`); "" for all."""

    def covers(self, call: ToolCall) -> bool:
        """Tell whether a call was allowed; a content that is not understood covers nothing, and so does one that fails."""
        try:
            return self._covers(call)
        except Exception:
            log.exception("a grant failed on a call and does not cover it", extra={"tool": call.tool})
            return False

    def _covers(self, call: ToolCall) -> bool:
        if call.tool != self.tool:
            return False
        if not self.content:
            return True
        if self.content.startswith(HOST):
            host, port = call.arguments.get("host"), call.arguments.get("port")
            return self.content in (f"{HOST}{host}:{port}", f"{HOST}[{host}]:{port}")
        if call.kind == "execute":
            return _covers_command(self.content, text_at(call.arguments, "command"))
        if call.kind == "fetch" and self.content.startswith(DOMAIN):
            host = escape(self.content.removeprefix(DOMAIN))
            return covers_domain(host, text_at(call.arguments, "url"))
        return False


class GrantStore:
    """The file of what was allowed beyond a session: {workspace: [[tool, content], …]}, "*" for all workspaces."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writing = threading.Lock()

    def load(self, workspace: Path) -> tuple[Grant, ...]:
        """Return what was allowed in a workspace; nothing when the file is missing or damaged."""
        table = self._read()
        return tuple(
            Grant(*pair)
            for place in (_EVERYWHERE, str(workspace))
            for pair in table.get(place, [])
            if len(pair) == 2 and all(isinstance(part, str) for part in pair)
        )

    def remember(self, workspace: Path, grants: Sequence[tuple[Grant, str]]) -> None:
        """Add grants whose destination outlives the session."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._writing, self._alone():
            table = self._read()
            for grant, destination in grants:
                if destination != "session":
                    place = _EVERYWHERE if destination == "userSettings" else str(workspace)
                    pairs = table.setdefault(place, [])
                    if list(grant) not in pairs:
                        pairs.append(list(grant))
            fresh = self._path.with_suffix(f".{os.getpid()}.new")
            fresh.unlink(missing_ok=True)
            with os.fdopen(
                open_private(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8"
            ) as file:
                json.dump(table, file, indent=1)
            fresh.replace(self._path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other sidecars from writing meanwhile: what they add between our reading and writing would be lost."""
        with os.fdopen(open_private(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> dict[str, list[list[str]]]:
        try:
            table = depth.parse(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(table, dict):
            return {}
        return {place: pairs for place, pairs in table.items() if isinstance(pairs, list)}


def _covers_command(content: str, command: str) -> bool:
    if not content.endswith(":*"):
        return command == content and "*" not in content
    from turnwire.adapter.permissions.programs import programs  # noqa: PLC0415  only where a beginning was allowed

    if (program := programs().get(content.removesuffix(":*"))) is not None:
        return program.covers(command)
    beginning = escape(content.removesuffix(":*"))
    return covers(beginning, command) or covers(f"{beginning} *", command)

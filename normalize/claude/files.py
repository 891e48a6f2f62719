"""Claude's session files: recognised by a member name. The reader is imported only when there is a file."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnwire.normalize.claude.session_files.files import Records
    from turnwire.normalize.recordings.session_files import Estimate, Survey

_HEAD = re.compile(rb'"(?:parentUuid|sessionId|leafUuid|isSnapshotUpdate)"\s*:')
"""Every record of a session file has one of these members, and no line of stdout has."""


class ClaudeSessionFiles:
    """The files that Claude keeps."""

    agent = "claude"
    core_goes_on = True

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line is one of a session file: records have a parent, which no line of stdout has."""
        return _HEAD.search(line) is not None and self._records().recognises(line)

    def session_of(self, line: bytes) -> str | None:  # noqa: ARG002 - a fork's copies name others
        """Return None: a session is called as its file."""
        return None

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written."""
        return self._records().moment(line)

    def named(self, path: PurePath) -> str:
        """Return the conversation's id: a session is called as its file."""
        return path.stem

    def beside(self, path: PurePath) -> Sequence[PurePath]:  # noqa: ARG002 - its own folder has the subagents' files
        """Return the files that say more of the conversation: none."""
        return ()

    def survey(self, estimate: "Estimate | None" = None) -> "Survey":
        """Start to survey a file. `estimate` splits usage that the agent reports for several answers together."""
        return self._records().survey(estimate)

    def _records(self) -> "Records":
        from turnwire.normalize.claude.session_files.files import RECORDS  # noqa: PLC0415 - of all that is read, few are session files

        return RECORDS

"""Claude's session files: told from other lines by a word. What reads them is imported when there is one."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnwire.normalize.recordings.session_files import Estimate, SessionFiles, Survey

_HEAD = re.compile(rb'"(?:parentUuid|sessionId|leafUuid|isSnapshotUpdate)"\s*:')
"""What every record has one of, and no line of stdout."""


class ClaudeSessionFiles:
    """The files that Claude keeps."""

    agent = "claude"
    core_goes_on = True

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line is one of a session file: records have a parent, which no line of stdout has."""
        return _HEAD.search(line) is not None and self._records().recognises(line)

    def session_of(self, line: bytes) -> str | None:
        """Return None: a session is called as its file."""
        return self._records().session_of(line)

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written."""
        return self._records().moment(line)

    def survey(self, estimate: "Estimate | None" = None) -> "Survey":
        """Begin to look over a file; `estimate` splits what an agent tells of several answers together."""
        return self._records().survey(estimate)

    def _records(self) -> "SessionFiles":
        from turnwire.normalize.claude.session_files.files import RECORDS  # noqa: PLC0415 - of all that is read, few are session files

        return RECORDS

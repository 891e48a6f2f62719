"""Entry point to Claude's session files. normalize/claude/files.py recognises them first."""

import re

import msgspec

from turnwire.normalize.claude.session_files.records import BOOKKEEPING
from turnwire.normalize.claude.session_files.survey import ClaudeSurvey
from turnwire.normalize.common.times import moment
from turnwire.normalize.recordings.session_files import Estimate
from turnwire.protocol.claude import session_lines

_FOREIGN = re.compile(rb'"systemPayload"\s*:|"role"\s*:\s*"(?:user|model)"\s*,\s*"parts"\s*:')
"""Members in files of descendants (Qwen Code) that have the same shape but messages of another API."""


class _Stamp(msgspec.Struct):
    timestamp: str | None = None


_decode_stamp = msgspec.json.Decoder(_Stamp).decode


class Records:
    """The types of records in the files."""

    agent = "claude"
    core_goes_on = True

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line with the words of a record is one."""
        if _FOREIGN.search(line):
            return False
        told = session_lines.read(line)
        if told.type in ("user", "assistant", "system"):
            return told.session_id is not None and told.uuid is not None
        return told.type in BOOKKEEPING

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written."""
        try:
            return moment(_decode_stamp(line).timestamp)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return None

    def survey(self, estimate: Estimate | None = None) -> ClaudeSurvey:
        """Start to survey a file. `estimate` splits usage that the CLI reports for several answers together."""
        return ClaudeSurvey(estimate)


RECORDS = Records()

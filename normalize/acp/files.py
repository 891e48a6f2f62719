"""Session files of ACP agents: recognised by a member name. The reader is imported only when there is a file."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnwire.normalize.recordings.session_files import Estimate, SessionFiles, Survey


class KeptByAgent:
    """The files that one agent keeps (normalize/acp/session_files)."""

    core_goes_on = False

    def __init__(self, agent: str, word: bytes, *, at_start: bool = False) -> None:
        """`word`: bytes that identify the lines of such a file; `at_start`: the lines begin with them."""
        self.agent = agent
        self._word = word
        self._is_near = bytes.startswith if at_start else bytes.__contains__

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line is one of such a file, and of no recording."""
        return self._is_near(line, self._word) and self._records().recognises(line)

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id if this line has it."""
        return self._records().session_of(line)

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written."""
        return self._records().moment(line)

    def named(self, path: PurePath) -> str:
        """Return the conversation's id by where its file is, for lines that do not tell it."""
        return self._records().named(path)

    def beside(self, path: PurePath) -> Sequence[PurePath]:
        """Return the files that say more of the conversation."""
        return self._records().beside(path)

    def survey(self, estimate: "Estimate | None" = None) -> "Survey":
        """Start to survey a file. `estimate` splits usage that an agent reports for several answers together."""
        return self._records().survey(estimate)

    def _records(self) -> "SessionFiles":
        from turnwire.normalize.acp.session_files.agents import RECORDS  # noqa: PLC0415 - of all that is read, few are session files

        return RECORDS[self.agent]


KEPT_BY_OTHERS = (
    KeptByAgent("codex", b'"payload"'),
    KeptByAgent("copilot", b'"session.start"'),
    KeptByAgent("cursor", b'{"role":', at_start=True),
    KeptByAgent("droid", b'"session_start"'),
    KeptByAgent("gemini", b'"projectHash"'),
    KeptByAgent("kimi", b'"protocol_version"'),
    KeptByAgent("opencode", b'"directory"'),
    KeptByAgent("pi", b'"session"'),
    KeptByAgent("qwen", b'"parentUuid"'),
)
"""The agents whose files can be read."""

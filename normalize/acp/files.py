"""The files of agents of this protocol: told from other lines by a word. What reads them is imported when there is one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turnwire.normalize.recordings.session_files import Estimate, SessionFiles, Survey


class KeptByAgent:
    """The files that one agent keeps (normalize/acp/session_files)."""

    core_goes_on = False

    def __init__(self, agent: str, word: bytes) -> None:
        """`word`: what lines have by which a file is known."""
        self.agent = agent
        self._word = word

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line is one of such a file, and of no recording."""
        return self._word in line and self._records().recognises(line)

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id, of a line that tells it."""
        return self._records().session_of(line)

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written."""
        return self._records().moment(line)

    def survey(self, estimate: "Estimate | None" = None) -> "Survey":
        """Begin to look over a file; `estimate` splits what an agent tells of several answers together."""
        return self._records().survey(estimate)

    def _records(self) -> "SessionFiles":
        from turnwire.normalize.acp.session_files.agents import RECORDS  # noqa: PLC0415 - of all that is read, few are session files

        return RECORDS[self.agent]


KEPT_BY_OTHERS = (
    KeptByAgent("codex", b'"payload"'),
    KeptByAgent("gemini", b'"projectHash"'),
    KeptByAgent("qwen", b'"parentUuid"'),
)
"""Those whose files are known."""

"""Codex, through codex-acp."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn


class Codex(Quirks):
    """An API that fails is told as the status of the thread, then why as text."""

    def hear(self, turn: "Turn", words: str) -> None:
        """Note what is said once the thread has failed: it is why."""
        if turn.has_failed:
            turn.said_error = (turn.said_error or "") + words

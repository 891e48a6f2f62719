"""Codex, through codex-acp."""

from typing import TYPE_CHECKING

from turnwire.normalize.acp.agents.quirks import Quirks

if TYPE_CHECKING:
    from turnwire.normalize.acp.session import Turn


class Codex(Quirks, frozen=True, kw_only=True):
    """An API failure arrives as the thread's status, followed by the reason as text."""

    def note_text(self, turn: "Turn", words: str) -> None:
        """Note text that follows the thread's failure: it is the reason."""
        if turn.has_failed:
            turn.said_error = (turn.said_error or "") + words

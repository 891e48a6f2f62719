"""Read an agent's JSON lines as messages, and write its one prompt as plain text.

The recording and the core get the prompt as a JSON line made by turnwire, so that a recording contains the prompt.
"""

import asyncio

from turnwire.adapter.streams.client import StreamClient
from turnwire.normalize.streams.told import INTERRUPT, PROMPT


class OneShotClient(StreamClient):
    """Reads the lines of one agent, and writes its prompt."""

    def prompt(self, text: str, uuid: str) -> asyncio.Future[None]:
        """Queue the prompt. The future is done when it is written."""
        return self.lines.post(
            text.encode("utf-8", "replace") + b"\n", lambda: self.note({PROMPT: text, "id": uuid})
        )

    def interrupted(self) -> None:
        """Note that turnwire interrupts the turn."""
        self.note({INTERRUPT: True})

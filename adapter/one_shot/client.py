"""Read an agent's JSON lines as messages, and write its one prompt as plain text.

The recording and the core get the prompt as a JSON line made by turnwire, so that a recording contains the prompt.
"""

import asyncio
from collections.abc import Callable

import msgspec

from turnwire.adapter.process.transport import Transport
from turnwire.adapter.streams.client import StreamClient
from turnwire.normalize.inputs import Sent
from turnwire.normalize.streams.told import INTERRUPT, PROMPT
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import Wire


class OneShotClient(StreamClient):
    """Reads the lines of one agent, and writes its prompt."""

    def __init__(
        self, transport: Transport, wire: Wire, *, on_sent: Callable[[Sent], None], line_limit: int
    ) -> None:
        super().__init__(transport, wire, on_sent=on_sent, line_limit=line_limit)
        self._told = on_sent

    def prompt(self, text: str, uuid: str) -> asyncio.Future[None]:
        """Queue the prompt. The future is done when it is written."""
        return self.lines.post(
            text.encode("utf-8", "replace") + b"\n", lambda: self._tell({PROMPT: text, "id": uuid})
        )

    def interrupted(self) -> None:
        """Note that turnwire interrupts the turn."""
        self._tell({INTERRUPT: True})

    def _tell(self, value: JsonObject) -> None:
        line = msgspec.json.encode(value)
        for message in self._wire.sent(line):
            self._told(Sent(line, message))

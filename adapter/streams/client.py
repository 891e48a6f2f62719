"""Convert between an agent's lines and messages."""

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec

from turnwire.adapter.process.transport import ProcessGone, Transport
from turnwire.adapter.session.lines import Lines
from turnwire.normalize.inputs import Received, Sent
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.json_wire import Wire


class StreamClient:
    """Reads and writes the lines of one agent."""

    def __init__(
        self, transport: Transport, wire: Wire, *, on_sent: Callable[[Sent], None], line_limit: int
    ) -> None:
        """on_sent: called with every line right before it is written."""
        self.lines = Lines(transport, limit=line_limit)
        self._wire = wire
        self._on_sent = on_sent

    async def batches(self) -> AsyncIterator[list[Received]]:
        """Yield the agent's messages until its output ends, in lists of bounded size."""
        async for lines in self.lines.slices():
            yield [received for line in lines for received in self._received(line)]

    def say(self, value: JsonObject) -> asyncio.Future[None]:
        """Queue a line. The future is done when it is written."""
        line = msgspec.json.encode(value)
        sent = [Sent(line, message) for message in self._wire.sent(line)]

        def before() -> None:
            for one in sent:
                self._on_sent(one)

        return self.lines.post(line + b"\n", before)

    def note(self, value: JsonObject) -> None:
        """Hand the core a line of turnwire's own, which the agent does not get. It is in the record."""
        line = msgspec.json.encode(value)
        for message in self._wire.sent(line):
            self._on_sent(Sent(line, message))

    async def write_posted(self) -> None:
        """Write queued lines until the agent accepts no more. Run by one task."""
        await self.lines.write_posted()

    def give_up(self, reason: ProcessGone) -> None:
        """Fail all queued lines and every later one, because the agent has exited."""
        self.lines.give_up(reason)

    def _received(self, line: bytes | OversizeLine) -> list[Received]:
        head = line if isinstance(line, bytes) else line.head
        return [Received(own or head, message) for own, message in self._wire.heard((line,))]

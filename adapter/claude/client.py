"""The client layer: chunks -> messages in the CLI's order, and requests of ours matched with their answers.

Iterating `batches` reads; nothing that is written, asked or decided ever holds it up. One task writes (`write_posted`),
so lines are whole and in the order they were posted. A dialect's peer spells messages as lines; some have no word for a
request and answer it in the CLI's place. Every request has a deadline: 1.0 and 2.0 never answer what they do not know.
They answer set_permission_mode twice: the first answer counts, later ones are strays, counted and harmless.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from adapter.agent_session import RequestFailed, RequestTimeout
from adapter.lines import fail
from adapter.process.transport import ProcessGone, Transport
from normalize.inputs import Received, Sent
from protocol.claude.control import ControlRequest, ControlResponse
from protocol.claude.decode import malformed
from protocol.claude.encode import encode
from protocol.claude.messages import Message
from protocol.claude.requests import AnyRequest
from protocol.dialects import CLAUDE, Peer
from protocol.framing import DEFAULT_LIMIT, LineFramer, OversizeLine
from protocol.json_values import JsonObject

MAX_POSTED = 1024
"""Lines that may wait to be written before reading stops: a CLI that takes no answers gets no more requests read."""

_OURS = "turnwire_"


@dataclass(frozen=True, slots=True)
class _Posted:
    """What waits to be written."""

    message: Message | None
    """None for a reply that the dialect itself makes."""
    lines: bytes
    """Empty when the dialect has no word for it."""
    answers: list[Message]
    """What the dialect says in the CLI's place, once this is said."""
    written: asyncio.Future[None]


class Client:
    """Speaks the protocol over a transport.

    Args:
        transport: the CLI.
        on_sent: is told of every message right before it is written.
        on_answered: is told of what the dialect says in the CLI's place.
        peer: our end of the dialect.
        line_limit: bytes of one line that are held, at most.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        on_sent: Callable[[Sent], None],
        on_answered: Callable[[Received], None] = lambda _: None,
        peer: Peer | None = None,
        line_limit: int = DEFAULT_LIMIT,
    ) -> None:
        self.strays = 0
        """Answers to requests of ours that nobody waits for: second ones, late ones."""
        self.blank_lines = 0
        """Blank lines that were passed over."""
        self._is_blank = False
        """Whether the last line was blank."""
        self._transport = transport
        self._on_sent = on_sent
        self._on_answered = on_answered
        self._peer = peer or CLAUDE.host()
        self._framer = LineFramer(line_limit)
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[ControlResponse]] = {}
        self._posted: deque[_Posted] = deque()
        self._has_posted = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._gone: ProcessGone | None = None

    async def batches(self) -> AsyncIterator[list[Received]]:
        """Yield what the CLI writes until its output ends, in lists of bounded size; others go on between two of them.

        Of blank lines in a row the first is yielded, the others are counted.
        """
        while chunk := await self._transport.read():
            for lines in self._framer.slices(chunk):
                if batch := [item for line in self._told(lines) for item in self._receive(line)]:
                    yield batch
                await asyncio.sleep(0)
                await self._has_room.wait()
        if (last := self._framer.close()) is not None and (batch := self._receive(last)):
            yield batch

    def _told(self, lines: list[bytes | OversizeLine]) -> list[bytes | OversizeLine]:
        if b"" not in lines:
            self._is_blank = False
            return lines
        told = []
        for line in lines:
            if line == b"" and self._is_blank:
                self.blank_lines += 1
            else:
                told.append(line)
            self._is_blank = line == b""
        return told

    def post(self, message: Message) -> asyncio.Future[None]:
        """Queue a message to be written; the future says when it was. Raises EncodeError for what may not be said."""
        said = self._peer.write(message)
        return self._post(message, said.lines, said.messages)

    def _post(
        self, message: Message | None, lines: list[bytes], answers: list[Message]
    ) -> asyncio.Future[None]:
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._gone is not None:
            fail(written, self._gone)
            return written
        self._posted.append(_Posted(message, b"".join(lines), answers, written))
        self._has_posted.set()
        if len(self._posted) >= MAX_POSTED:
            self._has_room.clear()
        return written

    async def send(self, message: Message) -> None:
        """Write a message; raises EncodeError and ProcessGone."""
        await self.post(message)

    async def all_written(self) -> None:
        """Wait until everything that was posted so far is written, or can be written no more."""
        if self._posted:
            await asyncio.wait([self._posted[-1].written])

    async def request(self, request: AnyRequest, deadline: float) -> JsonObject:
        """Ask the CLI and return what it answers, {} when that is nothing.

        Raises:
            RequestTimeout: no answer within `deadline` seconds.
            RequestFailed: the CLI answered with an error.
            ProcessGone: the CLI is no more.
        """
        response = await self.exchange(request, deadline)
        if response.error is not None:
            raise RequestFailed(response.error)
        return response.payload if isinstance(response.payload, dict) else {}

    async def exchange(self, request: AnyRequest, deadline: float) -> ControlResponse:
        """Ask the CLI and return its whole answer, be it an error; raises RequestTimeout and ProcessGone."""
        request_id = f"{_OURS}{next(self._numbers)}"
        answered: asyncio.Future[ControlResponse] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answered
        try:
            async with asyncio.timeout(deadline):
                await self.send(ControlRequest(request_id, request))
                return await answered
        except TimeoutError:
            raise RequestTimeout(request.subtype, deadline) from None
        finally:
            self._waiting.pop(request_id, None)

    async def write_posted(self) -> None:
        """Write what is posted, until the CLI takes no more; the one task that writes."""
        try:
            # `give_up` may come between the words and their turn, and takes them with it
            while self._gone is None:
                await self._has_posted.wait()
                if self._posted:
                    await self._write_next()
        except ProcessGone as gone:
            self.give_up(gone)

    def give_up(self, reason: ProcessGone) -> None:
        """Fail everything that waits, and whatever is still to be asked: the CLI is no more."""
        self._gone = reason
        for posted in self._posted:
            fail(posted.written, reason)
        self._posted.clear()
        self._has_posted.set()
        self._has_room.set()
        for answered in self._waiting.values():
            fail(answered, reason)

    async def _write_next(self) -> None:
        posted = self._posted[0]
        if posted.message is not None and (posted.lines or posted.answers):
            # in Claude's spelling whatever the dialect, so that a recording tells all that was meant, uuids included
            self._on_sent(Sent(_spelled(posted.message), posted.message))
        if posted.lines:
            await self._transport.write(posted.lines)
        if not self._posted:
            return  # given up meanwhile
        self._posted.popleft()
        if not posted.written.done():
            posted.written.set_result(None)
        for answer in posted.answers:
            self._on_answered(Received(_spelled(answer), answer))
            if isinstance(answer, ControlResponse):
                self._settle(answer)
        if not self._posted:
            self._has_posted.clear()
        if len(self._posted) < MAX_POSTED:
            self._has_room.set()

    def _receive(self, line: bytes | OversizeLine) -> list[Received]:
        if isinstance(line, OversizeLine):
            return [Received(line.head, malformed(line))]
        heard = self._peer.read(line)
        if heard.lines:
            self._post(None, heard.lines, [])
        for message in heard.messages:
            if isinstance(message, ControlResponse):
                self._settle(message)
        # the line itself goes with the first message; any other is spelled out, so that a recording has each once
        return [
            Received(line if index == 0 else _spelled(message), message)
            for index, message in enumerate(heard.messages)
        ]

    def _settle(self, response: ControlResponse) -> None:
        answered = self._waiting.get(response.request_id)
        if answered is not None and not answered.done():
            answered.set_result(response)
        elif response.request_id.startswith(_OURS):
            self.strays += 1
        # anything else is the echo of an answer of ours: --replay-user-messages repeats those as well (2.1)


def _spelled(message: Message) -> bytes:
    """Return a message that never was a line as the CLI would write it."""
    return encode(message).removesuffix(b"\n")

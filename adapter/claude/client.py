"""The client layer: chunks become messages in the CLI's order, and our requests are matched with their answers.

Iterating `batches` reads. Writes, requests and decisions never delay it. One task writes (`write_posted`),
so lines are whole and in the order they were posted. A dialect's peer spells messages as lines; some have no word for a
request and answer it in the CLI's place. Every request has a deadline: 1.0 and 2.0 never answer what they do not know.
They answer set_permission_mode twice: the first answer counts, later ones are ignored.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.transport import ProcessGone, Transport
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.lines import Lines, fail
from turnwire.normalize.inputs import Received, Sent
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.claude.control import ControlRequest, ControlResponse
from turnwire.protocol.claude.decode import decode, malformed
from turnwire.protocol.claude.encode import encode
from turnwire.protocol.claude.messages import Message
from turnwire.protocol.claude.requests import AnyRequest
from turnwire.protocol.dialects import CLAUDE, Peer
from turnwire.protocol.framing import DEFAULT_LIMIT, OversizeLine
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.parsing import glued

_OURS = "turnwire_"


class ClaudeClient:
    """Speaks the protocol over a transport.

    Args:
        transport: the CLI.
        on_sent: called with every message right before it is written.
        on_answered: called with answers that the dialect gives in the CLI's place.
        peer: our end of the dialect.
        line_limit: maximum number of bytes of a line.
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
        """Answers that nobody waits for: second or late ones."""
        self.lines = Lines(transport, limit=line_limit)
        """Its streams."""
        self._on_sent = on_sent
        self._on_answered = on_answered
        self._peer = peer or CLAUDE.host()
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[ControlResponse]] = {}

    async def batches(self) -> AsyncIterator[list[Received]]:
        """Yield what the CLI writes until its output ends, in lists of bounded size; others go on between two of them.

        Of blank lines in a row the first is yielded, the others are counted.
        """
        async for lines in self.lines.slices():
            if batch := self._receive(lines):
                yield batch

    def post(self, message: Message) -> asyncio.Future[None]:
        """Queue a message to be written; the future says when it was. Raises EncodeError for what may not be said."""
        said = self._peer.write(message)
        answers = said.messages

        def before() -> None:
            if said.lines or answers:
                # in Claude's spelling whatever the dialect, so that a recording tells all that was meant, uuids included
                self._on_sent(Sent(_spelled(message), message))

        def after() -> None:
            for answer in answers:
                self._on_answered(Received(_spelled(answer), answer))
                if isinstance(answer, ControlResponse):
                    self._settle(answer)

        return self.lines.post(b"".join(said.lines), before, after)

    def post_line(self, line: bytes) -> asyncio.Future[None]:
        """Queue a line of the wire, without its newline, byte for byte."""
        return self.lines.post(line + b"\n", lambda: self._on_sent(Sent(line, decode(line))))

    async def send(self, message: Message) -> None:
        """Write a message; raises EncodeError and ProcessGone."""
        await self.post(message)

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
        return fields(response.payload)

    async def exchange(self, request: AnyRequest, deadline: float) -> ControlResponse:
        """Ask the CLI and return its whole answer, be it an error; raises RequestTimeout and ProcessGone."""
        request_id = f"{_OURS}{next(self._numbers)}"
        answered: asyncio.Future[ControlResponse] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answered
        try:
            async with suspend_aware.timeout(deadline):
                await self.send(ControlRequest(request_id, request))
                return await answered
        except TimeoutError:
            raise RequestTimeout(request.subtype, deadline) from None
        finally:
            self._waiting.pop(request_id, None)

    async def write_posted(self) -> None:
        """Write what is posted, until the CLI takes no more; the one task that writes."""
        await self.lines.write_posted()
        if (gone := self.lines.gone) is not None:
            self.give_up(gone)

    def give_up(self, reason: ProcessGone) -> None:
        """Fail everything that waits, and whatever is still to be asked: the CLI is no more."""
        self.lines.give_up(reason)
        for answered in self._waiting.values():
            fail(answered, reason)

    def _receive(self, lines: list[bytes | OversizeLine]) -> list[Received]:
        received = list[Received]()
        for line in lines:
            if not isinstance(line, bytes):
                received.append(Received(line.head, malformed(line)))
                continue
            heard = self._peer.read(line)
            if heard.messages and type(heard.messages[0]) is Malformed and (pieces := glued.cut(line)):
                received += self._receive(list(pieces))
                continue
            if heard.lines:
                self.lines.post(b"".join(heard.lines))
            # the line itself goes with the first message; any other is spelled out, so that a recording has each once
            own: bytes | None = line
            for message in heard.messages:
                if type(message) is ControlResponse:
                    self._settle(message)
                received.append(Received(_spelled(message) if own is None else own, message))
                own = None
        return received

    def _settle(self, response: ControlResponse) -> None:
        answered = self._waiting.get(response.request_id)
        if answered is not None and not answered.done():
            answered.set_result(response)
        # anything else came too late, or echoes an answer of ours: --replay-user-messages repeats those as well (2.1)


def _spelled(message: Message) -> bytes:
    """Return a message that never was a line as the CLI would write it."""
    return encode(message).removesuffix(b"\n")

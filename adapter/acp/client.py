"""JSON-RPC 2.0 over an agent's streams: our requests with ids and deadlines, its own answered, notifications both ways.

Iterating `batches` reads. Writes, requests and decisions never delay it. Our ids count from 1 in each process. An
answer to an unknown id, or a second one, is a stray: it is counted, goes to the core like any line, and is otherwise
harmless. The session handles everything that is not an answer (adapter/acp/session.py).
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.transport import ProcessGone, Transport
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.lines import Lines, fail
from turnwire.normalize.inputs import Message, Received, Sent
from turnwire.protocol.acp import encode
from turnwire.protocol.acp.decode import decode
from turnwire.protocol.acp.messages import (
    Batch,
    Id,
    Notification,
    Response,
    RpcError,
    SessionUpdate,
    UpdateParams,
)
from turnwire.protocol.acp.updates import StateUpdate
from turnwire.protocol.framing import DEFAULT_LIMIT, OversizeLine
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.malformed import Malformed, oversize
from turnwire.protocol.parsing import glued

_HINTS = {
    "MODEL_SWITCH_INCOMPATIBLE_AGENT": "; this model needs a new session"  # Grok
}


class AgentError(RequestFailed):
    """The agent answered a request with an error."""

    def __init__(self, method: str, error: RpcError) -> None:
        super().__init__(
            f"the agent refuses {method}: {error.message or 'it does not say why'} ({error.code})"
            + _HINTS.get(text_at(error.data, "code"), "")
        )
        self.code = error.code
        """JSON-RPC's, the protocol's (-32000: log in first; -32002: no such resource) or the agent's own."""
        self.text = error.message
        """The agent's words."""


class AcpClient:
    """Speaks JSON-RPC with an agent.

    Args:
        transport: the agent.
        on_sent: called with every message right before it is written.
        line_limit: maximum number of bytes of a line.
    """

    def __init__(
        self, transport: Transport, *, on_sent: Callable[[Sent], None], line_limit: int = DEFAULT_LIMIT
    ) -> None:
        self.lines = Lines(transport, limit=line_limit)
        """Answers that nobody waits for: second, late or invented ones."""
        self._heard = 0.0
        """When it said something last, by the loop's clock."""
        self._on_sent = on_sent
        self._numbers = itertools.count(1)
        self._waiting: dict[Id, tuple[str, asyncio.Future[Json]]] = {}
        self._prompted: asyncio.Future[Json] | None = None
        """The prompt of version 2 that the agent has heard: the state that ends its turn is its result."""
        self._is_active = False
        """Version 2: the agent has said that it works, and not that it has stopped."""

    async def batches(self) -> AsyncIterator[list[Received]]:
        """Yield what the agent says until its output ends, in lists of bounded size."""
        async for lines in self.lines.slices():
            self._heard = asyncio.get_running_loop().time()
            yield [received for line in lines for received in self._receive(line)]

    async def request(self, method: str, params: JsonObject, deadline: float | None) -> Json:
        """Ask the agent and return its result; `deadline` is in seconds, None for as long as it takes.

        Raises:
            RequestTimeout: no answer in time.
            AgentError: the agent answered with an error.
            ProcessGone: the agent is no more.
        """
        number = next(self._numbers)
        answered: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[number] = method, answered
        try:
            async with suspend_aware.timeout(deadline):
                await self._post(encode.request(number, method, params))
                return await answered
        except TimeoutError:
            raise RequestTimeout(method, deadline or 0.0) from None
        finally:
            self._waiting.pop(number, None)

    async def quiet(self, seconds: float, at_most: float) -> None:
        """Wait until the agent has said nothing for so many seconds, but no longer than `at_most`."""
        clock = asyncio.get_running_loop()
        latest = clock.time() + at_most
        while (left := min(self._heard + seconds, latest) - clock.time()) > 0:  # noqa: ASYNC110  silence is no event
            await asyncio.sleep(left)

    async def notify(self, method: str, params: JsonObject) -> None:
        """Tell the agent something; raises ProcessGone."""
        await self._post(encode.notification(method, params))

    def post(self, message: Response | Notification) -> asyncio.Future[None]:
        """Queue an answer or a notification."""
        match message:
            case Notification(method, params):
                return self._post(encode.notification(method, params))
            case Response(request_id, result, error):
                if error is None:
                    return self.respond(request_id, result)
                return self.refuse(
                    request_id, error.code if isinstance(error.code, int) else 0, error.message
                )

    def respond(self, request_id: Id, result: Json) -> asyncio.Future[None]:
        """Answer a request of the agent."""
        return self._post(encode.response(request_id, result))

    def refuse(self, request_id: Id, code: int, message: str) -> asyncio.Future[None]:
        """Answer a request of the agent with an error."""
        return self._post(encode.error(request_id, code, message))

    async def write_posted(self) -> None:
        """Write what is posted, until the agent takes no more; the one task that writes."""
        await self.lines.write_posted()

    def give_up(self, reason: ProcessGone) -> None:
        """Fail everything that waits, and whatever is still to be said: the agent is no more."""
        self.lines.give_up(reason)
        for _, answered in self._waiting.values():
            fail(answered, reason)

    def _post(self, line: bytes) -> asyncio.Future[None]:
        bare = line.removesuffix(b"\n")
        return self.lines.post(line, lambda: self._on_sent(Sent(bare, decode(bare))))

    def _receive(self, line: bytes | OversizeLine) -> list[Received]:
        if isinstance(line, OversizeLine):
            return [Received(line.head, oversize(line))]
        message = decode(line)
        if type(message) is Malformed and (pieces := glued.cut(line)):
            return [received for piece in pieces for received in self._receive(piece)]
        for one in messages_of(message):
            match one:
                case Response():
                    self._settle(one)
                case SessionUpdate(params=UpdateParams(update=StateUpdate() as state)):
                    self._state(state)
                case _:
                    pass
        return [Received(line, message)]

    def _settle(self, response: Response) -> None:
        method, answered = self._waiting.get(response.id, ("", None))
        if answered is None or answered.done():
            return  # it came too late, or a second time
        if response.error is not None:
            fail(answered, AgentError(method, response.error))
        elif method == "session/prompt" and is_heard(response.result):
            self._prompted = answered
        else:
            answered.set_result(response.result)

    def _state(self, update: StateUpdate) -> None:
        if update.state != "idle":
            self._is_active = True
            return
        ends = self._is_active or update.stop_reason is not None
        self._is_active = False
        if ends and self._prompted is not None:
            if not self._prompted.done():
                self._prompted.set_result({"stopReason": update.stop_reason})
            self._prompted = None


def is_heard(result: Json) -> bool:
    """Tell whether the answer to a prompt says only that it was heard, as in version 2."""
    return isinstance(result, dict) and "messageId" in result and "stopReason" not in result


def messages_of(message: Message) -> Sequence[Message]:
    """Return the messages of a line: of nearly all lines the one."""
    return message.messages if isinstance(message, Batch) else (message,)

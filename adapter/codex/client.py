"""Requests to `codex app-server` and their answers: JSON-RPC without the member `jsonrpc`.

Both sides count their requests from 0 or 1, so a line with a method is never an answer.
"""

import asyncio
import itertools
from collections.abc import Callable

from turnwire.adapter.process import suspend_aware
from turnwire.adapter.process.transport import ProcessGone, Transport
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.lines import fail
from turnwire.adapter.streams.client import StreamClient
from turnwire.normalize.inputs import Sent
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.json_wire import Wire


class CodexClient(StreamClient):
    """Speaks with one app server."""

    def __init__(
        self, transport: Transport, wire: Wire, *, on_sent: Callable[[Sent], None], line_limit: int
    ) -> None:
        """The arguments are those of a StreamClient."""
        super().__init__(transport, wire, on_sent=on_sent, line_limit=line_limit)
        self._numbers = itertools.count(1)
        self._waiting: dict[Json, tuple[str, asyncio.Future[JsonObject]]] = {}

    async def request(self, method: str, params: JsonObject, deadline: float | None) -> JsonObject:
        """Ask the server and return its result; `deadline` is in seconds, None for as long as it takes.

        Raises:
            RequestTimeout: no answer in time.
            RequestFailed: the server answered with an error.
            ProcessGone: the server is no more.
        """
        number = next(self._numbers)
        answered: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[number] = method, answered
        try:
            async with suspend_aware.timeout(deadline):
                await self.say({"id": number, "method": method, "params": params})
                return await answered
        except TimeoutError:
            raise RequestTimeout(method, deadline or 0.0) from None
        finally:
            self._waiting.pop(number, None)

    def post(self, method: str, params: JsonObject) -> None:
        """Ask the server for something of which the result does not matter; never waits."""
        self.say({"id": next(self._numbers), "method": method, "params": params})

    def settle(self, value: JsonObject) -> str:
        """Take a line of the server that may be an answer; return the method of the request that it answers, or ""."""
        if "method" in value or not isinstance(value.get("id"), int):
            return ""
        method, answered = self._waiting.get(value["id"], ("", None))
        if answered is None or answered.done():
            return ""
        if "error" in value:
            words = text_at(value["error"], "message") or "it does not say why"
            fail(answered, RequestFailed(f"Codex refuses {method}: {words}"))
        else:
            answered.set_result(fields(value.get("result")))
        return method

    def give_up(self, reason: ProcessGone) -> None:
        """Fail everything that waits, and whatever is still to be said: the server is no more."""
        super().give_up(reason)
        for _, answered in self._waiting.values():
            fail(answered, reason)

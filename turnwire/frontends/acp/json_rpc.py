"""JSON-RPC 2.0 over lines, either side asking: requests are served side by side, in the order they came.

What is no JSON-RPC is answered as the specification says, and disturbs nothing else. A request of ours that nobody needs
any more is taken back by `$/cancel_request`, and so can the other side's be.
"""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import msgspec

from turnwire.client.values import JsonObject, JsonValue
from turnwire.protocol.framing import LineFramer

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
RESOURCE_NOT_FOUND = -32002

CANCEL = "$/cancel_request"

MOST_LINE = 32 * 1024 * 1024
"""Bytes of a line: what the official clients take, and twice what the largest prompt has."""

MOST_SERVED = 1024
"""Requests of the other side that are served at a time; more are refused."""

SHOWN = 200
"""Characters of a wrong line that its refusal repeats."""

log = logging.getLogger("turnwire.frontends.acp")


class RpcError(Exception):
    """What a request is refused with, or what the other side has refused ours with."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_object(self) -> JsonObject:
        """Return the error as it is sent."""
        error = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


class TooLarge(Exception):
    """What was to be said is more than a client reads."""


class Lines(Protocol):
    """Where lines are written to."""

    def add(self, lines: bytes) -> None:
        """Write without waiting."""

    async def put(self, lines: bytes) -> None:
        """Write once there is room."""


@dataclass(frozen=True, slots=True)
class ResultThen:
    """A result, and an action for when it is written."""

    result: JsonValue
    then: Callable[[], None]


Handler = Callable[[str, JsonValue], Awaitable[JsonValue | ResultThen]]
"""Serves a request, or takes a notification: its method and parameters. Raises RpcError."""


class Peer:
    """One side of a connection."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._ids = itertools.count(1)
        self._asked: dict[int, asyncio.Future[JsonValue]] = {}
        self._serving: dict[JsonValue, asyncio.Task[None]] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._taken_back: set[asyncio.Task[None]] = set()

    def is_taken_back(self) -> bool:
        """Whether the request that is being served by the running task was taken back by the other side."""
        return asyncio.current_task() in self._taken_back

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification; raises TooLarge."""
        line = _line({"method": method, "params": params})
        if len(line) > MOST_LINE:
            raise TooLarge(f"{method} has {len(line)} bytes; clients accept at most {MOST_LINE}")
        await self._lines.put(line)

    async def request(self, method: str, params: JsonObject) -> JsonValue:
        """Ask, and return the result, whenever it comes; raises RpcError. When this is cancelled, so is the request."""
        number = next(self._ids)
        answer: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        is_answered = False
        try:
            await self._lines.put(_line({"id": number, "method": method, "params": params}))
            result = await answer
            is_answered = True
            return result
        except RpcError:
            is_answered = True
            raise
        finally:
            del self._asked[number]
            if not is_answered:
                self._lines.add(_line({"method": CANCEL, "params": {"requestId": number}}))

    async def serve(self, chunks: AsyncIterable[bytes], handler: Handler) -> None:
        """Read to the end, then cancel the requests that still run."""
        framer = LineFramer(MOST_LINE)
        try:
            async with asyncio.TaskGroup() as tasks:
                async for chunk in chunks:
                    for lines in framer.slices(chunk):
                        for line in lines:
                            self._take(line if isinstance(line, bytes) else None, handler, tasks)
                        await asyncio.sleep(0)
                if isinstance(last := framer.close(), bytes):
                    self._take(last, handler, tasks)
                for task in (*self._serving.values(), *self._telling):
                    task.cancel()
        finally:
            self._serving.clear()

    def _take(self, line: bytes | None, handler: Handler, tasks: asyncio.TaskGroup) -> None:
        if line is None:
            self._refuse(None, INVALID_REQUEST, f"the line has more than {MOST_LINE} bytes")
            return
        if not line.strip():
            return
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            shown = line[:SHOWN].decode(errors="replace")
            self._refuse(None, PARSE_ERROR, f"the line is not JSON ({error}): {shown!r}")
            return
        match message:
            case {"method": "$/cancel_request", "params": {"requestId": str() | int() as number}}:
                if (task := self._serving.get(number)) is not None:
                    self._taken_back.add(task)
                    task.add_done_callback(self._taken_back.discard)
                    task.cancel()
            case {"method": str(method), "id": str() | int() as number}:
                if len(self._serving) >= MOST_SERVED:
                    self._refuse(
                        number, INTERNAL_ERROR, f"{MOST_SERVED} requests are being served, the most allowed"
                    )
                elif number in self._serving:
                    self._refuse(number, INVALID_REQUEST, f"a request {number!r} is being served already")
                else:
                    serving = self._serve(number, handler(method, message.get("params")))
                    self._serving[number] = tasks.create_task(serving)
            case {"method": str(method)} if "id" not in message:
                if len(self._telling) >= MOST_SERVED:
                    log.warning(
                        "a notification was dropped: too many are being served", extra={"method": method}
                    )
                    return
                telling = tasks.create_task(_tell(method, handler(method, message.get("params"))))
                self._telling.add(telling)
                telling.add_done_callback(self._telling.discard)
            case {"id": int(number)} if "method" not in message:
                self._answered(number, message)
            case {"error": dict(), "id": None}:
                log.warning("the editor could not read a line", extra={"error": message["error"]})
            case {"id": str() | int() as number}:
                self._refuse(number, INVALID_REQUEST, "a request needs a `method`, a string")
            case _:
                self._refuse(
                    None,
                    INVALID_REQUEST,
                    "a message is an object with a `method`, or with an `id` and a result",
                )

    def _answered(self, number: int, message: JsonObject) -> None:
        answer = self._asked.get(number)
        if answer is None or answer.done():
            return  # it was taken back, and the answer was on its way
        match message:
            case {"error": {"code": int(code), "message": str(words)}}:
                answer.set_exception(RpcError(code, words))
            case {"error": error}:
                answer.set_exception(RpcError(INTERNAL_ERROR, f"an error without words: {error!r}"[:SHOWN]))
            case _:
                answer.set_result(message.get("result"))

    async def _serve(self, number: str | int, serving: Awaitable[JsonValue | ResultThen]) -> None:
        then: Callable[[], None] | None = None
        try:
            result = await serving
            if isinstance(result, ResultThen):
                result, then = result.result, result.then
            await self._lines.put(_line({"id": number, "result": result}))
        except RpcError as error:
            await self._lines.put(_line({"id": number, "error": error.as_object()}))
        except asyncio.CancelledError:
            self._refuse(number, REQUEST_CANCELLED, "the request was cancelled")
            raise
        finally:
            self._serving.pop(number, None)
        if then is not None:
            then()

    def _refuse(self, number: str | int | None, code: int, message: str) -> None:
        self._lines.add(_line({"id": number, "error": {"code": code, "message": message}}))


async def _tell(method: str, taking: Awaitable[JsonValue | ResultThen]) -> None:
    try:
        await taking
    except RpcError as error:
        log.warning("a notification was not accepted", extra={"method": method, "error": error.message})


def _line(message: JsonObject) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"

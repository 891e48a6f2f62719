"""JSON-RPC 2.0 on lines: answers the client's requests and sends requests to the client.

A thread reads stdin and hands each line to the event loop. Each request has its own task, started in the order of the lines:
a prompt is answered long after it arrives, and other requests are answered meanwhile.
"""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable

import msgspec

from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = (
    -32700, -32600, -32601, -32602, -32603,
)  # fmt: skip
AUTH_REQUIRED, NOT_FOUND = -32000, -32002


class RpcError(TurnwireError):
    """A JSON-RPC error, sent or received."""

    def __init__(self, code: int, message: str, detail: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail

    def wire(self) -> JsonObject:
        """The error object of a response."""
        told: JsonObject = {"code": self.code, "message": str(self)}
        return told if self.detail is None else {**told, "data": self.detail}


class Connection:
    """The client on the other side of stdin and stdout."""

    def __init__(self, put: Callable[[bytes], None], tasks: asyncio.TaskGroup) -> None:
        self.put = put
        self._tasks = tasks
        self._loop = asyncio.get_running_loop()
        self._asked: dict[int, asyncio.Future[Json]] = {}
        self._ids = 0
        self.running: set[asyncio.Task[None]] = set()
        """The requests that are being answered."""
        self.closed = asyncio.Event()
        """Set at the end of stdin."""
        self.on_request: Callable[[str, JsonObject], Awaitable[Json]]
        self.on_notification: Callable[[str, JsonObject], None] = lambda *_: None

    def start(self) -> None:
        """Start to read stdin."""
        threading.Thread(target=self._read, daemon=True, name="stdin").start()

    def _read(self) -> None:
        for line in sys.stdin.buffer:
            self._loop.call_soon_threadsafe(self._take, line.strip())
        self._loop.call_soon_threadsafe(self.closed.set)

    def _take(self, line: bytes) -> None:
        if not line:
            return
        try:
            message = msgspec.json.decode(line)
        except ValueError as error:
            self._fail(None, RpcError(PARSE_ERROR, "Parse error", str(error)))
            return
        match message:
            case {"method": str(method), "id": (int() | str()) as request_id}:
                task = self._tasks.create_task(self._answer(request_id, method, message.get("params")))
                self.running.add(task)
                task.add_done_callback(self.running.discard)
            case {"method": str(method)}:
                params = message.get("params")
                self.on_notification(method, params if isinstance(params, dict) else {})
            case {"id": int(request_id)} if request_id in self._asked:
                self._settle(self._asked.pop(request_id), message)
            case {"id": int() | str()}:
                pass  # an answer to what was withdrawn, or was never asked
            case _:
                self._fail(None, RpcError(INVALID_REQUEST, "Invalid request"))

    def _settle(self, asked: asyncio.Future[Json], message: JsonObject) -> None:
        if asked.done():
            return
        match message.get("error"):
            case None:
                asked.set_result(message.get("result"))
            case {"code": int(code), "message": str(text)}:
                asked.set_exception(RpcError(code, text))
            case other:
                asked.set_exception(RpcError(INTERNAL_ERROR, f"an error without code or message: {other!r}"))

    async def _answer(self, request_id: int | str, method: str, params: Json) -> None:
        try:
            if not isinstance(params, dict | None):
                raise RpcError(INVALID_PARAMS, "Invalid params", "params is not an object")
            result = await self.on_request(method, params or {})
        except RpcError as error:
            self._fail(request_id, error)
        else:
            self._write({"id": request_id, "result": result})

    def _fail(self, request_id: int | str | None, error: RpcError) -> None:
        self._write({"id": request_id, "error": error.wire()})

    def _write(self, message: JsonObject) -> None:
        self.put(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")

    def notify(self, method: str, params: JsonObject) -> None:
        """Tell the client something."""
        self._write({"method": method, "params": params})

    async def request(self, method: str, params: JsonObject) -> Json:
        """Ask the client; returns its result, or raises RpcError with the error it answered."""
        request_id, self._ids = self._ids, self._ids + 1
        self._asked[request_id] = self._loop.create_future()
        self._write({"id": request_id, "method": method, "params": params})
        try:
            return await self._asked[request_id]
        finally:
            self._asked.pop(request_id, None)

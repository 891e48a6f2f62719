"""Requests of agents other than permissions and forms: files and terminals where they are allowed, and no other method.

Each is done by a task of its own, so that reading goes on; only so many at a time, and more are refused. Every request
gets one answer, whatever goes wrong in it.
"""

import asyncio
import shlex
from collections.abc import Callable, Sequence

from msgspec import Struct

from turnwire.adapter.acp.client import AcpClient
from turnwire.adapter.acp.files import FileRefused, WorkspaceFiles
from turnwire.adapter.acp.terminals import TerminalRefused, Terminals
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.acp.agents import TOLD_BY_REQUEST
from turnwire.normalize.payloads.fields import fields
from turnwire.protocol.acp.messages import Id, Request
from turnwire.protocol.json_values import Json, JsonObject, text_at

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
FAILED = -32603
NOT_FOUND = -32002
"""The protocol's error of a file that does not exist."""

INVALID_REQUEST = -32600

_FILES = {"fs/read_text_file", "fs/write_text_file"}


class Services(Struct, frozen=True, kw_only=True):
    """What an agent may have its client do."""

    files: WorkspaceFiles | None = None
    """Its files; None for none."""
    writes: bool = False
    """Whether they may be written."""
    terminals: Terminals | None = None
    """Its commands; None for none."""

    async def close(self) -> None:
        """End its commands."""
        if self.terminals is not None:
            await self.terminals.close()


class _Refused(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ClientRequests:
    """Answers the requests of one agent."""

    def __init__(
        self,
        client: AcpClient,
        services: Services,
        *,
        forbidden: Callable[[ToolCall], str | None],
        tasks: asyncio.TaskGroup,
        most: int,
        notify: Notify,
    ) -> None:
        """`forbidden` says why a call may not be made unasked, None when it may: rules hold here, too."""
        self._client = client
        self._services = services
        self._forbidden = forbidden
        self._tasks = tasks
        self._most = most
        self._notify = notify
        self._running: set[asyncio.Task[None]] = set()
        self._is_overloaded = False

    def on_request(self, request: Request) -> None:
        """Answer a request, soon; never waits."""
        if request.method in TOLD_BY_REQUEST:
            self._client.respond(request.id, {})
            return
        if not self._is_served(request.method):
            self._client.refuse(
                request.id, METHOD_NOT_FOUND, f"turnwire has no method {request.method[:200]}"
            )
            return
        if len(self._running) >= self._most:
            self._client.refuse(request.id, FAILED, f"{self._most} requests wait already")
            if not self._is_overloaded:
                self._is_overloaded = True
                message = f"{self._most} requests for files and terminals wait; more are refused until some are answered"
                self._notify(SessionNotice("too_many_requests", message))
            return
        self._is_overloaded = self._is_overloaded and len(self._running) > self._most // 2
        task = self._tasks.create_task(self._answer(request.id, request.method, request.params))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def close(self) -> None:
        """Answer nothing more."""
        for task in self._running:
            task.cancel()

    def _is_served(self, method: str) -> bool:
        services = self._services
        match method:
            case "fs/read_text_file":
                return services.files is not None
            case "fs/write_text_file":
                return services.files is not None and services.writes
            case _:
                return method.startswith("terminal/") and services.terminals is not None

    async def _answer(self, request_id: Id, method: str, params: Json) -> None:
        try:
            result = await self._do(method, fields(params))
        except FileRefused as error:
            self._client.refuse(request_id, NOT_FOUND if error.missing else INVALID_PARAMS, str(error))
        except TerminalRefused as error:
            self._client.refuse(request_id, INVALID_PARAMS, str(error))
        except _Refused as error:
            self._client.refuse(request_id, error.code, str(error))
        else:
            self._client.respond(request_id, result)

    async def _do(self, method: str, params: JsonObject) -> Json:
        for call in _calls(method, params):
            if (reason := self._forbidden(call)) is not None:
                raise _Refused(INVALID_PARAMS, f"turnwire's rules forbid this: {reason}")
        files, terminals = self._services.files, self._services.terminals
        if method not in _FILES:
            return await terminals.answer(method, params) if terminals is not None else None
        path = params.get("path")
        if files is None or not isinstance(path, str):
            raise _Refused(INVALID_PARAMS, f"{method} needs a path")
        if method == "fs/read_text_file":
            line, limit = _number(params, "line"), _number(params, "limit")
            return {"content": await asyncio.to_thread(files.read, path, line, limit)}
        if not isinstance(params.get("content"), str):
            raise _Refused(INVALID_PARAMS, f"{method} needs content")
        await asyncio.to_thread(files.write, path, text_at(params, "content"))
        return {}


def _calls(method: str, params: JsonObject) -> Sequence[ToolCall]:
    """Return what a request does as rules name it; a file that is written may be called either of two names."""
    match method:
        case "fs/read_text_file":
            return [ToolCall("Read", {"file_path": text_at(params, "path")}, "read")]
        case "fs/write_text_file":
            arguments = {"file_path": text_at(params, "path")}
            return [ToolCall(name, arguments, "edit") for name in ("Write", "Edit")]
        case "terminal/create":
            words = [text_at(params, "command"), *_texts(params.get("args"))]
            line = words[0] if len(words) == 1 else shlex.join(words)
            return [ToolCall("Bash", {"command": line}, "execute")]
        case _:
            return []


def _texts(values: Json) -> Sequence[str]:
    return [str(value) for value in values] if isinstance(values, list) else []


def _number(params: JsonObject, name: str) -> int | None:
    found = params.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None

"""Our end towards a caller that speaks JSON-RPC: `run` in, notifications and results out.

Any other method that looks like a subtype is a control request: the CLI knows more of them than have a model here, and
says so itself of one that it does not know.
"""

import re
from collections import deque
from itertools import count

from msgspec import Struct

from turnwire.protocol.claude.control import ControlRequest, ControlResponse, name_of
from turnwire.protocol.claude.decode import NOT_AN_OBJECT, message_of
from turnwire.protocol.claude.encode import as_value
from turnwire.protocol.claude.messages import Message, Unknown, User, UserBody
from turnwire.protocol.claude.requests import UnknownRequest
from turnwire.protocol.claude.results import Result
from turnwire.protocol.dialects.base import Exchange
from turnwire.protocol.json_rpc import envelope
from turnwire.protocol.json_rpc.envelope import Id
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import Injected, SystemFailure
from turnwire.protocol.parsing.depth import TOO_DEEP, outermost

_SUBTYPE = re.compile(r"[a-z][a-z0-9_]*")
"""What subtypes of control requests look like, unlike methods that belong to JSON-RPC's own conventions."""

_UNSUPPORTED = "Unsupported control request subtype"
"""How a CLI begins its answer to a subtype that it does not know (2.1; older ones do not answer)."""


class _Run(Struct, frozen=True):
    """A `run` that has no response yet."""

    id: Id
    prompt: User


class JsonRpcAgent:
    """The agent's side of the JSON-RPC dialect: turns messages into its lines, and its caller's lines into messages."""

    def __init__(self) -> None:
        self._names = count(1)
        self._runs: deque[_Run] = deque()
        self._joined = 0
        self._is_between = False
        self._interrupted = False
        self._requests: dict[str, Id] = {}
        self._interrupts: set[str] = set()

    def read(self, line: bytes) -> Exchange:
        """Take a line of the caller; what it gets wrong is told to it as JSON-RPC demands."""
        messages: list[Message] = []
        lines: list[bytes] = []
        for item in envelope.open_line(line):
            taken = self._read(item) if isinstance(item, dict) else _bare(item, line)
            messages += taken.messages
            lines += taken.lines
        return Exchange(messages, lines)

    def _read(self, item: JsonObject) -> Exchange:
        method, request_id = text_at(item, "method"), item.get("id")
        if not envelope.is_id(request_id):
            return _refused(None, envelope.INVALID_REQUEST, "an id is a string or a number")
        if not method:
            return _response(item, request_id)
        if method == "run":
            return self._run(item, request_id)
        if not _SUBTYPE.fullmatch(method):
            problem = _refused(request_id, envelope.METHOD_NOT_FOUND, f"no method {method}")
            return problem if "id" in item else Exchange([Unknown(item)])
        name = f"rpc-{next(self._names)}"
        if "id" in item:
            self._requests[name] = request_id
        if method == "interrupt":
            self._interrupts.add(name)
        params = item.get("params")
        body = {**(params if isinstance(params, dict) else {}), "subtype": method}
        if method == "initialize":  # whole: what has no model here may be what the CLI has to obey
            return Exchange([ControlRequest(name, UnknownRequest(body))])
        return Exchange([message_of({"type": "control_request", "request_id": name, "request": body})])

    def _run(self, item: JsonObject, request_id: Id) -> Exchange:
        prompt = _prompt(item.get("params"))
        if prompt is None:
            return _refused(
                request_id, envelope.INVALID_PARAMS, "params need a user message, or a prompt that is text"
            )
        if "id" in item:
            if any(run.id == request_id for run in self._runs):
                return _refused(request_id, envelope.INVALID_REQUEST, "a run with this id goes on")
            self._is_between = self._is_between and bool(self._runs)
            self._runs.append(_Run(request_id, prompt))
        return Exchange([prompt])

    def pause(self) -> list[bytes]:
        """Return nothing: no line waits for another one."""
        return []

    def refuse(self, prompt: Message, reason: str) -> Exchange:
        """Say that a prompt is not taken: its run has failed; of what was not even read, the id as far as it can be told."""
        if isinstance(prompt, Malformed):
            asked = outermost(prompt.line.encode(), ("id",)).get("id")
            return _refused(asked, envelope.INVALID_REQUEST, reason)
        run = next((run for run in self._runs if run.prompt is prompt), None)
        if run is None:  # it came without an id, or without an envelope
            return self.write(SystemFailure(message=reason))
        self._runs.remove(run)
        return _refused(run.id, envelope.FAILED, reason)

    def write(self, message: Message, line: bytes | None = None) -> Exchange:
        """Say a message to the caller: a result answers its run, all else is a notification."""
        match message:
            case Malformed():
                return Exchange()
            case Result():
                return self._result(message, as_value(message, line))
            case ControlResponse():
                return self._answer(message)
            case ControlRequest(own_id=own_id):
                told = as_value(message, line).get("request")
                params = dict(told) if isinstance(told, dict) else {"request": told}
                method = text_at(params, "subtype") or ""
                params.pop("subtype", None)
                return Exchange(
                    lines=[
                        envelope.request(
                            own_id if isinstance(own_id, str | int | float) else name_of(own_id),
                            method,
                            params,
                        )
                    ]
                )
            case Injected(message_count=int(joined)):
                # between turns one of the prompts begins the turn that the others join
                self._joined += joined - self._is_between
                self._is_between = False
            case _:
                pass
        value = as_value(message, line)
        return Exchange(lines=[envelope.notification(text_at(value, "type"), value)])

    def _result(self, message: Result, value: JsonObject) -> Exchange:
        runs = [self._runs.popleft().id for _ in range(min(1 + self._joined, len(self._runs)))]
        interrupted, self._interrupted, self._joined = self._interrupted, False, 0
        self._is_between = True
        if not runs:
            return Exchange(lines=[envelope.notification("result", value)])
        if (
            not message.is_error
            and not message.subtype.startswith("error")
            and message.subtype != "cancelled"
        ):
            return Exchange(lines=[envelope.response(run, value) for run in runs])
        cancelled = interrupted or message.subtype == "cancelled"
        code = envelope.CANCELLED if cancelled else envelope.FAILED
        text = message.text or "\n".join(message.human_errors)
        text = text or ("cancelled" if cancelled else message.subtype)
        return Exchange(lines=[envelope.error(run, code, text, value) for run in runs])

    def _answer(self, message: ControlResponse) -> Exchange:
        if message.request_id in self._interrupts:
            # every CLI answers before the turn's result; without a turn nothing is cancelled
            self._interrupts.discard(message.request_id)
            self._interrupted = message.error is None and bool(self._runs)
        if message.request_id not in self._requests:
            return Exchange()
        request_id = self._requests.pop(message.request_id)
        if message.error is not None:
            unknown = message.error.startswith(_UNSUPPORTED)
            code = envelope.METHOD_NOT_FOUND if unknown else envelope.FAILED
            return Exchange(lines=[envelope.error(request_id, code, message.error)])
        return Exchange(lines=[envelope.response(request_id, message.payload or {})])


def _prompt(params: Json) -> User | None:
    """Return the prompt in the params of `run`: a user message, the inner message, or text under a usual name."""
    if isinstance(params, list) and len(params) == 1:
        params = {"prompt": params[0]}
    if not isinstance(params, dict):
        return None
    session_id = text_at(params, "session_id") or None
    inner = params.get("message")
    if isinstance(inner, dict) and inner.get("content"):
        message = message_of({**params, "type": "user"})
        if isinstance(message, User) and message.message.content and message.message.role == "user":
            return message
        return None
    for name in ("prompt", "message", "content", "input", "text"):
        if text_at(params, name):
            return User(message=UserBody(content=params[name]), session_id=session_id)
    return None


def _response(item: JsonObject, request_id: Id) -> Exchange:
    if "result" in item:
        body: JsonObject = {"subtype": "success", "request_id": request_id, "response": item["result"]}
    elif "error" in item:
        text = text_at(item["error"], "message") or "error"
        body = {"subtype": "error", "request_id": request_id, "error": text}
    else:
        return _refused(request_id, envelope.INVALID_REQUEST, "neither a method nor a result nor an error")
    return Exchange([message_of({"type": "control_response", "response": body})])


def _bare(message: Message, line: bytes) -> Exchange:
    """Take a message without an envelope, as it is: callers that mix both are understood."""
    if isinstance(message, Malformed) and message.reason == TOO_DEEP:
        return Exchange(
            [message], _refused(outermost(line, ("id",)).get("id"), envelope.INVALID_REQUEST, TOO_DEEP).lines
        )
    if isinstance(message, Malformed):
        code = envelope.INVALID_REQUEST if message.reason == NOT_AN_OBJECT else envelope.PARSE_ERROR
        return Exchange([message], [envelope.error(None, code, message.reason)])
    if isinstance(message, Unknown):
        return Exchange([message], [envelope.error(None, envelope.INVALID_REQUEST, "no jsonrpc member")])
    return Exchange([message])


def _refused(request_id: Id, code: int, text: str) -> Exchange:
    return Exchange(lines=[envelope.error(request_id, code, text)])

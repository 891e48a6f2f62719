"""The dialect of miriad-code (spec 1): a subset of Claude's, with tool results in system messages.

It has no control protocol but {"type":"control","action":"interrupt"|"status"}, and answers only the second. So the
host answers our control requests itself: initialize and interrupt succeed as soon as they are said, status succeeds
when the agent tells it, any other fails. A turn ends as success, error or cancelled.
"""

from collections import deque

from protocol.blocks import AnyBlock, RedactedThinkingBlock, ThinkingBlock, ToolResultBlock
from protocol.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    GetStatus,
    Interrupt,
    failure,
    success,
)
from protocol.decode import decode
from protocol.dialects.base import Dialect, Exchange
from protocol.encode import EncodeError, encode, encode_input, line_of, to_json
from protocol.json_values import JsonObject, text_at
from protocol.messages import Assistant, AssistantBody, Malformed, Message, Unknown, User, UserBody
from protocol.miriad import SystemFailure, SystemToolResult
from protocol.results import Result
from protocol.system import Status, System

INTERRUPT = b'{"type":"control","action":"interrupt"}\n'
STATUS = b'{"type":"control","action":"status"}\n'


class MiriadHost:
    """Drives an agent that speaks miriad."""

    def __init__(self) -> None:
        self._asked: deque[str] = deque()

    def read(self, line: bytes) -> Exchange:
        """Take a line of the agent: a tool result becomes a user message, a status the answer to our request."""
        message = decode(line)
        match message:
            case SystemToolResult():
                body = UserBody(content=[message.tool_result])
                return Exchange([User(message=body, uuid=message.uuid, session_id=message.session_id)])
            case Status() if self._asked and (
                message.running is not None or message.queued_messages is not None
            ):
                # all that wait, since one that was never answered must not shift the answers of the others
                answers = [success(request_id, _status_of(message)) for request_id in self._asked]
                self._asked.clear()
                return Exchange([message, *answers])
            case _:
                return Exchange([message])

    def write(self, message: Message, line: bytes | None = None) -> Exchange:  # noqa: ARG002 - a line of a CLI is never told to an agent
        """Write to the agent, or answer in its place."""
        match message:
            case User():
                return Exchange(lines=[encode_input(_plain(message))])
            case ControlRequest(request_id, request):
                return self._request(request_id, request.subtype)
            case ControlResponse():
                return Exchange()
            case _:
                raise EncodeError(f"a miriad agent takes user and control, not {type(message).__name__}")

    def _request(self, request_id: str, subtype: str) -> Exchange:
        # by its subtype: a request that a frontend spelled out has no class of its own
        match subtype:
            case "interrupt":
                return Exchange([success(request_id)], [INTERRUPT])
            case "status":
                self._asked.append(request_id)
                return Exchange(lines=[STATUS])
            case "initialize":
                return Exchange([success(request_id, {})])
            case _:
                return Exchange(
                    [failure(request_id, f"the miriad dialect has no {subtype or 'such request'}")]
                )


class MiriadAgent:
    """Stands in for an agent that speaks miriad."""

    def __init__(self) -> None:
        self._requests = 0
        self._statuses: set[str] = set()
        self._interrupts: set[str] = set()
        self._interrupted = False

    def read(self, line: bytes) -> Exchange:
        """Take a line of the host; what it gets wrong is told to it as a system error."""
        message = decode(line)
        match message:
            case Unknown(raw={"type": "control"}):
                return self._control(text_at(message.raw, "action"))
            case Malformed(reason=reason):
                return Exchange([message], [_error(f"not a message: {reason}")])
            case Unknown():
                return Exchange([message], [_error(f"unknown type: {message.type or 'none'}")])
            case _:
                return Exchange([message])

    def _control(self, action: str) -> Exchange:
        self._requests += 1
        request_id = f"control-{self._requests}"
        match action:
            case "interrupt":
                self._interrupts.add(request_id)
                return Exchange([ControlRequest(request_id, Interrupt())])
            case "status":
                self._statuses.add(request_id)
                return Exchange([ControlRequest(request_id, GetStatus())])
            case _:
                return Exchange(lines=[_error(f"unknown action: {action or 'none'}")])

    def write(self, message: Message, line: bytes | None = None) -> Exchange:
        """Say a message to the host; reasoning, partial messages and echoes have no word in this dialect."""
        match message:
            case Assistant():
                return _assistant(message)
            case User():
                results = [block for block in message.blocks if isinstance(block, ToolResultBlock)]
                return Exchange(
                    lines=[
                        encode(SystemToolResult(tool_result=block, session_id=message.session_id))
                        for block in results
                    ]
                )
            case Result():
                interrupted, self._interrupted = self._interrupted, False
                return Exchange(lines=[line_of(_result(message, interrupted))])
            case ControlResponse():
                return self._answer(message)
            case ControlRequest() | ControlCancelRequest() | System():
                return Exchange(lines=[encode(message) if line is None else line + b"\n"])
            case _:
                return Exchange()

    def _answer(self, message: ControlResponse) -> Exchange:
        request_id = message.request_id
        if not request_id.startswith("control-"):
            return Exchange(lines=[encode(message)])
        if request_id in self._interrupts:
            # that it was done or that no turn ran, neither has a word; every CLI answers before the turn's result
            self._interrupts.discard(request_id)
            self._interrupted = message.error is None
            return Exchange()
        if message.error is not None:
            return Exchange(lines=[_error(message.error)])
        if request_id in self._statuses:
            self._statuses.discard(request_id)
            return Exchange(
                lines=[line_of({"type": "system", "subtype": "status", **(message.payload or {})})]
            )
        return Exchange()


def _status_of(message: Status) -> JsonObject:
    fields = {
        "running": message.running,
        "session_id": message.session_id,
        "queued_messages": message.queued_messages,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _plain(message: User) -> User:
    return User(message=message.message, session_id=message.session_id)


def _assistant(message: Assistant) -> Exchange:
    blocks: list[AnyBlock] = [
        block for block in message.blocks if not isinstance(block, ThinkingBlock | RedactedThinkingBlock)
    ]
    if not blocks:
        return Exchange()
    body = AssistantBody(content=blocks, model=message.message.model)
    return Exchange(lines=[encode(Assistant(message=body, parent_tool_use_id=message.parent_tool_use_id))])


def _result(message: Result, interrupted: bool) -> JsonObject:
    failed = bool(message.is_error) or message.subtype != "success"
    if message.subtype == "cancelled" or (interrupted and failed):
        subtype = "cancelled"
    else:
        subtype = "error" if failed else "success"
    fields: JsonObject = {
        "type": "result",
        "subtype": subtype,
        "duration_ms": message.duration_ms or 0,
        "is_error": subtype == "error",
        "num_turns": message.num_turns or 0,
        "session_id": message.session_id,
        "result": message.text if message.text is not None else "\n".join(message.errors) or None,
        "usage": message.usage
        and {"input_tokens": message.usage.input_tokens, "output_tokens": message.usage.output_tokens},
    }
    return {name: value for name, value in fields.items() if value is not None}


def _error(text: str) -> bytes:
    return line_of(to_json(SystemFailure(message=text)))


MIRIAD = Dialect("miriad", MiriadHost, MiriadAgent)

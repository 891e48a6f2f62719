"""The dialect of miriad-code: a subset of Claude's, with tool results in system messages.

Its only control messages are {"type":"control","action":"interrupt"|"status"}, and it answers only the second. So the
host answers our control requests itself: initialize and interrupt succeed at once, status succeeds
when the agent reports it, any other fails. A turn ends as success, error or cancelled. Its `num_turns` counts cycles of tool
use, and its `session_id` is the one in the caller's prompts.
"""

from collections import deque

import msgspec

from turnwire.protocol.claude.blocks import (
    AnyBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    failure,
    success,
)
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import EncodeError, as_value, encode, encode_input, to_json
from turnwire.protocol.claude.messages import Assistant, AssistantBody, Message, Unknown, User, UserBody
from turnwire.protocol.claude.requests import GetStatus, Interrupt, UnknownRequest
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Init, Status, System
from turnwire.protocol.dialects.base import Dialect, Exchange
from turnwire.protocol.json_lines import line_of
from turnwire.protocol.json_values import JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import Injected, Queued, SystemFailure, SystemToolResult

INTERRUPT = b'{"type":"control","action":"interrupt"}\n'
STATUS = b'{"type":"control","action":"status"}\n'


class MiriadHost:
    """Drives an agent that speaks miriad."""

    def __init__(self) -> None:
        self._asked: deque[str] = deque()

    def read(self, line: bytes) -> Exchange:
        """Handle a line of the agent: a tool result becomes a user message, a status the answer to our request."""
        message = decode(line)
        match message:
            case SystemToolResult():
                body = UserBody(content=[message.tool_result])
                return Exchange([User(message=body, uuid=message.uuid, session_id=message.session_id)])
            case Status() if self._asked and _tells_status(message):
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
                return Exchange(
                    lines=[encode_input(User(message=message.message, session_id=message.session_id))]
                )
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
    """The agent's side of miriad."""

    def __init__(self) -> None:
        self._requests = 0
        self._statuses: set[str] = set()
        self._interrupts: set[str] = set()
        self._interrupted = False
        self._session_id: str | None = None
        self._cycles = 0
        self._cycle: str | None = None
        self._is_open = False
        self._has_failed = False
        self._held: Assistant | None = None
        """Text that waits for a call of the same message: a CLI writes each block in a line of its own."""

    def read(self, line: bytes) -> Exchange:
        """Handle a line of the host. Errors in it are answered with a system error."""
        message = decode(line)
        match message:
            case Unknown(raw={"type": "control"}):
                return self._control(text_at(message.raw, "action"))
            case Malformed(reason=reason):
                return Exchange([message], [_error(f"not a message: {reason}")])
            case Unknown():
                return Exchange([message], [_error(f"unknown type: {message.type or 'none'}")])
            case ControlRequest(own_id=own_id, request=UnknownRequest(raw)):
                name = text_at(raw, "subtype") or "no subtype"
                told = failure(own_id, f"the miriad-code protocol has no control request {name}")
                return Exchange(lines=[encode(told)])
            case User():
                self._session_id = message.session_id or None
                self._is_open = True
                return Exchange([message])
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
        """Write a message to the host. This dialect has no form for reasoning, partial messages and echoes."""
        match message:
            case Assistant():
                self._count(message)
                return Exchange(lines=self._assistant(message))
            case User():
                session_id = self._session_id or message.session_id
                results = [block for block in message.blocks if isinstance(block, ToolResultBlock)]
                told = [
                    encode(SystemToolResult(tool_result=block, session_id=session_id)) for block in results
                ]
                return Exchange(lines=[*self._released(), *told])
            case Result():
                self._is_open = False
                return Exchange(lines=[*self._released(), *self._result(message)])
            case Queued() | Injected() | Status() if line is None:
                if isinstance(message, Status) and _tells_status(message):
                    self._statuses.clear()  # told by the agent itself: its answers would tell it again
                named = msgspec.structs.replace(message, session_id=self._session_id or message.session_id)
                return Exchange(lines=[encode(named)])
            case ControlResponse():
                return self._answer(message)
            case System():
                return Exchange(lines=[*self._released(), line_of(self._named(message, line))])
            case ControlRequest() | ControlCancelRequest():
                asked = encode(message) if line is None else line + b"\n"
                return Exchange(lines=[*self._released(), asked])
            case _:
                return Exchange()

    def pause(self) -> list[bytes]:
        """Return the lines that wait for more of the same message, after a silence."""
        return self._released()

    def refuse(self, prompt: Message, reason: str) -> Exchange:  # noqa: ARG002 - the dialect has no word for which one
        """Say that a prompt is not taken."""
        return Exchange(lines=[_error(reason)])

    def _count(self, message: Assistant) -> None:
        """Count a cycle of tool use: the calls of one message of the model, which a CLI writes in one line each."""
        if message.parent_tool_use_id is not None:
            return
        if any(isinstance(block, ToolUseBlock) for block in message.blocks):
            cycle = message.message.id
            self._cycles += cycle is None or cycle != self._cycle
            self._cycle = cycle

    def _assistant(self, message: Assistant) -> list[bytes]:
        """Return the lines of an answer: text and the call behind it in one, and an error of the API in its own words."""
        if message.error is not None or message.is_api_error_message:
            self._has_failed = message.parent_tool_use_id is None
            texts = [block.text for block in message.blocks if isinstance(block, TextBlock)]
            return [*self._released(), _error("\n".join(texts) or message.error or "error")]
        told = _plain_assistant(message)
        if told is None:
            return []
        held = self._held
        lines: list[bytes] = []
        if held is not None and _is_one(held, told):
            body = msgspec.structs.replace(told.message, content=[*held.blocks, *told.blocks])
            told = msgspec.structs.replace(told, message=body)
        else:
            lines = self._released()
        self._held = told
        has_call = any(isinstance(block, ToolUseBlock) for block in told.blocks)
        # a call runs now, and outside of a turn nothing follows for which to wait
        return [*lines, *self._released()] if has_call or not self._is_open or not told.message.id else lines

    def _released(self) -> list[bytes]:
        """Return the waiting text as a line."""
        held, self._held = self._held, None
        if held is None:
            return []
        body = msgspec.structs.replace(held.message, id=None)
        return [encode(msgspec.structs.replace(held, message=body))]

    def _named(self, message: System, line: bytes | None) -> JsonObject:
        """Return a system message under the session id that the caller has given; a session's own stays in `init`."""
        value = as_value(message, line)
        if isinstance(message, Init):
            self._is_open = True
        if self._session_id is None or line is None:
            return value
        own = {"cli_session_id": message.session_id} if isinstance(message, Init) else {}
        return {**value, "session_id": self._session_id, **own}

    def _result(self, message: Result) -> list[bytes]:
        failed = bool(message.is_error) or message.subtype != "success"
        if message.subtype == "cancelled" or (self._interrupted and failed):
            subtype = "cancelled"
        else:
            subtype = "error" if failed else "success"
        text = message.text
        if text is None and subtype == "error":
            text = "\n".join(message.human_errors) or None
        fields: JsonObject = {
            "type": "result",
            "subtype": subtype,
            "duration_ms": message.duration_ms or 0,
            "is_error": subtype == "error",
            "num_turns": self._cycles,
            "session_id": self._session_id or message.session_id,
            "result": text,
            "usage": message.usage
            and {"input_tokens": message.usage.input_tokens, "output_tokens": message.usage.output_tokens},
        }
        # so a CLI ends a turn whose call of the API has failed
        untold = subtype == "error" and message.subtype == "success" and not self._has_failed
        self._interrupted, self._has_failed, self._cycles, self._cycle = False, False, 0, None
        said = line_of({name: value for name, value in fields.items() if value is not None})
        return [_error(text or "error"), said] if untold else [said]

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
            payload = message.payload if isinstance(message.payload, dict) else {}
            told: JsonObject = {"type": "system", "subtype": "status", **payload}
            if self._session_id is not None:
                told["session_id"] = self._session_id
            return Exchange(lines=[line_of(told)])
        return Exchange()


def _tells_status(message: Status) -> bool:
    """Return whether this status was requested. CLIs also report compaction and permission modes as status."""
    return message.running is not None or message.queued_messages is not None


def _status_of(message: Status) -> JsonObject:
    fields = {
        "running": message.running,
        "session_id": message.session_id,
        "queued_messages": message.queued_messages,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _plain_assistant(message: Assistant) -> Assistant | None:
    """Return the part that the dialect can express, with the id of its message; None if there is none."""
    blocks: list[AnyBlock] = [
        block for block in message.blocks if not isinstance(block, ThinkingBlock | RedactedThinkingBlock)
    ]
    if not blocks:
        return None
    body = AssistantBody(content=blocks, model=message.message.model, id=message.message.id)
    return Assistant(message=body, parent_tool_use_id=message.parent_tool_use_id)


def _is_one(held: Assistant, told: Assistant) -> bool:
    """Tell whether two lines are parts of one message."""
    return held.message.id == told.message.id and held.parent_tool_use_id == told.parent_tool_use_id


def _error(text: str) -> bytes:
    return line_of(to_json(SystemFailure(message=text)))


_LEFT_OUT = "left out"

MIRIAD = Dialect(
    "miriad",
    MiriadHost,
    MiriadAgent,
    untold={
        "thinking": "left out of assistant lines",
        "redacted_thinking": "left out of assistant lines",
        "assistant": "content, model and parent_tool_use_id alone",
        "user": "tool results alone, as system lines; their structured form is left out",
        "result": "cost, models, denials and structured output are left out",
        "stream_event": "left out: texts come whole",
        "rate_limit_event": _LEFT_OUT,
        "rate_limit": _LEFT_OUT,
        "tool_use_summary": _LEFT_OUT,
        "tool_progress": _LEFT_OUT,
        "auth_status": _LEFT_OUT,
        "prompt_suggestion": _LEFT_OUT,
        "command_lifecycle": _LEFT_OUT,
        "conversation_reset": _LEFT_OUT,
        "keep_alive": _LEFT_OUT,
        "active_goal": _LEFT_OUT,
        "transcript_mirror": _LEFT_OUT,
    },
    untaken={
        "initialize": "answered here; hooks, MCP servers, prompts and agents in it are refused",
        "control_request": "interrupt and status alone; others are refused",
        "control_response": "the agent asks nothing",
    },
)

"""Our end towards an agent that speaks JSON-RPC: prompts out as `run`, notifications and results in."""

from collections import deque
from itertools import count

from msgspec import Struct, structs

from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    failure,
    success,
)
from turnwire.protocol.claude.decode import message_of
from turnwire.protocol.claude.encode import EncodeError, encode_input, to_json
from turnwire.protocol.claude.messages import Message, Unknown, User
from turnwire.protocol.claude.results import Result
from turnwire.protocol.dialects.base import Exchange
from turnwire.protocol.json_rpc import envelope
from turnwire.protocol.json_rpc.envelope import Id
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.malformed import Malformed
from turnwire.protocol.miriad.system import Injected, SystemFailure
from turnwire.protocol.parsing.depth import TOO_DEEP, outermost


class _Run(Struct):
    """A `run` that has no response yet."""

    id: int
    settled: bool = False
    """True if its result is already known: by a notification, or because its prompt joined another turn."""


class JsonRpcHost:
    """Drives an agent that speaks JSON-RPC."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._runs: deque[_Run] = deque()
        self._requests: dict[int, str] = {}
        self._asked: dict[str, Id] = {}
        self._is_between = False
        self._told: JsonObject | None = None

    def write(self, message: Message, line: bytes | None = None) -> Exchange:  # noqa: ARG002 - a line of a CLI is never told to an agent
        """Write to the agent. initialize succeeds here, since the agent need not support it."""
        match message:
            case User():
                encode_input(message)
                self._is_between = self._is_between and any(not run.settled for run in self._runs)
                run = _Run(next(self._ids))
                self._runs.append(run)
                return Exchange(lines=[envelope.request(run.id, "run", to_json(message))])
            case ControlRequest(own_id=own_id, request=request) if request.subtype == "initialize":
                return Exchange([success(own_id, {})])
            case ControlRequest(own_id=own_id, request=request):
                fields = to_json(request)
                params = dict(fields) if isinstance(fields, dict) else {}
                method = text_at(params, "subtype")
                if not method:
                    return Exchange([failure(own_id, "a control request needs a subtype")])
                del params["subtype"]
                number = next(self._ids)
                self._requests[number] = message.request_id
                return Exchange(lines=[envelope.request(number, method, params)])
            case ControlResponse():
                return self._answer(message)
            case _:
                raise EncodeError(
                    f"an agent takes prompts and control messages, not {type(message).__name__}"
                )

    def _answer(self, message: ControlResponse) -> Exchange:
        if message.request_id not in self._asked:
            return Exchange()
        asked = self._asked.pop(message.request_id)
        if message.error is not None:
            return Exchange(lines=[envelope.error(asked, envelope.FAILED, message.error)])
        return Exchange(lines=[envelope.response(asked, message.payload)])

    def read(self, line: bytes) -> Exchange:
        """Handle a line of the agent."""
        messages: list[Message] = []
        for item in envelope.open_line(line):
            if isinstance(item, Malformed):
                messages.append(self._unread(item, line))
            else:
                messages += self._read(item) if isinstance(item, dict) else [item]
        return Exchange(messages)

    def _unread(self, message: Malformed, line: bytes) -> Malformed:
        """Name the request that a line is which cannot be read, so that it is answered."""
        said = outermost(line, ("method", "id")) if message.reason == TOO_DEEP else {}
        if "method" not in said or "id" not in said:
            return message
        name = f"rpc-{next(self._ids)}"
        self._asked[name] = said["id"]
        return structs.replace(message, asks=name)

    def _read(self, item: JsonObject) -> list[Message]:
        method = text_at(item, "method")
        if method and "id" in item and envelope.is_id(item["id"]):
            return [self._request(item["id"], method, item.get("params"))]
        if method:
            return [self._notification(method, item)]
        return self._response(item)

    def _request(self, request_id: Id, method: str, params: Json) -> Message:
        name = f"rpc-{next(self._ids)}"
        self._asked[name] = request_id
        fields = params if isinstance(params, dict) else {}
        asked = {"type": "control_request", "request_id": name, "request": {**fields, "subtype": method}}
        return message_of(asked)

    def _notification(self, method: str, item: JsonObject) -> Message:
        message = envelope.carried_message(method, item.get("params"))
        match message:
            case None:
                return Unknown(item)
            case Result():
                self._settle(1)
                self._is_between = True
            case Injected(message_count=int(joined)):
                # between turns one of the prompts begins the turn that the others join
                self._settle(joined - self._is_between, after=1)
                self._is_between = False
            case ControlCancelRequest(own_id=own_id):
                names = [name for name, asked in self._asked.items() if str(asked) == str(own_id)]
                return ControlCancelRequest(names[0]) if names else message
            case _:
                pass
        return message

    def _settle(self, number: int, after: int = 0) -> None:
        waiting = [run for run in self._runs if not run.settled]
        for run in waiting[after : after + number]:
            run.settled = True

    def _response(self, item: JsonObject) -> list[Message]:
        number = item.get("id")
        problem = item.get("error")
        run = next((run for run in self._runs if run.id == number), None)
        if run is not None:
            self._runs.remove(run)
            self._is_between = self._is_between or not run.settled
            return (
                [] if run.settled else [_failed(problem) if "error" in item else _ended(item.get("result"))]
            )
        if isinstance(number, int) and number in self._requests:
            request_id = self._requests.pop(number)
            result = item.get("result")
            if "error" in item:
                return [failure(request_id, text_at(problem, "message") or "error")]
            return [success(request_id, result if isinstance(result, dict) else None)]
        return self._overheard(item)

    def _overheard(self, item: JsonObject) -> list[Message]:
        """Handle a response to another host's request, in a conversation that we only read."""
        problem = item.get("error")
        told = problem.get("data") if isinstance(problem, dict) else item.get("result")
        if isinstance(told, dict) and told.get("type") == "result":
            # each of the prompts that one turn heard is answered with its result
            last, self._told = self._told, told
            return [] if told == last else [message_of(told)]
        if "error" in item:
            return [SystemFailure(message=text_at(problem, "message") or "error")]
        return [Unknown(item)]


def _ended(result: Json) -> Message:
    if isinstance(result, dict):
        return message_of({"subtype": "success", "is_error": False, **result, "type": "result"})
    return Result(subtype="success", is_error=False, result=result if isinstance(result, str) else None)


def _failed(problem: Json) -> Message:
    carried = problem.get("data") if isinstance(problem, dict) else None
    if isinstance(carried, dict) and carried.get("type") == "result":
        return message_of(carried)
    if isinstance(problem, dict) and problem.get("code") == envelope.CANCELLED:
        return Result(subtype="cancelled", is_error=False)
    return Result(subtype="error", is_error=True, errors=[text_at(problem, "message") or "error"])

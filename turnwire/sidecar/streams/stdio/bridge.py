"""Decide what `turnwire stdio` does with each line of either side. Pure.

Lines of a caller in Claude's dialect are relayed byte for byte. For other callers the bridge is the agent of the
miriad-code protocol. It runs one turn at a time. Prompts that arrive meanwhile are queued with their position. They are
injected when the next tool ends, before the next model call, joined by a blank line. The CLI calls a hook there and waits
for its answer, so a prompt before the answer joins this turn. If no tool runs, they start the next turn.
"""

from collections import deque

from msgspec import Struct

from turnwire.normalize.inputs import Ended, Received, Sent, SessionInput
from turnwire.protocol.claude.answers import Deny, HookOutput, answer_hook, answer_permission
from turnwire.protocol.claude.blocks import AnyBlock, DocumentBlock, ImageBlock, TextBlock, ToolResultBlock
from turnwire.protocol.claude.control import (
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
    failure,
    success,
)
from turnwire.protocol.claude.decode import malformed
from turnwire.protocol.claude.encode import EncodeError, checked_input, encode, encode_input, to_json
from turnwire.protocol.claude.messages import Message, StreamEvent, Unknown, User, UserBody
from turnwire.protocol.claude.requests import (
    AnyRequest,
    CanUseTool,
    Elicitation,
    GetStatus,
    HookCallback,
    Interrupt,
    RequestUserDialog,
    UnknownRequest,
)
from turnwire.protocol.claude.results import Result
from turnwire.protocol.claude.system import Init, System
from turnwire.protocol.dialects import CLAUDE, MIRIAD, Dialect
from turnwire.protocol.dialects.base import Exchange
from turnwire.protocol.framing import DEFAULT_LIMIT as LIMIT
from turnwire.protocol.framing import OversizeLine
from turnwire.protocol.json_values import Json, JsonObject, text_at
from turnwire.protocol.malformed import BLANK, Malformed
from turnwire.protocol.miriad.system import Injected, Queued, SystemFailure
from turnwire.protocol.parsing import generic
from turnwire.protocol.parsing.depth import TOO_DEEP, outermost
from turnwire.protocol.text import scrub_json

BLANK_LINE = "\n\n"
OUR_HOOK = "turnwire_tool_ended"
OUR_GREETING = "turnwire_initialize"

QUEUE_LIMIT = 64 * 1024 * 1024
"""Maximum bytes of waiting prompts; more are refused. If turnwire stopped reading, it could not receive an interrupt."""

CALLER_GONE = "the caller has closed its stream before it answered"
"""Reason of a denial when the caller can no longer answer."""

TOOL_ENDS = ("PostToolUse", "PostToolUseFailure")
OUR_MATCHER: JsonObject = {"matcher": None, "hookCallbackIds": [OUR_HOOK]}

PROMPT_BLOCKS = TextBlock | ImageBlock | DocumentBlock | ToolResultBlock
"""The blocks that a prompt may contain. The API answers anything else with an error, or with nothing at a cost."""

HINTS = frozenset({
    "agentProgressSummaries", "excludeDynamicSections", "forwardSubagentText", "promptSuggestions",
    "supportedDialogKinds", "title",
})  # fmt: skip
"""Fields of `initialize` that an agent may ignore, because they do not change its work."""


class BridgeOutput(Struct):
    """Lines to write on each side, in order."""

    to_caller: list[bytes] = []
    """Lines, each with its end, or pieces of one."""
    to_cli: list[bytes] = []
    """Lines, each with its end, or pieces of one."""
    notices: list[str] = []
    """Sentences for people about dropped lines."""
    seen: list[SessionInput] = []
    """Session inputs between turnwire and the CLI."""
    close: bool = False
    """Close the CLI's stdin, after the lines."""


class StdioBridge:
    """Joins one caller and one CLI."""

    def __init__(self, caller: Dialect, agent: Dialect) -> None:
        self._dialects = (caller, agent)
        self._caller = caller.agent()
        self._agent = agent.host()
        self._miriad = MIRIAD.agent()
        self._relays = caller is CLAUDE and agent is CLAUDE
        # other agents have their own queue and report on it
        self._queues = caller is not CLAUDE and agent is CLAUDE
        # Lines of other agents are not written as the caller's dialect would write them.
        self._is_claude = agent is CLAUDE
        self._is_spec_1 = caller is MIRIAD
        self._queue: deque[User] = deque()
        self._queued_bytes = 0
        self._is_running = False
        self._is_closed = False
        self.session_id: str | None = None
        """The CLI's id of the conversation, once it has named it."""
        self._is_introduced = False
        self._greeting: JsonObject | None = None
        self._greeters: list[Json] = []
        self._hooks: set[str] = set()
        # output that waits for the end of a line that passes in pieces
        self._splits_to_caller = False
        self._later_to_caller: list[bytes] = []
        self._splits_to_cli = False
        self._later_to_cli: list[bytes] = []
        # prepared denials of questions that the caller has not answered, by request
        self._open: dict[str, ControlResponse] = {}

    def on_pause(self) -> BridgeOutput:
        """Write text to the caller that waited for more, because the CLI has been silent for a while."""
        return self._behind_pieces(BridgeOutput(to_caller=self._caller.pause()))

    def on_caller_line(self, line: bytes, end: bytes = b"\n") -> BridgeOutput:
        """Handle a line of the caller, without its end."""
        moves = BridgeOutput()
        heard = self._caller.read(line)
        moves.to_caller += heard.lines
        for message in heard.messages:
            if self._relays:
                self._relay(message, line, moves, end)
            else:
                self._serve(message, line, moves)
        return self._behind_pieces(moves)

    def on_caller_piece(self, data: bytes) -> BridgeOutput:
        """Handle a piece of a line of the caller that is too long to read."""
        if not self._relays:
            return BridgeOutput()
        self._splits_to_cli = True
        return BridgeOutput(to_cli=[data])

    def on_caller_overlong(self, line: OversizeLine) -> BridgeOutput:
        """Handle the end of such a line. A relayed CLI has already received it; for other dialects it is refused."""
        if not self._relays:
            return BridgeOutput(self._refused(malformed(line)).lines)
        if outermost(line.head, ("type",)).get("type") == "user":
            self._is_running = True
        later, self._later_to_cli, self._splits_to_cli = self._later_to_cli, [], False
        return BridgeOutput(to_cli=later, notices=[_unread(line, "the caller")])

    def on_cli_line(self, line: bytes, end: bytes = b"\n") -> BridgeOutput:
        """Handle a line of the CLI, without its end."""
        if not line:
            return BridgeOutput([end] if self._relays else [])
        moves = BridgeOutput()
        heard = self._agent.read(line)
        moves.to_cli += heard.lines
        if self._relays and not heard.messages:
            moves.to_caller.append(line + end)
        for message in heard.messages:
            self._hear(message, line, moves, end)
        return self._behind_pieces(moves)

    def on_cli_piece(self, data: bytes) -> BridgeOutput:
        """Handle a piece of a line of the CLI that is too long to read."""
        if not self._relays:
            return BridgeOutput()
        self._splits_to_caller = True
        return BridgeOutput([data])

    def on_cli_overlong(self, line: OversizeLine) -> BridgeOutput:
        """Handle the end of such a line. A relayed caller has already received it; others get an error."""
        message = malformed(line)
        moves = BridgeOutput(seen=[Received(line.head, message)])
        if self._relays:
            later, self._later_to_caller, self._splits_to_caller = self._later_to_caller, [], False
            moves.to_caller += later
            moves.notices.append(_unread(line, "the agent"))
        elif message.asks is not None:
            self._tell(failure(message.asks, message.reason), moves)
        else:
            text = f"{message.reason} of {LIMIT}: what the agent says there is lost"
            self._say(SystemFailure(message=text, session_id=self.session_id), moves)
            # newer CLIs write a result's type after its text
            if self._is_running and outermost(line.head, ("type",)).get("type") in (None, "result"):
                self._say(_failed(text, self.session_id), moves)
                self._turn_ended(moves)
        return moves

    def on_close(self) -> BridgeOutput:
        """Handle the end of the caller's stream. Its requests are still fulfilled. Requests to it are denied."""
        self._is_closed = True
        moves = BridgeOutput(close=self._relays or not self._is_running)
        for denial in self._open.values():
            self._tell(denial, moves)
        self._open.clear()
        return moves

    def on_exit(self, ended: Ended) -> BridgeOutput:
        """Handle the exit of the CLI. A running turn has failed; the caller learns it if its dialect can express it."""
        moves = BridgeOutput(seen=[ended])
        if self._is_running and not self._relays:
            how = f"was ended by {ended.signal}" if ended.signal else f"exited with code {ended.exit_code}"
            text = f"the agent {how} in the middle of a turn"
            self._say(SystemFailure(message=text), moves)
            self._say(_failed(text, self.session_id), moves)
            for prompt in self._queue:
                moves.to_caller += self._caller.refuse(prompt, text).lines
            self._queue.clear()
            self._is_running = False
        return moves

    def _behind_pieces(self, moves: BridgeOutput) -> BridgeOutput:
        """Hold back output that would land in the middle of a line that passes in pieces on the same side."""
        if self._splits_to_caller:
            self._later_to_caller += moves.to_caller
            moves.to_caller = []
        if self._splits_to_cli:
            self._later_to_cli += moves.to_cli
            moves.to_cli = []
        return moves

    def _relay(self, message: Message, line: bytes, moves: BridgeOutput, end: bytes) -> None:
        match message:
            case Malformed(reason=reason) if reason == TOO_DEEP:
                moves.to_caller += self._refused(message).lines
                return
            case Malformed(reason=reason):
                # Invalid lines kill CLIs. Keep this one alive, although a direct caller would have killed it.
                if reason != BLANK:
                    cut = "" if end else ", where stdin ended"
                    dropped = f"a line of the caller is no message and was dropped: {len(line)} bytes{cut}"
                    moves.notices.append(f"{dropped}; {reason}")
                return
            case Unknown(raw={"type": "control"}):
                self._control(line, moves)
                return
            case User():
                self._is_running = True
            case _:
                pass
        moves.to_cli.append(line + end)
        moves.seen.append(Sent(line, message))

    def _refused(self, message: Malformed) -> Exchange:
        """Answer a refused line, because the caller may wait for a result."""
        if message.asks is not None:
            return self._caller.write(failure(message.asks, message.reason))
        return self._caller.refuse(message, f"a line of yours is not taken: {message.reason}")

    def _control(self, line: bytes, moves: BridgeOutput) -> None:
        """Handle a miriad-code request that looked like one of Claude's."""
        heard = self._miriad.read(line)
        moves.to_caller += heard.lines
        for message in heard.messages:
            match message:
                case ControlRequest(request_id, GetStatus()):
                    moves.to_caller += self._miriad.write(success(request_id, self._status())).lines
                case _:
                    self._tell(message, moves)

    def _serve(self, message: Message, line: bytes, moves: BridgeOutput) -> None:
        match message:
            case User():
                self._prompt(message, moves)
            case ControlRequest(own_id=own_id, request=GetStatus()) if self._queues:
                self._say(success(own_id, self._status()), moves)
            case ControlRequest(own_id=own_id, request=Interrupt()) if self._queues and not self._is_running:
                # miriad-code cannot express it, and must not take the next failure for a cancelled turn
                idle = failure(own_id, "no turn runs") if self._is_spec_1 else success(own_id, {})
                self._say(idle, moves)
            case ControlRequest(own_id=own_id, request=request) if request.subtype == "initialize":
                self._initialize(own_id, whole_request(request, line), moves)
            case ControlRequest() | ControlResponse():
                if isinstance(message, ControlResponse):
                    self._open.pop(message.request_id, None)
                self._tell(message, moves)
            case Unknown() | Malformed():
                pass  # the dialect has reported it, if it can
            case _:
                self._pass_on(line, message, moves)

    def _initialize(self, own_id: Json, body: JsonObject, moves: BridgeOutput) -> None:
        """Send the caller's `initialize` to the CLI, with turnwire's hook added. Refuse by name what cannot be passed on."""
        given = [name for name, value in body.items() if value and name != "subtype"]
        problem: str | None = None
        if not self._is_claude:
            if lost := [name for name in given if name not in HINTS]:
                problem = f"an agent of the dialect {self._dialects[1].name} takes no {_listed(lost)}"
        elif self._is_introduced:
            if given:
                problem = f"{_listed(given)} came too late: send initialize once, and before the first prompt"
        else:
            problem = _unfit_hooks(body.get("hooks"))
        if problem is not None:
            self._say(failure(own_id, f"initialize: {problem}"), moves)
        elif not self._is_claude:
            self._say(success(own_id, self._told_of({})), moves)
        elif self._greeting is not None:
            self._say(success(own_id, self._told_of(self._greeting)), moves)
        else:
            self._greeters.append(own_id)
            self._introduce(body, moves)

    def _introduce(self, body: JsonObject, moves: BridgeOutput) -> None:
        """Send `initialize` to the CLI once. The CLI reads only the first one."""
        if self._is_introduced:
            return
        self._is_introduced = True
        given = body.get("hooks")
        hooks: JsonObject = dict(given) if isinstance(given, dict) else {}
        for event in TOOL_ENDS:
            own = hooks.get(event)
            hooks[event] = [*(own if isinstance(own, list) else []), OUR_MATCHER]
        whole: JsonObject = {**body, "subtype": "initialize", "hooks": hooks}
        self._tell(ControlRequest(OUR_GREETING, UnknownRequest(whole)), moves)

    def _told_of(self, greeting: JsonObject) -> JsonObject:
        """Return an answer to `initialize`, completed with what the protocols in between do not carry."""
        caller, agent = self._dialects
        lost: JsonObject = {**caller.untold, **agent.untaken}
        return {**greeting, "turnwire": {"not_carried": lost}}

    def _prompt(self, prompt: User, moves: BridgeOutput) -> None:
        try:
            size = len(encode_input(prompt))
        except EncodeError as error:
            moves.to_caller += self._caller.refuse(prompt, str(error)).lines
            return
        if self._queues and (problem := _unfit(prompt)) is not None:
            moves.to_caller += self._caller.refuse(prompt, problem).lines
            return
        if self._queues:
            self._introduce({}, moves)
        if not (self._queues and self._is_running):
            self._is_running = True
            self._tell(prompt, moves)
        elif self._queued_bytes + size > QUEUE_LIMIT:
            full = f"{self._queued_bytes} bytes of prompts wait, and this one has {size}: more than {QUEUE_LIMIT}"
            moves.to_caller += self._caller.refuse(prompt, f"{full}; wait for the turn to end").lines
        else:
            self._queue.append(prompt)
            self._queued_bytes += size
            self._say(Queued(position=len(self._queue), session_id=self.session_id), moves)

    def _hear(self, message: Message, line: bytes, moves: BridgeOutput, end: bytes = b"\n") -> None:
        moves.seen.append(Received(line, message))
        match message:
            case ControlRequest(request_id, HookCallback(callback_id=callback)) if self._is_ours(callback):
                self._hooks.add(request_id)
                self._inject(moves)
                self._tell(answer_hook(message.own_id, HookOutput()), moves)
                return
            case ControlCancelRequest(request_id) if request_id in self._hooks:
                return
            case ControlResponse() if self._queues and message.request_id == OUR_GREETING:
                self._greet(message, moves)
                return
            case Malformed(reason=reason, asks=str() | int() as own_id):
                self._tell(failure(own_id, reason), moves)
                return
            case ControlRequest(own_id=own_id, request=UnknownRequest() as request) if self._is_spec_1:
                words = f"the caller's wire has no {request.subtype or 'such request'}"
                self._tell(failure(own_id, words), moves)
                return
            case ControlRequest(request_id, request) if not self._relays:
                # a relayed CLI denies by itself when its caller is gone
                if self._is_closed:
                    self._tell(denied(message.own_id, request), moves)
                    return
                self._open[request_id] = denied(message.own_id, request)
            case ControlCancelRequest(request_id):
                self._open.pop(request_id, None)
            case System() | Result():
                self.session_id = message.session_id or self.session_id
            case _:
                pass
        if isinstance(message, Init | StreamEvent):
            self._is_running = True  # a turn that the CLI began by itself
        self._say(message, moves, line if self._is_claude else None, end)
        if isinstance(message, Result):
            self._turn_ended(moves)

    def _is_ours(self, callback: str) -> bool:
        return self._queues and callback == OUR_HOOK

    def _turn_ended(self, moves: BridgeOutput) -> None:
        self._is_running = False
        if self._queue:
            self._is_running = True
            self._inject(moves)
        elif self._is_closed:
            moves.close = True

    def _inject(self, moves: BridgeOutput) -> None:
        """Send all waiting prompts as one message."""
        if not self._queue:
            return
        waiting = list(self._queue)
        self._queue.clear()
        self._queued_bytes = 0
        message = waiting[0] if len(waiting) == 1 else joined(waiting)
        self._tell(message, moves)
        injected = Injected(
            message_count=len(waiting), content_length=_length(message), session_id=self.session_id
        )
        self._say(injected, moves)

    def _greet(self, response: ControlResponse, moves: BridgeOutput) -> None:
        waiting, self._greeters = self._greeters, []
        if response.error is not None:
            self._is_introduced = False  # nothing of it holds: the next introduction is read
        else:
            self._greeting = response.payload if isinstance(response.payload, dict) else {}
        for request_id in waiting:
            if response.error is not None:
                self._say(failure(request_id, response.error), moves)
            else:
                self._say(success(request_id, self._told_of(self._greeting or {})), moves)

    def _status(self) -> JsonObject:
        status: JsonObject = {"running": self._is_running, "queued_messages": len(self._queue)}
        return status if self.session_id is None else {**status, "session_id": self.session_id}

    def _tell(self, message: Message, moves: BridgeOutput) -> None:
        """Write a message to the CLI. If it is not allowed, tell the caller."""
        try:
            said = self._agent.write(message)
        except EncodeError as error:
            self._say(SystemFailure(message=str(error)), moves)
            return
        moves.to_cli += said.lines
        moves.seen.append(Sent(encode(message)[:-1], message))
        for answer in said.messages:
            self._hear(answer, encode(answer)[:-1], moves)

    def _pass_on(self, line: bytes, message: Message, moves: BridgeOutput) -> None:
        try:
            moves.to_cli.append(checked_input(line))
        except EncodeError as error:
            self._say(SystemFailure(message=str(error)), moves)
            return
        moves.seen.append(Sent(line, message))

    def _say(
        self, message: Message, moves: BridgeOutput, line: bytes | None = None, end: bytes = b"\n"
    ) -> None:
        if self._relays and line is not None:
            moves.to_caller.append(line + end)
        else:
            moves.to_caller += self._caller.write(message, line).lines


def _unfit(prompt: User) -> str | None:
    """Return why a prompt would start an empty turn; None if it is fine."""
    if unknown := [block for block in prompt.blocks if not isinstance(block, PROMPT_BLOCKS)]:
        said = to_json(unknown[0])
        kind = (text_at(said, "type") or "no type") if isinstance(said, dict) else f"{said!r:.40}"
        return f"message.content takes blocks of text, image, document and tool_result, not {kind}"
    if not any(not isinstance(block, TextBlock) or block.text for block in prompt.blocks):
        return "a prompt needs message.content: text that is not empty, or a list of blocks"
    return None


def _failed(text: str, session_id: str | None) -> Result:
    return Result(subtype="error", is_error=True, errors=[text], top_session_id=session_id)


def _unread(line: OversizeLine, whose: str) -> str:
    return f"line {line.number} of {whose} was passed on unread: {line.size} bytes are more than {LIMIT}"


def whole_request(request: AnyRequest, line: bytes) -> JsonObject:
    """Return the body of a request as written, including fields without a model."""
    if isinstance(request, UnknownRequest) and isinstance(request.raw, dict):
        return request.raw
    said = scrub_json(generic.load(line))
    body = said.get("request") if isinstance(said, dict) else None
    return body if isinstance(body, dict) else {}


def _unfit_hooks(hooks: Json) -> str | None:
    """Return why turnwire's hook cannot be added to these hooks; None if it can."""
    if hooks is None:
        return None
    if not isinstance(hooks, dict) or not all(isinstance(matchers, list) for matchers in hooks.values()):
        return "hooks must be an object that maps events to lists of matchers"
    ids = [
        matcher.get("hookCallbackIds")
        for matchers in hooks.values()
        if isinstance(matchers, list)
        for matcher in matchers
        if isinstance(matcher, dict)
    ]
    if any(isinstance(named, list) and OUR_HOOK in named for named in ids):
        return f"the hook id {OUR_HOOK} is turnwire's own: name yours otherwise"
    return None


def _listed(names: list[str]) -> str:
    return ", ".join(names)


def denied(request_id: Json, request: AnyRequest) -> ControlResponse:
    """Return the answer to a CLI's request when the caller is gone: a denial wherever possible."""
    match request:
        case CanUseTool():
            return answer_permission(request_id, Deny(CALLER_GONE))
        case HookCallback(input={"hook_event_name": "PreToolUse"}):
            # a failing hook forbids nothing
            decision: JsonObject = {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": CALLER_GONE,
            }
            return answer_hook(request_id, HookOutput(hook_specific_output=decision))
        case Elicitation():
            return success(request_id, {"action": "cancel"})
        case RequestUserDialog():
            return success(request_id, {"behavior": "cancelled"})
        case _:
            return failure(request_id, CALLER_GONE)


def joined(prompts: list[User]) -> User:
    """Join prompts: texts with a blank line, or block after block if one has more than text."""
    texts = [_text(prompt) for prompt in prompts]
    whole = [text for text in texts if text is not None]
    content: str | list[AnyBlock] = (
        BLANK_LINE.join(whole)
        if len(whole) == len(prompts)
        else [block for prompt in prompts for block in prompt.blocks]
    )
    return User(message=UserBody(content=content), session_id=prompts[0].session_id)


def _text(prompt: User) -> str | None:
    """Return a prompt's text, if it is only text; otherwise None."""
    texts = [block.text for block in prompt.blocks if isinstance(block, TextBlock)]
    return "\n".join(texts) if len(texts) == len(prompt.blocks) else None


def _length(prompt: User) -> int:
    return sum(len(block.text) for block in prompt.blocks if isinstance(block, TextBlock))

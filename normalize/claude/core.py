"""The core of Claude's family: messages in, events out. Deterministic, without I/O, clock or randomness.

`receive` dispatches by the message's type. `State` remembers what later messages need. The inputs are a closed set: lines
received,
lines sent, decisions, and the end (normalize/inputs.py). The same inputs give the same events. Stdout alone, without
the other inputs, also gives a complete stream.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, assert_never

from turnwire.normalize.claude import conversation, session_changes, user_lines
from turnwire.normalize.claude.conversation import streamed
from turnwire.normalize.claude.notices import TABLE
from turnwire.normalize.claude.requests import exchange
from turnwire.normalize.claude.state import ClaudeState
from turnwire.normalize.claude.turns import ending, lifecycle
from turnwire.normalize.core import Stats, malformed_line
from turnwire.normalize.events import AgentEvent, ProcessStatus, Unknown
from turnwire.normalize.inputs import Announced, Decision, Ended, Message, Received, Sent, SessionInput
from turnwire.protocol import malformed
from turnwire.protocol.claude import control, incidents, messages, notices, results, system, tasks
from turnwire.protocol.claude.encode import to_json
from turnwire.protocol.claude.messages import StreamEvent
from turnwire.protocol.claude.system import System
from turnwire.protocol.miriad import system as miriad

Handler = Callable[[ClaudeState, Any], list[AgentEvent]]
"""`Any`: the key of a table entry is the type that its function takes. A dict's type cannot express that."""

HANDLERS: dict[type, Handler] = {
    **{kind: session_changes.single(event) for kind, event in TABLE.items()},
    messages.Assistant: conversation.assistant,
    messages.User: user_lines.user,
    results.Result: ending.result,
    control.ControlRequest: exchange.asked,
    control.ControlResponse: exchange.response,
    control.ControlCancelRequest: exchange.cancelled,
    system.Init: lifecycle.init,
    system.Status: session_changes.status,
    system.CompactBoundary: session_changes.compacted,
    system.CommandsChanged: session_changes.commands_changed,
    system.LocalCommandOutput: session_changes.local_output,
    system.ModelFallback: session_changes.model_fallback,
    system.ThinkingTokens: session_changes.nothing,
    system.ControlRequestProgress: session_changes.nothing,
    incidents.ModelRefusalFallback: session_changes.refusal_fallback,
    tasks.TaskStarted: session_changes.task,
    tasks.TaskProgress: session_changes.task,
    tasks.TaskUpdated: session_changes.task,
    tasks.TaskNotification: session_changes.task,
    miriad.SystemToolResult: session_changes.tool_result,
    miriad.SystemFailure: session_changes.failure,
    miriad.Queued: session_changes.queued,
    miriad.Injected: session_changes.injected,
    notices.RateLimitEvent: session_changes.rate_limit,
    notices.CommandLifecycle: lifecycle.prompt_told,
    notices.ConversationReset: session_changes.conversation_reset,
    notices.ToolProgress: session_changes.tool_progress,
    notices.KeepAlive: session_changes.nothing,
    notices.ActiveGoal: session_changes.goal,
    notices.TranscriptMirror: session_changes.nothing,
}
"""Message type -> its handler. Stream events have a separate table. All other types become `unknown`."""

_CONTROL = frozenset(
    {
        control.ControlRequest,
        control.ControlResponse,
        control.ControlCancelRequest,
        system.ControlRequestProgress,
    }
)

DOUBLED_WITHIN = 64
"""Largest distance in lines between a line and its duplicate. The second writer may lag behind the first."""


class ClaudeCore:
    """Translates the inputs of one session into events."""

    def __init__(self, *, resumed: bool = False, first_turn: int = 1) -> None:
        """`resumed`: the session continues an earlier conversation. `first_turn`: number of the first turn."""
        self.stats = Stats()
        self._state = ClaudeState(resumed=resumed, first_turn=first_turn)
        self._recent: list[bytes | None] = [None] * DOUBLED_WITHIN
        """The most recent lines, as a ring. The next line replaces the one at `_oldest`."""
        self._oldest = 0
        self._uuids: dict[str, None] = {}
        """UUIDs of the most recent lines that are no stream events."""
        self._doubled = False
        """Lines are written twice, as two writers to one file do."""
        self._times = 0
        """How often the last line was written, one behind the other."""
        self._times_before = 0
        """How often the line before it was."""

    @property
    def turns(self) -> int:
        """Number of turns started, including those before `first_turn`."""
        return self._state.turns.count

    @property
    def busy(self) -> bool:
        """True while a turn is open."""
        return self._state.turns.current is not None

    @property
    def pending(self) -> tuple[str, ...]:
        """The requests that wait for a human."""
        return self._state.requests.for_humans

    def handle(self, happened: SessionInput) -> list[AgentEvent]:
        """Translate whatever has happened in the session."""
        match happened:
            case Received():
                return self.receive(happened.message, happened.line)
            case Sent():
                if isinstance(happened.message, messages.User):
                    # What answers a new prompt is new, also of an agent that gives its lines the same ids each time.
                    self._recent[:] = [None] * DOUBLED_WITHIN
                    self._uuids.clear()
                return exchange.on_sent(self._state, happened.message)
            case Decision():
                return self._state.requests.on_decision(happened)
            case Ended():
                return ending.by_process(self._state, happened)
            case Announced():
                return self._on_announced(happened.event)
            case _ as never:
                assert_never(never)

    def receive(self, message: Message, line: bytes | None = None) -> list[AgentEvent]:
        """Translate a message of the CLI. `line` is kept unchanged in `unknown` events."""
        # Most lines of a session are pieces of a stream, and they never name a new session: no detour for them.
        if type(message) is not StreamEvent:
            return self._whole(message, line)
        if self._doubled and self._is_again(line):
            self.stats.counted += 1
            return []
        self._note(line)
        events = streamed(self._state, message)
        if events:
            self.stats.published += 1
        else:
            self.stats.counted += 1
        return events

    def receive_all(self, heard: Iterable[tuple[bytes | None, Message]]) -> list[AgentEvent]:
        """Translate messages with their lines, in order. Returns the events of all of them."""
        # No calls of ours for a piece of a stream: most lines are such pieces.
        state, recent, oldest = self._state, self._recent, self._oldest
        events: list[AgentEvent] = []
        published = counted = 0
        for line, message in heard:
            if type(message) is not StreamEvent:
                self._oldest = oldest
                events += self._whole(message, line)
                oldest = self._oldest
                continue
            if self._doubled and self._is_again(line):
                counted += 1
                continue
            recent[oldest] = line
            oldest = (oldest + 1) % DOUBLED_WITHIN
            if pieces := streamed(state, message):
                events += pieces
                published += 1
            else:
                counted += 1
        self._oldest = oldest
        self.stats.published += published
        self.stats.counted += counted
        return events

    def _note(self, line: bytes | None) -> None:
        self._recent[self._oldest] = line
        self._oldest = (self._oldest + 1) % DOUBLED_WITHIN

    def _whole(self, message: Message, line: bytes | None) -> list[AgentEvent]:
        """Translate a message that is not a stream event."""
        state, stats, kind = self._state, self.stats, type(message)
        handler = HANDLERS.get(kind)
        uuid: str | None = getattr(message, "uuid", None)
        if uuid is None:
            is_again = self._is_again(line) or self._is_repeated(message, line)
        elif is_again := uuid in self._uuids:
            is_again = self._is_again(line)
        else:
            self._uuids[uuid] = None
            if len(self._uuids) > DOUBLED_WITHIN:
                del self._uuids[next(iter(self._uuids))]
        if is_again:
            self._doubled = True
            stats.counted += 1
            return []
        self._recent[self._oldest] = line  # as `_note` does
        self._oldest = (self._oldest + 1) % DOUBLED_WITHIN
        if handler is None or (handler is exchange.asked and exchange.is_unanswered(message)):
            return self.unhandled(message, line)
        session_id: str | None = getattr(message, "session_id", None)  # control messages name none
        if session_id is None or session_id == state.place.here["session_id"]:
            events = handler(state, message)
        else:
            events = [*self._enter(message, session_id), *handler(state, message)]
        if events:
            stats.published += 1
        elif kind in _CONTROL:
            stats.control += 1
        else:
            stats.counted += 1
        return events

    def _is_again(self, line: bytes | None) -> bool:
        """Return whether a line is the duplicate of one with the same id. Two messages with equal text are no duplicates."""
        if line is None or line not in self._recent:  # which is quick
            return False
        if (b'"uuid":"' not in line and b'"uuid": "' not in line) or line.startswith(b'{"jsonrpc"'):
            return False
        for before in self._recent:  # noqa: SIM110 - a generator would cost each line of a doubled log some sixty calls
            if before == line and before is not line:
                return True
        return False

    def _is_repeated(self, message: Message, line: bytes | None) -> bool:
        """Return whether a line without a UUID, as 1.0.60 writes them, is the duplicate of the line just before it.

        A message may have two blocks with the same text. They are duplicates only if the line before them was doubled, too.
        """
        before = self._recent[self._oldest - 1]
        if before != line or before is line:
            self._times_before, self._times = self._times, 1
            return False
        self._times += 1
        named = isinstance(message, results.Result) or (
            isinstance(message, messages.Assistant) and message.message.id is not None
        )
        return named and self._times % 2 == 0 and self._times_before % 2 == 0

    def _on_announced(self, event: AgentEvent) -> list[AgentEvent]:
        """Publish an event of the sidecar itself. A process that continues a conversation is not a new one."""
        if isinstance(event, ProcessStatus) and event.resumed:
            self._state.resumes()
        return [event]

    def _enter(self, message: Message, session_id: str) -> list[AgentEvent]:
        """Switch to another session."""
        state = self._state
        moved = state.session.changes(session_id)
        killed = ending.killed(state) if moved and isinstance(message, system.Init) else []
        state.place.enter_session(session_id)
        if moved:
            state.costs.moves()
        if isinstance(message, System) and not isinstance(message, system.Init):
            reset = state.context.reset(None) if moved else []
            return [*reset, *state.session.began(session_id, init=False)]
        return killed

    def unhandled(self, message: Message, line: bytes | None) -> list[AgentEvent]:
        """Publish a message without a handler as `unknown`."""
        here = self._state.place.here
        if isinstance(message, malformed.Malformed):
            return malformed_line(self.stats, here, message, line)
        self.stats.unknown += 1
        raw = json.dumps(to_json(message)) if line is None else line.decode("utf-8", "replace")
        return [Unknown(**here, message_type=_type_of(message), raw=raw)]


def _type_of(message: Message) -> str:
    if isinstance(message, System):
        return f"system/{message.subtype}"
    if isinstance(message, control.ControlRequest):
        return f"control_request/{message.request.subtype}"
    return message.type if isinstance(message, messages.Unknown) else ""

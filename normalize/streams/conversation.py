"""One conversation of an agent: observations in, events out."""

from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import asdict

from turnwire.normalize.common.endings import FAILED_TURNS, Origin, exit_sentence
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import (
    AgentEvent,
    AgentPlan,
    ApiRetry,
    Complete,
    CompleteData,
    ContextWindow,
    Error,
    Model,
    Notice,
    Outcome,
    PermissionRequest,
    QuestionRequest,
    Retraction,
    SessionInfo,
    SessionMode,
    SessionStatus,
    SessionStatusData,
    UserMessage,
)
from turnwire.normalize.events import TurnStarted as TurnStartedEvent
from turnwire.normalize.inputs import Decision, Ended
from turnwire.normalize.payloads.fields import fields, shallow
from turnwire.normalize.payloads.work import todo_lines
from turnwire.normalize.streams import observations as seen
from turnwire.normalize.streams.calls import StreamCalls
from turnwire.normalize.streams.observations import Observation
from turnwire.normalize.streams.requests import Requests
from turnwire.normalize.streams.texts import StreamTexts
from turnwire.normalize.streams.usage import Counter

_BROKEN_OFF = frozenset({"SIGINT", "SIGTERM"})
"""Signals with which someone stops an agent."""


class _Turn(Struct):
    """The open turn."""

    id: str
    origin: Origin
    prompts: list[str]
    failure: seen.Failure | None = None


class _Info(Struct, frozen=True):
    """Facts that the agent reported about itself."""

    model: str | None = None
    cwd: str | None = None
    version: str | None = None
    permission_mode: str | None = None
    agent_name: str | None = None
    tools: list[str] | None = None


class Conversation:
    """The state between two lines."""

    def __init__(self, *, resumed: bool, first_turn: int) -> None:
        self.place = EventContext()
        self.next_turn = first_turn
        self.turn: _Turn | None = None
        self.requests = Requests(self.place)
        self._message_ids = UniqueIds(first_turn)
        self._texts = StreamTexts(self.place, self._message_ids)
        self._calls = StreamCalls(self.place, UniqueIds(first_turn))
        self._counter = Counter()
        self._info = _Info()
        self._resumed = self._counter.goes_on = resumed
        self.is_interrupted = False
        """turnwire has broken the turn off by ending the process."""
        self._known: str | None = None
        """The conversation whose beginning was published."""
        self._told_as: str | None = None
        """What was published of its beginning."""
        self._mode: str | None = None
        self._models: list[Model] | None = None

    def take(self, one: Observation) -> list[AgentEvent]:
        """Handle an observation and return its events."""
        here = self.place.here
        match one:
            case seen.TextPiece():
                return [*self._ensure(), *self._texts.piece(one)] if one.text else []
            case seen.TextWhole():
                return [*self._ensure(), *self._texts.whole(one)]
            case seen.ToolCalled():
                return [*self._ensure(), *self._texts.pause(), *self._calls.called(one)]
            case seen.ToolOutput():
                return self._calls.showed(one)
            case seen.ToolEnded():
                return self._tool_ended(one)
            case seen.SessionStarted():
                return self._session(one)
            case seen.TurnStarted():
                return [*self._broken_off(), *self._start(one.origin, [])]
            case seen.Prompt():
                return self._prompted(one)
            case seen.TurnEnded():
                return [] if self.turn is None else self._end(self.turn, one)
            case seen.Retracted():
                return [Retraction(**here, message_ids=[*map(self._message_ids.of, one.ids)])]
            case seen.PermissionAsked():
                return self._permission(one)
            case seen.QuestionAsked():
                return self._question(one)
            case seen.Answered():
                return self._answered(one)
            case seen.PlanShown():
                return self._plan(one)
            case seen.Usage():
                self._counter.take(one)
                return []
            case seen.ContextUsed():
                return _context(self.place, one)
            case seen.Retry():
                return [
                    ApiRetry(
                        **here,
                        attempt=one.attempt,
                        max_retries=one.most,
                        delay_ms=one.delay_ms,
                        status=one.status,
                        error=one.message,
                    )
                ]
            case seen.Failure():
                return self._failed(one)
            case seen.Noticed():
                details = None if one.details is None else fields(shallow(one.details))
                return [Notice(**here, kind=one.kind, level=one.level, text=one.text, details=details)]
            case seen.Event():
                return [one.make(here)]
        assert_never(one)

    def decided(self, decision: Decision) -> list[AgentEvent]:
        """Handle a decision about a request of the agent."""
        events, call_id = self.requests.decide(decision)
        return events + self._calls.left(call_id, "denied" if decision.behavior == "deny" else "allowed")

    def process_over(self, end: Ended) -> list[AgentEvent]:
        """The process is gone: end everything open."""
        events: list[AgentEvent] = []
        if self.turn is not None:
            outcome: Outcome = "hung" if end.reason == "hung" else "process_exited"
            if self.is_interrupted or (end.signal in _BROKEN_OFF and end.reason == "exited"):
                outcome = "interrupted"
            events = self._end(self.turn, seen.TurnEnded(outcome=outcome), end)
        events += [*self._texts.pause(), *self._calls.over("process_exited")]
        events += self.requests.void("process_exited")
        self._texts.forget()
        self._known, self._resumed, self.is_interrupted = None, True, False
        return events

    # Sessions and turns

    def _session(self, told: seen.SessionStarted) -> list[AgentEvent]:
        if told.id is not None:
            self.place.enter_session(told.id)
        if told.resumed:
            self._resumed = True
            self._counter.goes_on = True
        events = self._began(init=True)
        info = _Info(
            model=told.model or self._info.model,
            cwd=told.cwd or self._info.cwd,
            version=told.version or self._info.version,
            permission_mode=told.mode or self._info.permission_mode,
            agent_name=told.agent or self._info.agent_name,
            tools=told.tools or self._info.tools,
        )
        models = None if told.models == self._models else told.models
        if info != self._info or models is not None:
            self._info, self._models = info, models or self._models
            events.append(SessionInfo(**self.place.here, **asdict(info), models=models))
        if told.mode is not None and told.mode != self._mode:
            self._mode = told.mode
            events.append(SessionMode(**self.place.here, current_mode_id=told.mode))
        return events

    def _began(self, *, init: bool = False) -> list[AgentEvent]:
        """Publish that the conversation exists, once per process."""
        known = self.place.session_id or ""
        if self._known == known or (self._known is not None and not init):
            return []
        status: Literal["new", "resumed"] = "resumed" if self._resumed else "new"
        is_news = self._known != "" or self._told_as != status
        self._known, self._told_as = known, status
        if not is_news:  # it was told before its agent said which one it is
            return []
        data = SessionStatusData(session_status=status, init=init or None)
        return [SessionStatus(**self.place.here, data=data)]

    def _ensure(self) -> list[AgentEvent]:
        """Start a turn if none is open, because something of a turn arrived."""
        return [] if self.turn is not None else self._start("user", [])

    def _start(self, origin: Origin, prompts: list[str]) -> list[AgentEvent]:
        events = [*self._began(), *self._texts.pause()]
        self.turn = _Turn(f"turn-{self.next_turn}", origin, prompts)
        self.next_turn += 1
        self.place.enter_turn(self.turn.id)
        return [*events, TurnStartedEvent(**self.place.here, origin=origin, prompts=[*prompts] or None)]

    def _broken_off(self) -> list[AgentEvent]:
        """End the open turn because another one begins: it will get no further observations."""
        if self.turn is None:
            return []
        return self._end(self.turn, seen.TurnEnded(outcome="process_exited"), Ended("end_of_input"))

    def _prompted(self, told: seen.Prompt) -> list[AgentEvent]:
        named = [told.id] if told.id is not None else []
        events: list[AgentEvent] = []
        if self.turn is None:
            events = self._start("user", named)
        else:
            self.turn.prompts += named
        return [
            *events,
            *self._texts.pause(),
            UserMessage(
                **self.place.here,
                text=told.text,
                uuid=told.id,
                parts=told.parts,
                synthetic=told.synthetic or None,
            ),
        ]

    def _failed(self, told: seen.Failure) -> list[AgentEvent]:
        if self.turn is not None:
            self.turn.failure = told
        return [Error(**self.place.here, error=told.message, code=told.code, status=told.status)]

    def _end(self, turn: _Turn, told: seen.TurnEnded, end: Ended | None = None) -> list[AgentEvent]:
        """End the open turn with everything open in it."""
        outcome = told.outcome
        failure = turn.failure if outcome == "error" or end is not None else None
        is_error = outcome not in ("completed", "interrupted")
        words = told.message or (None if failure is None else failure.message)
        if is_error and words is None:
            words = FAILED_TURNS.get(outcome) or exit_sentence(end or Ended("end_of_input"))
        events = [*self._texts.pause(), *self._calls.over(outcome)]
        events += self.requests.void(
            "interrupted"
            if outcome == "interrupted"
            else "process_exited"
            if outcome in ("process_exited", "hung")
            else "turn_ended"
        )
        status = told.status if failure is None else told.status or failure.status
        bill = self._counter.bill()
        spent, total = bill.turn, bill.total
        data = CompleteData(
            outcome=outcome,
            is_error=is_error,
            cost_usd=None if spent is None else spent.cost_usd,
            total_cost_usd=None if total is None else total.cost_usd,
            duration_ms=told.duration_ms,
            duration_api_ms=told.duration_api_ms,
            num_turns=told.num_turns,
            input_tokens=None if spent is None else spent.sent,
            output_tokens=None if spent is None else spent.received,
            cache_read_input_tokens=None if spent is None else spent.cache_read,
            cache_creation_input_tokens=None if spent is None else spent.cache_written,
            total_input_tokens=None if total is None else total.sent,
            total_output_tokens=None if total is None else total.received,
            errors=[words] if is_error and words else None,
            api_error_status=status if is_error else None,
            stop_reason=told.stop_reason,
            prompts=[*turn.prompts] or None,
            origin=turn.origin,
            exit_code=None if end is None else end.exit_code,
            signal=None if end is None else end.signal,
            stderr_tail=None if end is None else end.stderr_tail or None,
        )
        error = words if is_error else None
        events.append(Complete(**self.place.here, data=data, error=error))
        if error is not None and (failure is None or failure.message != error):
            code = told.code or (None if failure is None else failure.code) or outcome
            events.append(Error(**self.place.here, error=error, code=code, status=status))
        self.turn = None
        self.place.enter_turn(None)
        return events

    # Calls and requests

    def _tool_ended(self, told: seen.ToolEnded) -> list[AgentEvent]:
        if not self._calls.is_open_or_new(told.id):
            return []
        return [
            *self._ensure(),
            *self._texts.pause(),
            *self.requests.settle(self._calls.id_of(told.id), denied=told.status == "denied"),
            *self._calls.ended(told),
        ]

    def _permission(self, told: seen.PermissionAsked) -> list[AgentEvent]:
        def request(pending_id: str) -> PermissionRequest:
            return self._calls.asked(pending_id, told)

        if not self._calls.is_open_or_new(told.call.id):
            return []
        events = [*self._ensure(), *self._texts.pause(), *self._calls.called(told.call, asks=True)]
        return [*events, *self.requests.ask(told.id, request)]

    def _question(self, told: seen.QuestionAsked) -> list[AgentEvent]:
        def request(pending_id: str) -> QuestionRequest:
            return QuestionRequest(
                **self.place.here,
                pending_id=pending_id,
                kind="elicitation" if told.questions is None else "ask_user",
                tool_call_id=None if told.call_id is None else self._calls.id_of(told.call_id),
                questions=told.questions,
                message=told.message,
                requested_schema=shallow(told.schema),
                mcp_server=told.mcp_server,
            )

        events = [*self._ensure(), *self._texts.pause()]
        return [*events, *self.requests.ask(told.id, request)]

    def _answered(self, told: seen.Answered) -> list[AgentEvent]:
        events, call_id = self.requests.answer(told)
        match told.behavior:
            case "deny":
                return events + self._calls.left(call_id, "denied")
            case "cancelled":
                return events + self._calls.left(call_id, "cancelled")
            case "allow" | "answer":
                return events + self._calls.left(call_id, "allowed")
        assert_never(told.behavior)

    def _plan(self, told: seen.PlanShown) -> list[AgentEvent]:
        lines = [] if told.text is None else [told.text]
        lines += todo_lines(told.items or ())
        return [
            *self._ensure(),
            *self._texts.pause(),
            AgentPlan(**self.place.here, plan_content="\n".join(lines), plan_id=told.id, items=told.items),
        ]


def _context(place: EventContext, told: seen.ContextUsed) -> list[AgentEvent]:
    if told.size <= 0 or told.used < 0:
        return []
    return [
        ContextWindow(
            **place.here,
            context_window_size=told.size,
            context_window_used=told.used,
            context_window_remaining=max(told.size - told.used, 0),
            context_efficiency=100 * told.used / told.size,
            model=told.model,
        )
    ]

"""What happened in a recording: a pure fold of timed events into turns, and where the time of each went.

Each moment counts for one thing. A wait for a human comes before a running tool, and a tool before the model. When
only the model should speak, silence for longer than `STALLED_S` counts as stalled.

What a turn has cost that does not say so is estimated by the tokens of its calls of the model, where their price is known.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from turnwire.normalize import events as ev
from turnwire.normalize.common.endings import asked_model, is_output
from turnwire.normalize.core import Stats
from turnwire.normalize.events import AgentEvent, CompleteData
from turnwire.normalize.families import model_calls, recorded_core
from turnwire.normalize.inputs import Received, SessionInput
from turnwire.normalize.model_calls import PartSaid, Tokens
from turnwire.normalize.recordings.session_files import ConversationSummary, TokenCounts
from turnwire.recordings.recorded import Timed, timed_happenings
from turnwire.tracing.prices import Prices

STALLED_S = 30.0
"""Silence that is called stalled, in seconds."""

MOST_REFUSED = 100
"""Refusals of a sandbox that a turn tells."""

EPOCH_S = 1e9
"""Seconds from which on a time is one since 1970: an earlier one counts from a recording's beginning."""


class Span(Struct):
    """Something that took time."""

    what: str
    began: float
    ended: float | None = None
    status: str = "running"

    def seconds(self, now: float) -> float:
        """Return how long it took, or has taken so far."""
        return max((now if self.ended is None else self.ended) - self.began, 0.0)


class WaitTimes(Struct):
    """Seconds by what was waited for."""

    model: float = 0.0
    tool: float = 0.0
    human: float = 0.0
    stalled: float = 0.0


class Call(NamedTuple):
    """A call of the model."""

    model: str
    tokens: Tokens


class Turn(Struct):
    """One turn."""

    operation_id: str
    origin: str
    began: float
    ended: float | None = None
    prompts: list[str] = field(default_factory=list)
    tools: dict[str, Span] = field(default_factory=dict)
    asked: dict[str, Span] = field(default_factory=dict)
    where: WaitTimes = field(default_factory=WaitTimes)
    retries: int = 0
    errors: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """What the sandbox refused, and why; at most MOST_REFUSED."""
    result: ev.CompleteData | None = None
    estimated_usd: float | None = None
    """What it may have cost, by the prices of models; None where its cost is known, or some model's price is not."""
    has_output: bool = False
    """The model has written something."""
    calls: dict[str, Call] = field(default_factory=dict)
    """Calls of the model, by their ids."""

    @property
    def seconds(self) -> float:
        """How long it took; 0 for one that never ended."""
        return 0.0 if self.ended is None else self.ended - self.began

    @property
    def verdict(self) -> str:
        """Return in words how the turn ended."""
        if self.result is None:
            return "never ended"
        outcome = self.result.outcome or "completed"
        failed = [tool for tool in self.tools.values() if tool.status == "error"]
        how = self.result.signal or self.result.exit_code
        words = {
            "completed": "done" if not failed else f"done, {len(failed)} of {len(self.tools)} tools failed",
            "process_exited": "the CLI ended in the middle"
            if how is None
            else f"the CLI ended in the middle ({how})",
        }.get(outcome, outcome.replace("_", " "))
        return f"{words}: {self.errors[0]}" if self.errors and outcome != "completed" else words


class Report(Struct):
    """A recording."""

    turns: list[Turn] = field(default_factory=list)
    model: str | None = None
    agent: str | None = None
    """What the agent calls itself; None of one that does not say."""
    version: str | None = None
    session_id: str | None = None
    cost_usd: float | None = None
    """Cost of the turns, where each turn's share is known or can be estimated."""
    estimated_usd: float = 0.0
    """How much of that is estimated."""
    cost_is_whole: bool = True
    """False when there is a turn whose share is neither known nor estimated: it has cost that much, or more."""
    other_usd: float = 0.0
    """How much of the cost is of none of these turns: ways that a conversation left, summaries, titles."""
    seconds: float = 0.0
    stats: Stats = field(default_factory=Stats)


class Inspector:
    """Folds a recording into a report."""

    def __init__(self, prices: Callable[[], Prices]) -> None:
        """`prices` estimate the turns whose cost nobody tells; they are asked for when there is one."""
        self.report = Report()
        self._prices = prices
        self._turn: Turn | None = None
        """The open turn that began last."""
        self._open: dict[str, Turn] = {}
        self._said: list[str] = []
        self._first: float | None = None
        self._last = 0.0

    def handle(self, known: float | None, item: SessionInput, events: Sequence[AgentEvent]) -> None:
        """Take an input and its events in; its time is in seconds, from any beginning, and takes none where it is not known."""
        if self._first is None and known is not None:
            self._first = self._last = known  # lines of bookkeeping at a file's head have no time
        at = self._last if known is None else known
        self._pass(at - self._last)
        self._last = max(at, self._last)
        self.report.seconds = self._last - (self._first or 0.0)
        turn = self._turn
        for event in events:
            self._event(event, at)
        if isinstance(item, Received) and (turn := self._turn or turn) is not None:
            _count(turn, item)

    def _pass(self, seconds: float) -> None:
        """Give the time since the last line to what was waited for."""
        if self._turn is None or seconds <= 0:
            return
        where = self._turn.where
        if any(span.ended is None for span in self._turn.asked.values()):
            where.human += seconds
        elif any(span.ended is None for span in self._turn.tools.values()):
            where.tool += seconds
        elif seconds > STALLED_S:
            where.stalled += seconds
        else:
            where.model += seconds

    def _event(self, event: AgentEvent, at: float) -> None:
        report, turn = self.report, self._open.get(event.operation_id or "", self._turn)
        report.session_id = event.session_id or report.session_id
        match event:
            case ev.SessionInfo():
                report.model, report.version = event.model or report.model, event.version or report.version
                report.agent = event.agent_name or report.agent
            case ev.ContextWindow():
                report.model = event.model or report.model
            case ev.TurnStarted():
                self._turn = Turn(event.operation_id or "", event.origin, at, prompts=self._said)
                self._said = []
                self._open[self._turn.operation_id] = self._turn
                report.turns.append(self._turn)
            case ev.UserMessage() if not event.synthetic and event.parent_tool_call_id is None:
                (turn.prompts if turn else self._said).append(event.text)
            case ev.Complete():
                self._complete(event, at)
            case _ if turn is not None:
                turn.has_output = turn.has_output or is_output(event)
                _within(turn, event, at)
            case _:
                pass

    def _complete(self, event: ev.Complete, at: float) -> None:
        report, share = self.report, event.data.cost_usd
        turn = self._open.pop(event.operation_id or "", None)
        if share is None and event.data.tokens_of == "lines":
            share = 0.0  # it is in the next turn's
        elif share is None and turn is not None:
            turn.estimated_usd = share = self._estimate(turn, event.data, at)
            report.estimated_usd = round(report.estimated_usd + (share or 0.0), 10)
        if share is not None:
            report.cost_usd = round((report.cost_usd or 0.0) + share, 10)
        elif asked_model(event.data, has_output=turn is None or turn.has_output or bool(turn.calls)):
            report.cost_is_whole = False
        if turn is not None:
            turn.ended, turn.result = at, event.data
            turn.errors += event.data.errors or []
            self._turn = next(reversed(self._open.values()), None)

    def _estimate(self, turn: Turn, told: CompleteData, at: float) -> float | None:
        took = [
            (
                call.model,
                TokenCounts(
                    call.tokens.sent,
                    call.tokens.written,
                    call.tokens.cache_read,
                    call.tokens.cache_written,
                    call.tokens.cache_written_1h,
                ),
            )
            for call in turn.calls.values()
        ]
        # Lines of stdout tell what a call had written when it began; the turn's end tells all of it, but of no model.
        models = {model for model, _ in took} or ({self.report.model} if self.report.model else set())
        rest = (told.output_tokens or 0) - sum(one.output_tokens for _, one in took)
        if not took and told.input_tokens is not None:
            whole = TokenCounts(
                told.input_tokens, 0, told.cache_read_input_tokens or 0, told.cache_creation_input_tokens or 0
            )
            took = [(model, whole) for model in models]
        if took and rest > 0 and len(models) == 1:
            took.append((took[0][0], TokenCounts(0, rest)))
        prices = self._prices() if took else None
        shares = [
            None if prices is None else prices.estimate(model, one, at if at > EPOCH_S else None)
            for model, one in took
        ]
        known = [share for share in shares if share is not None]
        return round(sum(known), 10) if shares and len(known) == len(shares) else None


def _count(turn: Turn, item: Received) -> None:
    """Note the call of the model that a line tells of; the last line of one has its tokens whole."""
    read = model_calls().get(type(item.message))
    for call in () if read is None else read(item.message):
        if isinstance(call, PartSaid) and call.tokens is not None and call.model and not call.is_synthetic:
            turn.calls[call.message_id or f"call-{len(turn.calls)}"] = Call(call.model, call.tokens)


def _within(turn: Turn, event: AgentEvent, at: float) -> None:
    match event:
        case ev.ToolCall():
            turn.tools[event.tool_call_id] = Span(f"{event.tool_name}: {event.tool_title}", at)
        case ev.ToolUpdate() if event.tool_status != "running" and event.tool_call_id in turn.tools:
            span = turn.tools[event.tool_call_id]
            span.ended, span.status = at, event.tool_status
        case ev.PermissionRequest():
            turn.asked[event.pending_id] = Span(event.permission_title, at)
        case ev.QuestionRequest():
            turn.asked[event.pending_id] = Span(event.message or "question", at)
        case ev.PermissionResolved(unasked=True):
            turn.asked[event.pending_id] = Span(
                event.permission_title or "request", at, at, f"{event.behavior} by {event.by or 'somebody'}"
            )
        case ev.PermissionResolved() if event.pending_id in turn.asked:
            span = turn.asked[event.pending_id]
            span.ended, span.status = at, f"{event.behavior} by {event.by or 'somebody'}"
        case ev.PermissionCancelled() if event.pending_id in turn.asked:
            span = turn.asked[event.pending_id]
            span.ended, span.status = at, f"cancelled ({event.reason})"
        case ev.ApiRetry():
            turn.retries += 1
        case ev.SandboxDenied() if len(turn.refused) < MOST_REFUSED:
            turn.refused.append(f"{event.target}: {event.reason}")
        case _:
            pass


def bill_session(
    report: Report, outline: ConversationSummary, prices: Callable[[], Prices], unfiled_usd: float = 0.0
) -> None:
    """Give the report of a session file what the whole conversation has cost, not only the turns of the branch that lives.

    It is what lists of conversations show: without what a fork has copied, with what the agent counts beside its answers.
    `unfiled_usd`: dollars that turnwire's own log knows of, and the file does not.
    """
    unknown = [one for one in outline.answers if one.cost_usd is None and not one.is_copy]
    shares = [
        prices().estimate(
            one.model,
            TokenCounts(
                one.input_tokens, one.output_tokens, one.cache_read_input_tokens, one.cache_creation_input_tokens,
                one.cache_creation_1h_input_tokens,
            ),
            one.at,
        )
        for one in unknown
    ]  # fmt: skip
    known = [share for share in shares if share is not None]
    turns = report.cost_usd or 0.0
    report.estimated_usd = round(outline.shared_usd + sum(known), 10)
    report.cost_is_whole = len(known) == len(shares)
    if outline.cost_usd is None and not known and not unfiled_usd:
        report.cost_usd = None
    else:
        report.cost_usd = round((outline.cost_usd or 0.0) + sum(known) + unfiled_usd, 10)
    report.other_usd = round(max((report.cost_usd or 0.0) - turns, 0.0), 10)


def inspect(recording: Iterable[Timed], prices: Callable[[], Prices], family: str | None = None) -> Report:
    """Fold a whole recording; lines without times take no time."""
    core, inspector = recorded_core(family), Inspector(prices)
    for timed, events in timed_happenings(core, recording):
        inspector.handle(timed.at, timed.input, events)
    inspector.report.stats = core.stats
    return inspector.report

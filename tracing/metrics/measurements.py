"""The instruments, and the measurements of a session's inputs; pure.

Durations, tokens and first chunks are read from the finished spans of the GenAI conventions, so a metric and a
trace never disagree. docs/tracing.md has the table; a test keeps both equal.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.tracing.spans.span import Attribute, Span

SECONDS = (
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
    163.84,
    655.36,
)
"""Boundaries of the conventions, and two more: an agent's turn takes longer than a completion."""
TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)

NAMES = 64
"""Most different values of a label. Models and servers name tools, and each name costs a series."""


class Instrument(Struct, frozen=True):
    """One metric."""

    name: str
    """By the conventions where they have it, otherwise `turnwire.`."""
    kind: Literal["histogram", "counter", "gauge"]
    unit: str
    """As OpenTelemetry writes it: s, By, {token}."""
    about: str
    """Its description, in one sentence."""
    labels: tuple[str, ...] = ()
    """Its attributes."""
    boundaries: tuple[float, ...] = ()
    """Of a histogram."""


OPERATION = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")

TOKEN_USAGE = Instrument(
    "gen_ai.client.token.usage",
    "histogram",
    "{token}",
    "Tokens of a turn, cached ones counted as input.",
    (*OPERATION, "gen_ai.token.type"),
    TOKENS,
)
DURATION = Instrument(
    "gen_ai.client.operation.duration",
    "histogram",
    "s",
    "How long an API message (chat), a turn or a subagent (invoke_agent), a tool call (execute_tool) took.",
    (*OPERATION, "gen_ai.tool.name", "error.type"),
    SECONDS,
)
FIRST_CHUNK = Instrument(
    "gen_ai.client.operation.time_to_first_chunk",
    "histogram",
    "s",
    "How long an API message took until its first streamed piece.",
    OPERATION,
    SECONDS,
)
HUMAN_WAIT = Instrument(
    "turnwire.human.wait.duration",
    "histogram",
    "s",
    "How long a permission request or a question waited for its answer.",
    ("turnwire.behavior",),
    SECONDS,
)
COST = Instrument(
    "turnwire.cost",
    "counter",
    "{USD}",
    "What turns cost, in US dollars, by the session's model.",
    ("gen_ai.request.model",),
)
UNUSUAL_LINES = Instrument(
    "turnwire.lines.unusual",
    "counter",
    "{line}",
    "Lines of a CLI that were malformed or of an unknown type.",
    ("turnwire.line",),
)
LINES = Instrument("turnwire.lines", "counter", "{line}", "Lines that CLIs wrote.")
SPANS_LOST = Instrument("turnwire.spans.lost", "counter", "{span}", "Spans that no collector took.")
PENDING = Instrument("turnwire.permissions.pending", "gauge", "{request}", "Requests that wait for a human.")
FRONTENDS = Instrument("turnwire.frontends", "gauge", "{frontend}", "Connected frontends.")
LAG = Instrument(
    "turnwire.frontends.lag",
    "gauge",
    "{event}",
    "Events by which the frontend that is furthest behind is behind.",
)
REFUSED = Instrument(
    "turnwire.connections.refused",
    "counter",
    "{connection}",
    "Connections and tokens that were refused, and frontends that were cut, by reason.",
    ("turnwire.reason",),
)
JOURNAL_SIZE = Instrument("turnwire.journal.size", "gauge", "By", "Bytes of events in the journal.")
JOURNAL_DAMAGED = Instrument(
    "turnwire.journal.damaged",
    "counter",
    "{event}",
    "Events that were found damaged or missing when they were read; readers got a gap.",
)
SESSIONS = Instrument("turnwire.sessions", "gauge", "{session}", "Sessions, by state.", ("turnwire.state",))

LEASE_AGE = Instrument(
    "turnwire.fleet.lease.age",
    "gauge",
    "s",
    "Seconds since a worker's lease was renewed; told by the worker alone.",
)
ORDERS = Instrument(
    "turnwire.fleet.orders",
    "gauge",
    "{command}",
    "Commands that wait for a worker or are being done; told by the worker alone.",
)
ROUND_TRIP = Instrument(
    "turnwire.fleet.redis.round_trip",
    "gauge",
    "s",
    "How long the fleet's Redis took for the last look at a lease, or at all of them.",
)
COMMAND_DURATION = Instrument(
    "turnwire.fleet.command.duration",
    "histogram",
    "s",
    "How long a command took from a hub to a worker and back, by its outcome: ok or the code of the refusal; told by the hub alone.",
    ("turnwire.outcome",),
    SECONDS,
)

RECORDED = (TOKEN_USAGE, DURATION, FIRST_CHUNK, HUMAN_WAIT, COST, UNUSUAL_LINES, COMMAND_DURATION)
"""Instruments that get measurements."""
READ = (
    LINES,
    SPANS_LOST,
    PENDING,
    FRONTENDS,
    LAG,
    REFUSED,
    JOURNAL_SIZE,
    JOURNAL_DAMAGED,
    SESSIONS,
    LEASE_AGE,
    ORDERS,
    ROUND_TRIP,
)
"""Instruments that are read on demand."""


class Measurement(NamedTuple):
    """One value of one instrument."""

    of: Instrument
    value: float
    labels: tuple[str, ...] = ()
    """Values of the instrument's labels, in their order; empty ones do not apply."""
    span: Span | None = None
    """The operation that was measured."""


class Measurer:
    """Makes measurements; keeps labels to a number of values that no model or server can drive up."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}

    def handle(self, events: Sequence[AgentEvent], spans: Sequence[Span]) -> list[Measurement]:
        """Return the measurements of one input's events and finished spans."""
        found: list[Measurement] = []
        for event in events:
            kind = type(event)
            if kind is ev.Unknown or kind is ev.Malformed:
                found.append(Measurement(UNUSUAL_LINES, 1, (event.type,)))
            elif type(event) is ev.Complete and event.data.cost_usd is not None and event.data.cost_usd > 0:
                turn = next((span for span in reversed(spans) if span.name.startswith("invoke_agent")), None)
                model = self._labels({} if turn is None else turn.attributes, COST.labels)
                found.append(Measurement(COST, event.data.cost_usd, model, turn))
        for span in spans:
            if span.name == "await_human":
                behavior = str(span.attributes.get("turnwire.behavior", "cancelled"))
                found.append(Measurement(HUMAN_WAIT, _seconds(span), (behavior,), span))
            elif "gen_ai.operation.name" in span.attributes:
                found += self._operation(span)
        return found

    def _operation(self, span: Span) -> Iterator[Measurement]:
        told = span.attributes
        operation = self._labels(told, OPERATION)
        more = self._labels(told, ("gen_ai.tool.name", "error.type"))
        yield Measurement(DURATION, _seconds(span), (*operation, *more), span)
        first = told.get("gen_ai.response.time_to_first_chunk")
        if isinstance(first, float):
            yield Measurement(FIRST_CHUNK, first, operation, span)
        # Tokens of messages are not final in every version; those of the turn are, and hold them all.
        if operation[0] == "invoke_agent":
            for kind in ("input", "output"):
                count = told.get(f"gen_ai.usage.{kind}_tokens")
                if isinstance(count, int):
                    yield Measurement(TOKEN_USAGE, count, (*operation, kind), span)

    def _labels(self, told: Mapping[str, Attribute], names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._bounded(name, str(told.get(name, ""))) for name in names)

    def _bounded(self, label: str, value: str) -> str:
        known = self._known.setdefault(label, set())
        if value not in known:
            if len(known) >= NAMES:
                return "_OTHER"
            known.add(value)
        return value


def _seconds(span: Span) -> float:
    return (span.end - span.start) / 1e9

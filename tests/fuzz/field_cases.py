"""Recorded sessions with one field made wrong, and the observers of a session that must survive it.

A field is named by its wire, its kind of line and its path. So each field is tried once for each wrong value, in the shortest
session that has it.
"""

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from acp_recordings import acp_recordings
from exported_spans import MemoryExport
from native_recordings import native_recordings
from prometheus_client.parser import text_string_to_metric_families

from recordings import FIXTURES
from tests.fuzz.rows import rows_of, said_in
from turnwire.adapter.claude.wire import ClaudeWire
from turnwire.adapter.permissions.decisions import Respond, Stopping
from turnwire.adapter.permissions.machine import State
from turnwire.adapter.permissions.policies import PermissionSettings
from turnwire.adapter.session.core import Outputs, SessionCore
from turnwire.history.index import GROUPS, Index, ListedConversation, LogPiece
from turnwire.history.live import answer_of
from turnwire.normalize.core import InputWithEvents
from turnwire.normalize.events import AgentEvent, Complete, to_json
from turnwire.normalize.families import FAMILIES, recorded_core
from turnwire.normalize.inputs import Ended, Received, Sent
from turnwire.normalize.recordings.lines import LineReader
from turnwire.normalize.recordings.session_files import SearchableText
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.encode import encode_input
from turnwire.protocol.dialects import CLAUDE
from turnwire.tracing.metrics.measurements import Measurer
from turnwire.tracing.metrics.prometheus import PrometheusMeter
from turnwire.tracing.prices import prices
from turnwire.tracing.spans.maker import SpanMaker

MISSING = object()
"""Instead of a value: the field is not there."""

WRONG: tuple[Any, ...] = (
    MISSING, None, "", "x" * 300, "a\x00\x1b\n", True, {}, [], -1, -0.5, 1e300, 10**20, float("nan"), float("inf"),
)  # fmt: skip
"""Values that a field gets."""

WORD = "findable"
"""Text of each session in the index."""

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Field:
    """A field of a line of a recorded session."""

    wire: str
    rows: tuple[tuple[bytes, bytes], ...]
    """The session: directions and lines."""
    row: int
    place: Place

    def with_value(self, value: Any) -> list[tuple[bytes, bytes]]:
        """Return the session with another value in this field."""
        line = deepcopy(json.loads(self.rows[self.row][1]))
        holder = line
        for step in self.place[:-1]:
            holder = holder[step]
        if value is MISSING:
            del holder[self.place[-1]]
        else:
            holder[self.place[-1]] = value
        rows = list(self.rows)
        rows[self.row] = (b"<", json.dumps(line).encode())
        return rows


def _sessions(only: str) -> Iterator[tuple[str, bytes]]:
    for folder in sorted(FIXTURES.glob(only or "[0-9q]*/*/")):
        if (folder / "timeline.jsonl").exists():
            yield f"claude {folder.parent.name}", said_in(folder)
    if only:
        return
    for acp in acp_recordings(with_corpus=False):
        yield f"acp {acp.folder.parent.name}", said_in(acp.folder)
    for native in native_recordings(with_corpus=False):
        yield f"native {native.agent}", b"\n".join(b"<" + line for line in native.lines())


@cache
def fields(only: str = "") -> tuple[Field, ...]:
    """Return all fields of what agents wrote, each in the shortest session that has it. `only`: a folder, for
    the fields of this recording of Claude Code alone."""
    found: dict[tuple[str, str, str], Field] = {}
    for wire, data in sorted(_sessions(only), key=lambda one: len(one[1])):
        rows = tuple(rows_of(data))
        for row, (mark, line) in enumerate(rows):
            if mark == b"<" and (value := _object(line)) is not None:
                kind = _kind(value)
                for place in _places(value):
                    shape = ".".join("*" if isinstance(step, int) else step for step in place)
                    found.setdefault((wire, kind, shape), Field(wire, rows, row, place))
    return tuple(found.values())


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _kind(line: dict[str, Any]) -> str:
    inner = [value for value in line.values() if isinstance(value, dict)]
    words = [
        str(one.get(name)) for one in (line, *inner) for name in ("type", "subtype", "method") if name in one
    ]
    return " ".join(words)


def _places(value: Any, at: Place = ()) -> Iterator[Place]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield (*at, step)
        yield from _places(inner, (*at, step))


class Observers:
    """What follows sessions: spans, metrics, and the index of conversations in a file."""

    def __init__(self, file: Path) -> None:
        self._index = Index(file, prices())
        self._meter = PrometheusMeter(lambda: ())
        self._number = 0

    def follow(self, field: Field, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Feed a session to a core and all observers. Raises what any of them raises."""
        self._number += 1
        maker, measurer = SpanMaker("s", export=MemoryExport(), content=True), Measurer()
        events: list[AgentEvent] = []
        happened = _claude(rows) if field.wire.startswith("claude") else _recorded(rows)
        for at, (item, told) in enumerate(happened):
            self._meter.record(measurer.handle(told, maker.handle(item, told, at * 10**9)))
            events += told
        for event in events:
            json.loads(to_json(event))
        name = f"session-{self._number}"
        ends = [event for event in events if isinstance(event, Complete)]
        answers = [answer_of(name, "claude-sonnet-4-5", "2026-01-01T00:00:00Z", event) for event in ends]
        costs = [event.data.total_cost_usd for event in ends]
        listed = ListedConversation(
            id=f"live:{name}", path="", agent="claude", folder="/w", title=None, first_prompt=None, began=1.0, ended=2.0,
            turns=len(ends), cost_usd=costs[-1] if costs else None, cost_is_whole=True, git_branch=None, model=None,
            version=None, size=0, branches=0,
        )  # fmt: skip
        said: list[tuple[SearchableText, int | None]] = [(SearchableText("", "text", WORD), 1)]
        self._index.log(name, LogPiece("epoch", 1, said, answers, listed))

    def answer(self) -> None:
        """See that the metrics, `usage` and `search` answer, for all sessions since the last time, and forget these."""
        families = text_string_to_metric_families(self._meter.text()[1].decode())
        for family in families:
            assert all(sample.value >= 0 for sample in family.samples), family
        names = [f"session-{number}" for number in range(1, self._number + 1)]
        for group in GROUPS:
            json.dumps([one.group for one in self._index.usage([group])], allow_nan=False)
        for total in self._index.usage([]):
            assert total.input_tokens >= 0
            assert total.cost_usd is None or total.cost_usd >= 0
        assert len(self._index.search(WORD, limit=len(names) + 1)) == len(names)
        for name in names:
            self._index.forget_log(name)
        self._number = 0

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def _claude(rows: Sequence[tuple[bytes, bytes]]) -> Iterator[InputWithEvents]:
    """Run a live session of Claude Code, with its answers, up to its end."""
    wire, settings = ClaudeWire(), PermissionSettings()
    core = SessionCore(FAMILIES[CLAUDE.name].core(), wire, State(settings))
    for at, (mark, line) in enumerate(rows):
        item = Received(line, decode(line)) if mark == b"<" else Sent(line, decode(line))
        yield from _carried_out(wire, core.handle(item, float(at)))
    yield from _carried_out(wire, core.handle(Stopping(), float(len(rows))))
    yield from _carried_out(wire, core.handle(Ended("exited", exit_code=0), float(len(rows))))
    assert not core.pending
    assert not core.busy


def _carried_out(wire: ClaudeWire, outputs: Outputs) -> list[InputWithEvents]:
    for effect in outputs.effects:
        if isinstance(effect, Respond):
            for response in wire.replies(effect.request, effect.reply):
                encode_input(response)
    return outputs.happened


def _recorded(rows: Sequence[tuple[bytes, bytes]]) -> Iterator[InputWithEvents]:
    """Read a session of any wire, as a recording is read."""
    core, lines = recorded_core(), LineReader()
    for mark, line in rows:
        for item in lines.received(line) if mark == b"<" else lines.sent(line):
            yield InputWithEvents(item, core.handle(item))
    ended = Ended("end_of_input")
    yield InputWithEvents(ended, core.handle(ended))
    assert not core.pending

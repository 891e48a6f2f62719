"""Properties of every session's events, whatever its input."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import asdict

from turnwire.normalize import events as ev
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent, from_json, to_json

EVENTS_A_BYTE = 1
"""Most events for one byte of input: output is bounded by input."""


def conserved(core: Core, received: int) -> None:
    """Check that every received line is counted once."""
    assert sum(asdict(core.stats).values()) == received, (core.stats, received)


def over(core: Core) -> None:
    """Nothing is left open when the session has ended."""
    assert not core.busy
    assert core.pending == ()


def balanced(events: Sequence[AgentEvent], *, side_by_side: bool = False) -> None:
    """Check that each turn completes once, and that each call and request ends once.

    `side_by_side`: the agent may have several conversations, each with a turn of its own.
    """
    open_turns: dict[str | None, str | None] = {}
    turns = set[str | None]()
    calls, finals = Counter[str](), Counter[str]()
    asked, ended = Counter[str](), Counter[str]()
    for event in events:
        where = event.operation_id if side_by_side else None
        match event:
            case ev.TurnStarted():
                assert open_turns.get(where) is None, f"{event.operation_id} starts in {open_turns[where]}"
                assert event.operation_id not in turns, f"{event.operation_id} starts twice"
                open_turns[where] = event.operation_id
                turns.add(event.operation_id)
            case ev.Complete():
                assert event.operation_id == open_turns.get(where) is not None, (
                    f"{event.operation_id} completes, {open_turns.get(where)} is open"
                )
                open_turns[where] = None
            case ev.ToolCall():
                calls[event.tool_call_id] += 1
            case ev.ToolUpdate() if event.tool_status != "running":
                finals[event.tool_call_id] += 1
            case ev.PermissionRequest() | ev.QuestionRequest():
                asked[event.pending_id] += 1
            case ev.PermissionResolved(unasked=True):
                pass  # decided as it came: nobody was asked
            case ev.PermissionResolved() | ev.PermissionCancelled():
                ended[event.pending_id] += 1
            case _:
                pass
    assert not any(open_turns.values()), f"{open_turns} never complete"
    assert asked == ended, (asked - ended, ended - asked)
    for call, count in calls.items():
        assert finals[call] == count, f"{call}: {count} beginnings, {finals[call]} ends"
    assert all(count == 1 for call, count in finals.items() if call not in calls), finals


def readable(events: Sequence[AgentEvent]) -> list[bytes]:
    """Every event can be written, and read back as the same."""
    written = [to_json(event) for event in events]
    assert [to_json(from_json(line)) for line in written] == written
    return written


def words(events: Sequence[AgentEvent]) -> str:
    """Return all text and thoughts, in order."""
    return "".join(
        event.text if isinstance(event, ev.MessageChunk) else event.reasoning_text
        for event in events
        if isinstance(event, ev.MessageChunk | ev.Reasoning)
    )

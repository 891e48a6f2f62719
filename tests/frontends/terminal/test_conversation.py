"""A session's events as rows of a terminal: each text once, each call with its end, and the same from any place in the log."""

import re
from collections.abc import Sequence

import msgspec
import pytest

from console_states import entries
from recordings import ROOT
from turnwire.client.events import (
    AgentEvent,
    MessageChunk,
    PermissionRequest,
    PermissionResolved,
    Queued,
    SandboxDenied,
    ToolCall,
    UserMessage,
    Withdrawn,
)
from turnwire.frontends.terminal.conversation import Conversation
from turnwire.frontends.terminal.rows import Line, drawn
from turnwire.frontends.terminal.showing import body, head

SCENARIOS = (
    "perm-allow",
    "perm-deny",
    "partial-messages",
    "parallel-tools",
    "agent-resume",
    "interrupt-queue",
)


def events(scenario: str) -> list[AgentEvent]:
    return [msgspec.json.decode(entry.event, type=AgentEvent) for entry in entries(scenario)]


def folded(told: Sequence[AgentEvent], first: int = 1) -> Conversation:
    conversation = Conversation()
    for seq, event in enumerate(told, first):
        conversation.add(seq, event)
    return conversation


def shown(conversation: Conversation) -> list[tuple[str, str, str]]:
    return [(row.key, row.text, row.status) for row in conversation.rows.values()]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_text_is_there_once_and_each_call_has_ended(scenario: str) -> None:
    told = events(scenario)
    conversation = folded(told)
    said = "".join(row.text for row in conversation.rows.values() if row.kind == "text")
    pieces = [event for event in told if isinstance(event, MessageChunk)]
    assert said == "".join(piece.text for piece in pieces if not piece.replace)
    calls = [row for row in conversation.rows.values() if row.kind == "call"]
    assert len(calls) == sum(isinstance(event, ToolCall) for event in told)
    assert all(call.status in {"complete", "error", "unknown"} for call in calls)
    assert not conversation.pending
    assert not conversation.facts.running
    assert all(head(row) is not None and body(row) is not None for row in conversation.rows.values())


def test_every_recording_has_a_row_for_each_call_and_none_commands_the_terminal() -> None:
    read = msgspec.json.Decoder(AgentEvent).decode
    recorded = sorted((ROOT / "tests" / "normalize").glob("**/*.jsonl"))
    assert len(recorded) > 300
    for path in recorded:
        told = [read(line) for line in path.read_bytes().splitlines()]
        rows = folded(told).rows.values()
        calls = {event.tool_call_id for event in told if isinstance(event, ToolCall)}
        assert sum(row.kind == "call" for row in rows) >= len(calls), path
        for row in rows:
            parts = [text for part in body(row) for text in part]
            assert not re.search(
                r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", "".join([head(row), *parts])
            ), path
            assert all(drawn(part, 20) is not None for part in body(row)), path


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_log_read_from_any_place_and_then_backwards_shows_the_same(scenario: str) -> None:
    told = events(scenario)
    whole = shown(folded(told))
    for cut in range(len(told) + 1):
        older, newer = folded(told[:cut]), folded(told[cut:], cut + 1)
        newer.learn(older)
        newer.prepend(older)
        assert sorted(shown(newer)) == sorted(whole), cut
        assert not newer.pending
        assert newer.facts.running is False


def test_a_request_from_before_the_first_page_is_found() -> None:
    told = events("perm-allow")
    asked = next(place for place, event in enumerate(told) if isinstance(event, PermissionRequest))
    newer = folded(told[asked + 1 : asked + 1], asked + 2)
    newer.learn(folded(told[: asked + 1]))
    assert len(newer.pending) == 1
    resolved = folded([event for event in told if isinstance(event, PermissionResolved)], asked + 2)
    resolved.learn(folded(told[: asked + 1]))
    assert not resolved.pending


def test_a_decision_of_a_page_is_a_browsers_and_a_withdrawn_prompt_says_so() -> None:
    decided = PermissionResolved(pending_id="p1", behavior="allow", by="console-1a2b", permission_title="ls")
    [row] = folded([decided]).rows.values()
    assert head(row) == "Allowed by a browser: ls"
    [row] = folded(
        [UserMessage(text="hello", uuid="u1"), Queued(position=1, prompt="u1"), Withdrawn(prompt="u1")]
    ).rows.values()
    assert Line._text(row).plain == "> hello  (withdrawn)"


def test_the_oldest_rows_can_be_forgotten_and_name_where_to_go_on() -> None:
    conversation = folded(events("parallel-tools"))
    conversation.take()
    count = len(conversation.rows)
    gone = conversation.keep_newest(3)
    assert len(gone) == count - 3
    assert min(row.seq for row in conversation.rows.values()) > 1


def test_what_a_sandbox_refused_is_told() -> None:
    conversation = folded([SandboxDenied(kind="host", target="example.org:443", reason="nobody allowed it")])
    [row] = conversation.rows.values()
    assert head(row) == "The sandbox refused example.org:443: nobody allowed it"

"""A sidecar that was killed leaves open ends; the next one closes each of them once."""

import pytest

from turnwire.journal.base import Entry
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec
from turnwire.sessions.records.recovery import OpenAtEnd, brought_up_to, close_left_open

PAYLOAD = ShellExecPayload(shell_exec=ShellExec(command="ls"))


def left_open(*events: AgentEvent) -> list[AgentEvent]:
    left = OpenAtEnd()
    for event in events:
        left.observe(event)
    return left.closing()


def test_a_running_turn_is_completed_after_its_tools_and_dialogs() -> None:
    closing = left_open(
        ev.ProcessStatus(state="started", pid=1),
        ev.TurnStarted(session_id="c", operation_id="turn-3", origin="user"),
        ev.ToolCall(
            tool_status="running",
            operation_id="turn-3",
            tool_call_id="t",
            message_id="m1",
            block_index=2,
            tool_name="Bash",
            tool_title="ls",
            normalized=PAYLOAD,
        ),
        ev.PermissionRequest(
            pending_id="p",
            tool_call_id="t",
            permission_title="ls",
            permission_options=[],
            action_type="command",
        ),
    )
    assert [event.type for event in closing] == [
        "tool_update",
        "permission_cancelled",
        "complete",
        "process_status",
    ]
    update, cancelled, complete, _ = closing
    assert isinstance(update, ev.ToolUpdate)
    assert (update.tool_status, update.reason, update.normalized) == ("error", "process_exited", PAYLOAD)
    assert (update.tool_title, update.message_id, update.block_index) == ("ls", "m1", 2)
    assert isinstance(cancelled, ev.PermissionCancelled)
    assert (cancelled.pending_id, cancelled.reason) == ("p", "process_exited")
    assert isinstance(complete, ev.Complete)
    assert (complete.operation_id, complete.data.outcome) == ("turn-3", "process_exited")


def test_a_call_that_ran_with_edited_arguments_ends_with_them() -> None:
    edited = ShellExecPayload(shell_exec=ShellExec(command="make"))
    call = ev.ToolCall(
        tool_status="running", tool_call_id="t", tool_name="Bash", tool_title="ls", normalized=PAYLOAD
    )
    progress = ev.ToolUpdate(tool_call_id="t", tool_status="running", elapsed_ms=5)
    told = ev.ToolUpdate(tool_call_id="t", tool_status="running", tool_title="make", normalized=edited)
    (update,) = left_open(call, progress, told, progress)
    assert isinstance(update, ev.ToolUpdate)
    assert (update.tool_title, update.normalized) == ("make", edited)


def test_a_log_that_ended_well_needs_nothing() -> None:
    assert not left_open(
        ev.ProcessStatus(state="started", pid=1),
        ev.TurnStarted(operation_id="turn-1", origin="user"),
        ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="completed", is_error=False)),
        ev.ProcessStatus(state="exited", exit_code=0),
    )


def test_a_record_older_than_the_log_is_brought_up_to_it() -> None:
    left = OpenAtEnd()
    data = ev.CompleteData(
        outcome="completed", is_error=False, cost_usd=0.5, last_message_uuid="u-2", resume_token="u-2"
    )
    for event in (
        ev.TurnStarted(session_id="c-2", operation_id="turn-12", origin="user"),
        ev.Complete(session_id="c-2", operation_id="turn-12", data=data),
    ):
        left.observe(event)
    record = brought_up_to(
        SessionRecord(session="s", created="t", turns=11, model="m", resume_token="u-1", total_cost_usd=0.25),
        left,
    )
    assert record.total_cost_usd == 0.5
    assert (record.turns, record.cli_session_id, record.resume_token, record.model) == (12, "c-2", "u-2", "m")


async def test_the_closing_events_are_appended_once() -> None:
    journal = MemoryJournal()
    await journal.append("s", [Entry(to_json(ev.TurnStarted(operation_id="turn-1", origin="user")))])
    await close_left_open(journal, "s")
    await close_left_open(journal, "s")
    page = await journal.read_after("s", Cursor(journal.epoch, 0))
    assert [from_json(envelope.event).type for envelope in page.envelopes] == ["turn_started", "complete"]


def test_a_prompt_that_waited_is_withdrawn_unless_a_turn_has_taken_it() -> None:
    closing = left_open(
        ev.Queued(prompt="waits"),
        ev.Queued(prompt="served"),
        ev.Queued(prompt="joined"),
        ev.Queued(prompt="taken back"),
        ev.TurnStarted(operation_id="turn-1", origin="user", prompts=["served"]),
        ev.Injected(message_count=1, prompts=["joined"]),
        ev.Withdrawn(prompt="taken back"),
        ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="completed", is_error=False)),
    )
    assert [event.prompt for event in closing if isinstance(event, ev.Withdrawn)] == ["waits"]
    assert len(closing) == 1


def test_a_call_is_ended_as_what_it_had_become_by_then() -> None:
    call = ev.ToolCall(
        tool_status="running", tool_call_id="t", tool_name="Bash", tool_title="ls", normalized=PAYLOAD
    )
    grown = ShellExecPayload(shell_exec=ShellExec(command="ls -l"))
    (update,) = left_open(
        call, ev.ToolUpdate(tool_call_id="t", tool_status="running", tool_title="list", normalized=grown)
    )
    assert isinstance(update, ev.ToolUpdate)
    assert (update.tool_title, update.normalized) == ("list", grown)


async def test_an_event_that_cannot_be_read_costs_itself_alone_however_long_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    journal = MemoryJournal()
    await journal.append("s", [Entry(b"[]")])
    started = Entry(to_json(ev.TurnStarted(operation_id="turn-1", origin="user")))
    await journal.append("s", [Entry(to_json(ev.Notice(kind="k", level="info", text="t")))] * 600)
    await journal.append("s", [started])
    left, closing = await close_left_open(journal, "s")
    assert [event.type for event in closing] == ["complete"]
    assert left.turns == 1
    assert "an event in the journal cannot be read" in caplog.text

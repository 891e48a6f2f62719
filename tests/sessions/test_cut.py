"""What going back leaves behind in a log, and what of it a fork takes along."""

import pytest

from turnwire.journal.base import Entry
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec
from turnwire.sessions.cut import BATCH, BRANCHED, copy_to, cut_at, cut_of_last_turn, whole


def turn(number: int, *said: AgentEvent, message: str | None = None) -> list[AgentEvent]:
    """A turn whose end has a name, `end-NUMBER`."""
    name = f"turn-{number}"
    data = ev.CompleteData(outcome="completed", is_error=False, resume_token=message or f"end-{number}")
    return [
        ev.TurnStarted(operation_id=name, origin="user", prompts=[]),
        ev.UserMessage(operation_id=name, text=f"prompt {number}", uuid=f"prompt-{number}"),
        *said,
        ev.Complete(operation_id=name, data=data),
    ]


async def logged(*turns: list[AgentEvent]) -> MemoryJournal:
    journal = MemoryJournal()
    await journal.append("s", [Entry(to_json(event)) for events in turns for event in events])
    return journal


async def copied(journal: MemoryJournal, fork: str = "fork") -> list[AgentEvent]:
    page = await journal.read_after(fork, Cursor(journal.epoch, 0), count=10_000)
    return [from_json(envelope.event) for envelope in page.envelopes]


def prompts(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.UserMessage)]


async def test_all_turns_after_a_message_no_longer_count_once_it_is_gone_back_to() -> None:
    journal = await logged(turn(1), turn(2), turn(3))
    cut = await cut_at(journal, "s", "end-1")
    assert (cut.seq, cut.within, cut.void, cut.turns) == (3, None, ["turn-2", "turn-3"], 3)
    told = cut.event("rewind")
    assert (told.at, told.void_turns) == ("end-1", ["turn-2", "turn-3"])
    assert "2 turns of it no longer count." in told.text


async def test_a_message_within_a_turn_leaves_the_rest_of_that_turn_behind() -> None:
    journal = await logged(turn(1), turn(2))
    cut = await cut_at(journal, "s", "prompt-2")
    assert (cut.within, cut.void) == ("turn-2", [])
    assert "nothing of it no longer counts." in cut.event("rewind").text


async def test_a_message_is_where_it_was_said_first_though_a_turn_that_failed_names_it_again() -> None:
    journal = await logged(turn(1), turn(2, message="end-1"), turn(3))
    cut = await cut_at(journal, "s", "end-1")
    assert (cut.seq, cut.void) == (3, ["turn-2", "turn-3"])


async def test_a_message_that_a_log_does_not_know_voids_nothing_and_nothing_of_it_is_copied() -> None:
    journal = await logged(turn(1))
    cut = await cut_at(journal, "s", "elsewhere")
    assert (cut.seq, cut.void, cut.turns) == (None, [], 1)
    await copy_to(journal, "s", "fork", cut)
    assert await copied(journal) == []


async def test_a_retry_leaves_its_last_turn_behind_and_none_that_was_void_before() -> None:
    journal = await logged(turn(1), turn(2))
    cut = await cut_of_last_turn(journal, "s", "end-1")
    assert cut.void == ["turn-2"]
    await journal.append("s", [Entry(to_json(cut.event("retry")))])
    assert "1 turn of it no longer counts." in cut.event("retry").text
    again = await cut_of_last_turn(journal, "s", "end-1")
    assert (again.void, again.turns) == ([], 2)
    assert (await cut_at(journal, "s", "end-1")).void == []
    assert (await cut_of_last_turn(journal, "nothing", None)).void == []


async def test_a_fork_has_what_counts_and_neither_processes_nor_what_people_were_asked() -> None:
    void = ev.Cut(text="back", reason="rewind", at="end-1", void_turns=["turn-2"])
    asked = ev.PermissionCancelled(operation_id="turn-3", pending_id="p", reason="process_exited")
    journal = await logged(
        [ev.ProcessStatus(state="started", pid=1)], turn(1), turn(2), [void], turn(3, asked)
    )
    await journal.append("s", [Entry(b'{"type":"of another version","no":"event"}')])
    cut = await whole(journal, "s")
    assert (cut.at, cut.void, cut.turns) == (None, [], 3)
    await copy_to(journal, "s", "fork", cut)
    events = await copied(journal)
    assert prompts(events) == ["prompt 1", "prompt 3"]
    assert not [
        event for event in events if isinstance(event, ev.ProcessStatus | ev.Cut | ev.PermissionCancelled)
    ]


async def test_what_is_open_where_a_fork_begins_is_closed_in_it_without_a_fault() -> None:
    call = ev.ToolCall(
        operation_id="turn-1",
        tool_call_id="c",
        tool_name="Bash",
        tool_title="make",
        tool_status="running",
        normalized=ShellExecPayload(shell_exec=ShellExec(command="make")),
    )
    chunk = ev.MessageChunk(operation_id="turn-1", text="so", message_id="m", block_index=0)
    journal = await logged(turn(1, call, chunk))
    cut = await cut_at(journal, "s", "m")
    await copy_to(journal, "s", "fork", cut)
    *said, update, complete = await copied(journal)
    assert isinstance(said[-1], ev.MessageChunk)
    assert isinstance(update, ev.ToolUpdate)
    assert (update.tool_call_id, update.error) == ("c", BRANCHED)
    assert isinstance(complete, ev.Complete)
    assert (complete.data.outcome, complete.data.is_error, complete.error) == ("interrupted", False, None)


@pytest.mark.parametrize("more", [0, 1])
async def test_a_long_log_is_copied_whole_and_in_order(more: int) -> None:
    chunks = [
        ev.MessageChunk(operation_id="turn-1", text=str(number), message_id="m", block_index=0)
        for number in range(2 * BATCH - 3 + more)
    ]
    journal = await logged(turn(1, *chunks))
    await copy_to(journal, "s", "fork", await whole(journal, "s"))
    assert await copied(journal) == await copied(journal, "s")


async def test_a_prompt_that_waits_is_not_copied_and_one_that_was_served_is_there_once() -> None:
    def said(name: str, turn: str) -> list[AgentEvent]:
        return [ev.Queued(prompt=name), ev.UserMessage(operation_id=turn, text=name, uuid=name)]

    waiting = [
        *said("taken back", "turn-1"),
        *said("joins", "turn-1"),
        *said("next", "turn-1"),
        *said("last", "turn-1"),
    ]
    joined = ev.Injected(operation_id="turn-1", message_count=1, prompts=["joins"])
    served = ev.TurnStarted(operation_id="turn-2", origin="queued", prompts=["next"])
    journal = await logged(turn(1, *waiting, joined, ev.Withdrawn(prompt="taken back")), [served])
    await copy_to(journal, "s", "fork", await whole(journal, "s"))
    assert prompts(await copied(journal)) == ["prompt 1", "joins", "next"]

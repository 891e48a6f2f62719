"""A sidecar that is killed while it follows a conversation's file: the next one goes on, and the log has everything once."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from kept_sessions import Kept, kept

from turnwire.history.following import Follower, follower_of
from turnwire.journal.base import Entry
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize import events as ev
from turnwire.normalize.core import Core
from turnwire.normalize.events import AgentEvent, from_json, to_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.inputs import SessionInput
from turnwire.sessions.records.take_up import ReadTo, taken_up

LIMIT = 1 << 20

CONVERSATIONS = [
    kept("2.1.330", name)
    for name in ("files-and-shell", "interrupted", "compact", "background", "queued-during-tool")
] + [kept("2.0.14", "compact")]


def told(events: Sequence[AgentEvent]) -> list[str]:
    """What is said and done, in the order of the log."""
    found: list[str] = []
    for event in events:
        match event:
            case ev.UserMessage():
                found.append(f"> {event.text}")
            case ev.MessageChunk():
                found.append(f"said {event.text}")
            case ev.ToolCall():
                found.append(f"call {event.tool_call_id}")
            case ev.ToolUpdate() if event.tool_status != "running":
                found.append(f"result {event.tool_call_id}")
            case ev.TurnStarted():
                found.append(f"started {event.operation_id}")
            case ev.Complete():
                found.append(f"complete {event.operation_id} {event.data.outcome}")
            case ev.Notice():
                found.append(f"notice {event.text}")
            case _:
                pass
    return found


class Sidecar:
    """What follows a file, as a session does."""

    def __init__(self, core: Core, follower: Follower) -> None:
        self.core, self.follower = core, follower

    def look(self) -> list[AgentEvent]:
        events = self._heard(self.follower.more())
        if self.core.busy:
            events += self._heard(self.follower.settle())
        return events

    def close(self) -> list[AgentEvent]:
        return self._heard(self.follower.close())

    def _heard(self, inputs: Sequence[SessionInput]) -> list[AgentEvent]:
        return [event for item in inputs for event in self.core.handle(item)]


def begun(file: Path, first: Sequence[bytes], turns: int) -> Sidecar:
    """A sidecar that has the first lines as known, and turns of before."""
    file.write_bytes(b"".join(first))
    follower = follower_of(file)
    core = follower.core(turns)
    for _ in follower.first():
        pass
    follower.close()
    return Sidecar(core, follower)


async def logged(journal: MemoryJournal) -> list[AgentEvent]:
    await journal.flush()
    page = await journal.read_after("s", Cursor(journal.epoch, 0), count=1 << 20, size=1 << 30)
    return [from_json(envelope.event) for envelope in page.envelopes]


async def append(journal: MemoryJournal, events: Sequence[AgentEvent]) -> None:
    if events:
        await journal.append("s", [Entry(to_json(event)) for event in events])
    await journal.flush()


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=str)
async def test_a_kill_at_any_line_costs_the_log_nothing_and_doubles_nothing(
    tmp_path: Path, conversation: Kept
) -> None:
    lines = conversation.file.read_bytes().splitlines(keepends=True)
    file = tmp_path / conversation.file.name
    begin = 1
    turns = 3

    def read(end: int) -> None:
        file.write_bytes(b"".join(lines[:end]))

    uninterrupted = begun(file, lines[:begin], turns)
    looks: list[list[AgentEvent]] = []
    places: list[ReadTo] = []
    for end in range(begin, len(lines) + 1):
        read(end)
        looks.append(uninterrupted.look())
        places.append(ReadTo(uninterrupted.follower.read, sum(map(len, looks)), uninterrupted.core.turns))
    ended = uninterrupted.close()
    whole = told([*(event for look in looks for event in look), *ended])
    assert whole

    steps = [at for at, look in enumerate(looks) if look]
    for step, mark in enumerate(steps):
        later = steps[step + 1 :]
        for kill, missing in [(mark, 0), *((end, missing) for end in later[:2] for missing in (0, 1))]:
            journal = MemoryJournal()
            await append(journal, [event for look in looks[: mark + 1] for event in look])
            beyond = [event for look in looks[mark + 1 : kill + 1] for event in look]
            await append(journal, beyond[: len(beyond) - missing])
            read(begin + kill)
            taken = await taken_up(journal, "s", file, places[mark], limit=LIMIT)
            late = taken.unlogged(taken.follower.more())
            if taken.core.busy:
                late += taken.unlogged(taken.follower.settle())
            await append(journal, [event for _, events in late for event in events])
            again = Sidecar(taken.core, taken.follower)
            for end in (end for end in later if end > kill):
                read(begin + end)
                await append(journal, again.look())
            await append(journal, again.close())
            assert told(await logged(journal)) == whole, (mark, kill, missing)


def test_a_command_is_over_once_its_output_stands_in_the_file(tmp_path: Path) -> None:
    """Nothing else says so: the next line may come much later."""
    conversation = kept("2.1.330", "compact").file
    lines = conversation.read_bytes().splitlines(keepends=True)
    (printed,) = (at for at, line in enumerate(lines) if b"<local-command-stdout>" in line)
    file = tmp_path / conversation.name
    sidecar = begun(file, lines[:1], 0)
    file.write_bytes(b"".join(lines[:printed]))
    sidecar.look()
    assert sidecar.core.busy
    file.write_bytes(b"".join(lines[: printed + 1]))
    events = sidecar.look()
    assert [type(event) for event in events if isinstance(event, ev.Complete)] == [ev.Complete]
    assert not sidecar.core.busy

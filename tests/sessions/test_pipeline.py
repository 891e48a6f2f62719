"""From inputs to a log: what goes wrong with one input costs nothing of what came before it."""

from collections.abc import Sequence

import pytest

from turnwire.journal.memory import MemoryJournal
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, from_json
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import Announced, SessionInput
from turnwire.sessions.pipeline import Pipeline


def notice(text: str) -> Announced:
    return Announced(ev.Notice(kind="k", level="info", text=text))


async def texts(journal: MemoryJournal) -> list[str]:
    page = await journal.read_after("s", Cursor(journal.epoch, 0))
    events = [from_json(envelope.event) for envelope in page.envelopes]
    return [event.text for event in events if isinstance(event, ev.Notice)]


async def test_what_came_before_an_input_that_the_core_fails_at_is_journaled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    core = recorded_core()
    handle = core.handle

    def failing(item: SessionInput) -> Sequence[AgentEvent]:
        if item == notice("bad"):
            raise RuntimeError("broken on purpose")
        return handle(item)

    monkeypatch.setattr(core, "handle", failing)
    journal = MemoryJournal()
    pipeline = Pipeline("s", journal, field_limit=65536, core=core)
    with pytest.raises(RuntimeError, match="broken on purpose"):
        await pipeline.feed([notice("one"), notice("two"), notice("bad"), notice("never")])
    assert await texts(journal) == ["one", "two"]


async def test_what_came_before_an_input_that_the_session_s_own_account_fails_at_is_journaled() -> None:
    def state(item: SessionInput, events: Sequence[AgentEvent]) -> None:
        if item == notice("bad"):
            raise RuntimeError("broken on purpose")

    journal = MemoryJournal()
    pipeline = Pipeline("s", journal, field_limit=65536, state=state)
    with pytest.raises(RuntimeError, match="broken on purpose"):
        await pipeline.feed([notice("one"), notice("bad"), notice("never")])
    assert await texts(journal) == ["one"]


async def test_an_event_with_a_field_over_the_limit_is_cut_and_kept_whole_beside_it() -> None:
    journal = MemoryJournal()
    pipeline = Pipeline("s", journal, field_limit=100)
    await pipeline.feed([notice("x" * 1000), notice("short")])
    cut, short = await texts(journal)
    assert len(cut) < 200
    assert short == "short"
    whole = await journal.whole("s", 1)
    assert whole is not None
    event = from_json(whole.event)
    assert isinstance(event, ev.Notice)
    assert event.text == "x" * 1000

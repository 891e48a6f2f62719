"""A session of many turns is as large as one of few: what a turn has left behind is in the log alone."""

import gc
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest

from recordings import Recording, recordings
from turnwire.journal.base import Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Received, Sent, SessionInput
from turnwire.protocol.claude.decode import decode
from turnwire.recordings.reading import read
from turnwire.sessions.pipeline import Pipeline
from turnwire.sessions.state import ObservedState

WARM, TURNS = 1200, 600
"""Rounds until all that is remembered for a while is as full as it gets, and rounds that must then add nothing."""

MOST_A_ROUND = 48
"""Bytes: less than any object that could be kept of a turn."""

CONVERSATIONS = recordings("partial-messages", "perm-allow", "subagent-foreground", version="2.1.330")


def anew(line: bytes, number: int) -> bytes:
    """The same line in another round: ids of calls, messages and prompts come once in real life."""
    for mark in (b"toolu_", b"msg_", b'"uuid":"', b'"request_id":"'):
        line = line.replace(mark, mark + b"%d-" % number)
    return line


@pytest.mark.long
@pytest.mark.parametrize("made", CONVERSATIONS, ids=str)
async def test_what_is_kept_does_not_grow_with_the_turns(made: Recording) -> None:
    inputs = [timed.input for timed in read(Path(made.folder)) if isinstance(timed.input, Received | Sent)]
    state = ObservedState()
    journal = MemoryJournal(Retention(max_count=64))

    def observe(_: SessionInput, events: Sequence[AgentEvent]) -> None:
        state.observe(events)

    pipeline = Pipeline("s", journal, field_limit=65536, observers=[observe])

    async def rounds(first: int, last: int) -> None:
        for number in range(first, last):
            for item in inputs:
                line = anew(item.line, number)
                await pipeline.feed([type(item)(line, decode(line))])

    try:
        tracemalloc.start()  # from the beginning: what takes the place of something uncounted would look like growth
        await rounds(0, WARM)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        await rounds(WARM, WARM + TURNS)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < TURNS * MOST_A_ROUND + 65536

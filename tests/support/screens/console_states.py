"""Sessions to look at without an agent: recordings translated into a hub's journal, whole or up to some event."""

from collections.abc import Iterable

import msgspec
from hub_harness import HubHarness, StubHost, hub_harness

from recordings import recording
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.base import Entry
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.protocol.claude.decode import decode

VERSION = "2.1.330"


def entries(scenario: str, *, up_to: str | None = None, version: str = VERSION) -> list[Entry]:
    """Translate a recording as the pipeline would; `up_to` is the type of the last event taken."""
    translator = ClaudeCore()
    made: list[Entry] = []
    for line in recording(version, scenario).received():
        for index, event in enumerate(translator.receive(decode(line), line)):
            made.append(Entry(to_json(event), raw=line if index == 0 else None))
            if event.type == up_to:
                return made
    assert up_to is None, f"{scenario} has no {up_to}"
    return made


def made(events: Iterable[AgentEvent]) -> list[Entry]:
    """Events written for the purpose."""
    return [Entry(to_json(event)) for event in events]


async def show(where: HubHarness, session: str, events: list[Entry], **summary: object) -> None:
    """Put a session into the hub."""
    await where.journal.append(session, events)
    await where.journal.flush()
    described = msgspec.convert(
        {
            "session": session,
            "state": "idle",
            "pending": 0,
            "last_seq": len(events),
            "title": session.replace("-", " "),
            **summary,
        },
        SessionSummary,
    )
    where.host.summaries = [*where.host.summaries, described]
    where.host.changed()


def empty_hub() -> StubHost:
    """A host without sessions, where some can be begun."""
    host = StubHost(sessions=())
    host.choices = []
    return host


__all__ = ["HubHarness", "empty_hub", "entries", "hub_harness", "made", "show"]

"""Which message a session goes back to, by the names that its log and its CLI's version have for it."""

import pytest
from msgspec import to_builtins

from recordings import recording
from turnwire.adapter.families import FAMILIES
from turnwire.hub.host import CommandRefused
from turnwire.journal.base import Entry
from turnwire.journal.memory import MemoryJournal
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.protocol.claude.decode import decode
from turnwire.sessions.records.resume_point import NEW
from turnwire.sessions.rewind import place_of

CLAUDE = FAMILIES["claude"]
CREATED = "2026-01-02T03:04:05.678901Z"


async def logged(events: list[AgentEvent]) -> MemoryJournal:
    journal = MemoryJournal()
    await journal.append("s", [Entry(to_json(event)) for event in events])
    return journal


def events_of(version: str, scenario: str) -> list[AgentEvent]:
    translator = ClaudeCore()
    lines = recording(version, scenario).stdout.splitlines()
    return [event for line in lines for event in translator.receive(decode(line), line)]


def record(version: str | None, **options: object) -> SessionRecord:
    return SessionRecord(
        session="s", created=CREATED, title="t", cli_version=version, options=to_builtins(options)
    )


@pytest.mark.parametrize("name", ["last_message_uuid", "resume_token"])
async def test_2_0_14_goes_back_to_the_api_s_id_whatever_the_turn_s_end_is_called(name: str) -> None:
    events = events_of("2.0.14", "plain-text")
    [complete] = [event for event in events if isinstance(event, ev.Complete)]
    token = complete.data.resume_token
    assert token is not None
    assert token.startswith("msg_")
    journal = await logged(events)
    at = getattr(complete.data, name)
    assert await place_of(journal, record("2.0.14"), at, CLAUDE) == token


async def test_2_0_14_cannot_go_back_to_a_prompt() -> None:
    events: list[AgentEvent] = [
        ev.TurnStarted(operation_id="turn-1", origin="user"),
        ev.UserMessage(operation_id="turn-1", text="Hello.", uuid="u-1"),
    ]
    with pytest.raises(CommandRefused, match=r"CLI 2\.0\.14 cannot go back to 'u-1'") as refused:
        await place_of(await logged(events), record("2.0.14"), "u-1", CLAUDE)
    assert (refused.value.code, refused.value.field) == ("invalid_params", "at")
    assert await place_of(await logged(events), record("2.1.330"), "u-1", CLAUDE) == "u-1"


async def test_1_0_goes_back_nowhere_and_says_so() -> None:
    events = events_of("1.0.120", "plain-text")
    [complete] = [event for event in events if isinstance(event, ev.Complete)]
    at = complete.data.last_message_uuid
    assert at is not None
    with pytest.raises(CommandRefused, match=r"CLI 1\.0\.120 cannot go back to a message") as refused:
        await place_of(await logged(events), record("1.0.120"), at, CLAUDE)
    assert (refused.value.code, refused.value.field) == ("invalid_params", "at")


async def test_the_api_s_id_is_no_name_for_a_new_cli() -> None:
    events = events_of("2.1.330", "plain-text")
    [chunk, *_] = [event for event in events if isinstance(event, ev.MessageChunk)]
    assert chunk.message_id is not None
    with pytest.raises(CommandRefused, match="needs the uuid of a message"):
        await place_of(await logged(events), record("2.1.330"), chunk.message_id, CLAUDE)


@pytest.mark.parametrize("version", ["2.0.14", "2.1.330", None])
async def test_a_message_that_a_whole_log_does_not_have_is_refused(version: str | None) -> None:
    journal = await logged(events_of("2.1.330", "plain-text"))
    with pytest.raises(CommandRefused, match="has no message 'elsewhere'") as refused:
        await place_of(journal, record(version), "elsewhere", CLAUDE)
    assert (refused.value.code, refused.value.field) == ("invalid_params", "at")


async def test_a_message_of_before_the_log_is_for_the_cli_to_judge() -> None:
    events = events_of("2.1.330", "plain-text")
    journal = await logged(events)
    elsewhere = record("2.1.330", origin=NEW.json())
    assert await place_of(journal, elsewhere, "elsewhere", CLAUDE) == "elsewhere"
    assert await place_of(MemoryJournal(), record("2.1.330"), "elsewhere", CLAUDE) == "elsewhere"
    with pytest.raises(CommandRefused, match=r"needs the API's message id"):
        await place_of(MemoryJournal(), record("2.0.14"), "elsewhere", CLAUDE)

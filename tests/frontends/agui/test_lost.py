"""What a run makes of a log that has lost events or begins anew, of a hub that lets it in no more, and of what is kept between runs."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from hub_harness import hub_harness
from pydantic import JsonValue, SecretStr

from agui_harness import AguiHarness, agui
from turnwire.client import BEGINNING, Cursor
from turnwire.frontends.agui.app import create_app
from turnwire.frontends.agui.runs import RunStore
from turnwire.frontends.agui.thread import Thread
from turnwire.hub.config import HubConfig
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.journal.base import Journal, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import Complete, CompleteData, MessageChunk, TurnStarted

BEGUN = TurnStarted(operation_id="turn-1", origin="user", prompts=["p1"])
ENDED = Complete(
    operation_id="turn-1", data=CompleteData(outcome="completed", is_error=False, prompts=["p1"])
)
TOKEN = "0123456789abcdef"

Again = Callable[[Journal, str], Awaitable[None]]
"""Starts the hub anew with a journal and a token, once it has stopped."""


def text(words: str, message: str = "m1") -> MessageChunk:
    return MessageChunk(text=words, message_id=message, block_index=0, is_delta=True)


@asynccontextmanager
async def lives(journal: Journal) -> AsyncIterator[tuple[AguiHarness, Again]]:
    """The application before a hub that can be stopped and started anew on its port."""
    config = HubConfig(port=0, token=SecretStr(TOKEN))
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(hub_harness(config, journal=journal))
        there = AguiHarness(create_app(first.base), first)
        port = first.hub.port

        async def again(journal: Journal, token: str) -> None:
            changed = config.model_copy(update={"port": port, "token": SecretStr(token)})
            there.hub = await stack.enter_async_context(hub_harness(changed, journal=journal))

        yield there, again


async def test_events_that_are_kept_no_more_are_counted_in_the_state() -> None:
    journal = MemoryJournal(Retention(max_count=5))
    async with lives(journal) as (there, again):
        await there.append(*(text(f"{number} ") for number in range(10)), BEGUN)
        run = await there.run()
        snapshot = (await run.until("STATE_SNAPSHOT"))["snapshot"]
        assert snapshot["turnwire"]["events_gone"] == 6
        await there.hub.hub.stop()
        await there.append(*(text(f"{number} ") for number in range(10, 20)))
        await again(journal, TOKEN)
        changes = [
            change for change in (await run.until("STATE_DELTA"))["delta"] if "events_gone" in change["path"]
        ]
        assert [change["value"] for change in changes] == [11]
        await there.append(ENDED)
        events = await run.events()
        said = "".join(event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT")
        assert said.split()[-1] == "19"
        assert events[-1]["type"] == "RUN_FINISHED"


async def test_a_log_that_begins_anew_empties_the_conversation_of_the_run_and_of_the_next() -> None:
    async with lives(MemoryJournal()) as (there, again):
        await there.append(BEGUN, text("Of before. "))
        run = await there.run()
        await run.until("STATE_SNAPSHOT")
        await there.hub.hub.stop()
        journal = MemoryJournal()
        await again(journal, TOKEN)
        await there.append(BEGUN, text("Of now.", "m2"), ENDED)
        assert (await run.until("MESSAGES_SNAPSHOT"))["messages"] == []
        events = await run.events()
        assert [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"] == ["Of now."]
        assert events[-1]["type"] == "RUN_FINISHED"
        await there.hub.hub.stop()
        await again(MemoryJournal(), TOKEN)
        await there.append(BEGUN, text("Of later.", "m3"), ENDED)
        (late,) = (await (await there.run()).until("MESSAGES_SNAPSHOT"))["messages"]
        assert late["content"] == "Of later."


async def test_a_hub_that_comes_back_with_another_token_ends_the_run_as_unauthorized() -> None:
    journal = MemoryJournal()
    async with lives(journal) as (there, again):
        await there.append(BEGUN)
        run = await there.run()
        await run.until("STATE_SNAPSHOT")
        await there.hub.hub.stop()
        await again(journal, "fedcba9876543210")
        last = (await run.events())[-1]
        assert (last["type"], last["code"]) == ("RUN_ERROR", "unauthorized")


def thread(name: str) -> Thread:
    return RunStore(1).claim(name)[0]


def test_of_the_conversations_between_runs_the_last_ones_are_kept() -> None:
    kept = RunStore(2)
    for name in ("a", "b", "c"):
        kept.put(name, thread(name), Cursor("life", 5))
    assert [kept.claim(name)[1] == BEGINNING for name in ("a", "b", "c")] == [True, False, False]


def test_a_run_that_has_read_less_does_not_replace_what_another_has_read() -> None:
    kept, far = RunStore(2), thread("s")
    kept.put("s", far, Cursor("life", 9))
    kept.put("s", thread("s"), Cursor("life", 5))
    assert kept.claim("s") == (far, Cursor("life", 9))
    kept.put("s", far, Cursor("life", 9))
    kept.put("s", thread("s"), Cursor("next life", 1))
    assert kept.claim("s")[1] == Cursor("next life", 1)


def test_which_messages_were_sent_is_forgotten_of_sessions_that_nobody_has_asked_for_since_long() -> None:
    kept = RunStore(1)
    kept.claim("first")
    prompts = kept.prompts("first")
    for number in range(15):
        kept.claim(f"s{number}")
    assert kept.prompts("first") is prompts
    for number in range(15, 18):
        kept.claim(f"s{number}")
    assert kept.prompts("first") is not prompts


async def test_a_prompt_that_was_refused_can_be_sent_again_but_not_one_of_which_nobody_knows() -> None:
    async def refused(_: AnyCommand) -> JsonValue:
        raise CommandRefused("limit_queue", "Too many prompts wait.")

    async with agui() as there:
        codes = []
        for handler in (refused, None, None):
            there.hub.host.handlers = {} if handler is None else {"prompt": handler}
            last = (await (await there.run(said="Hello")).events())[-1]
            codes.append(last.get("code"))
        assert codes == ["limit_queue", "connection_lost", None]
        assert [command.type for command, _ in there.hub.host.commands] == ["prompt", "prompt"]

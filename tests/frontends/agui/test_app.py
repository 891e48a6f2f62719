"""Runs over HTTP, against a hub on loopback whose sessions do what the test says."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from hub_harness import SESSION, StubHost
from hub_harness import hub_harness as stand_of
from pydantic import JsonValue, SecretStr

from agui_harness import AguiHarness, Answer, agui, input_of
from turnwire.frontends.agui.app import create_app
from turnwire.frontends.agui.runs import Limits
from turnwire.hub.config import HubConfig
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand, PermissionRespond, SessionCreate
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    MessageChunk,
    PermissionOption,
    PermissionRequest,
    PermissionResolved,
    TurnStarted,
    UserMessage,
)


def turn(
    *within: AgentEvent, number: int = 1, prompt: str = "p1", outcome: Any = "completed"
) -> list[AgentEvent]:
    operation = f"turn-{number}"
    return [
        TurnStarted(operation_id=operation, origin="user", prompts=[prompt]),
        *within,
        Complete(
            operation_id=operation,
            data=CompleteData(
                outcome=outcome, is_error=outcome not in {"completed", "interrupted"}, prompts=[prompt]
            ),
        ),
    ]


def text(words: str, message: str = "m1", **more: Any) -> MessageChunk:
    return MessageChunk(text=words, message_id=message, block_index=0, **more)


ASKS = PermissionRequest(
    pending_id="q1",
    tool_name="Bash",
    permission_title="Run ls",
    permission_options=[
        PermissionOption(option_id="allow_once", name="Allow", kind="allow_once"),
        PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
    ],
    action_type="command",
)


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events if event["type"] not in {"CUSTOM", "STATE_DELTA"}]


async def answering(hub_harness: AguiHarness, kind: str, *happened: AgentEvent) -> list[AnyCommand]:
    """Let events follow a command; return where the commands of that kind will be."""
    taken: list[AnyCommand] = []

    async def handler(command: AnyCommand) -> JsonValue:
        taken.append(command)
        await hub_harness.append(*happened)
        return {}

    hub_harness.hub.host.handlers[kind] = handler
    return taken


async def test_a_prompt_is_a_run_that_ends_with_its_turn() -> None:
    async with agui() as hub_harness:
        hub_harness.on_prompt(UserMessage(text="Hello", uuid="p1"), *turn(text("Hi.")))
        run = await hub_harness.run(said="Hello")
        assert (run.status, run.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        events = await run.events()
        assert types(events) == [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED",
        ]
        assert events[0]["protocolVersion"] == "1.0"
        assert events[-1]["outcome"] == {"type": "success"}
        assert events[-1]["result"]["outcome"] == "completed"


async def test_no_character_of_a_text_ends_a_line_of_the_stream() -> None:
    odd = "a\u2028b\u2029c\u0085d\u000be\u001cf\ng"
    async with agui() as hub_harness:
        hub_harness.on_prompt(*turn(text(odd)))
        run = await hub_harness.run(said="Hello")
        stream = b"".join([chunk async for chunk in run.chunks()]).decode()
    events = [json.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line]
    (said,) = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
    assert said == odd


async def test_a_run_waits_for_the_turn_of_its_own_prompt() -> None:
    async with agui() as hub_harness:
        await hub_harness.append(TurnStarted(operation_id="turn-1", origin="user", prompts=["other"]))
        hub_harness.on_prompt(
            Complete(
                operation_id="turn-1",
                data=CompleteData(outcome="completed", is_error=False, prompts=["other"]),
            ),
            *turn(text("Yours."), number=2, prompt="p1"),
        )
        events = await (await hub_harness.run(said="Mine")).events()
        assert [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"] == ["Yours."]


async def test_a_permission_ends_the_run_and_its_answer_goes_on_with_the_turn() -> None:
    async with agui() as hub_harness:
        begun = turn(text("I ask."))[:-1]
        hub_harness.on_prompt(*begun, ASKS)
        first = (await (await hub_harness.run(said="Do it")).events())[-1]
        assert first["outcome"]["type"] == "interrupt"
        assert [interrupt["id"] for interrupt in first["outcome"]["interrupts"]] == ["q1"]
        resolved = PermissionResolved(pending_id="q1", behavior="allow", option_id="allow_once")
        taken = await answering(hub_harness, "permission.respond", resolved, text("Done.", "m2"), turn()[-1])
        resume = [{"interruptId": "q1", "status": "resolved", "payload": {"option_id": "allow_once"}}]
        second = await (await hub_harness.run(resume=resume, runId="r2")).events()
        assert [event["delta"] for event in second if event["type"] == "TEXT_MESSAGE_CONTENT"] == ["Done."]
        assert second[-1]["outcome"] == {"type": "success"}
        assert [command.option_id for command in taken if isinstance(command, PermissionRespond)] == [
            "allow_once"
        ]


async def test_calls_side_by_side_ask_in_one_interrupt() -> None:
    async with agui() as hub_harness:
        other = PermissionRequest(
            pending_id="q2",
            permission_title="Run pwd",
            permission_options=ASKS.permission_options,
            action_type="command",
        )
        hub_harness.on_prompt(*turn()[:-1], ASKS, other)
        last = (await (await hub_harness.run(said="Do both")).events())[-1]
        assert [interrupt["id"] for interrupt in last["outcome"]["interrupts"]] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"interruptId": "nobody", "status": "resolved", "payload": True}, "unknown_request"),
        ({"interruptId": "q1", "status": "resolved", "payload": {"option_id": "all"}}, "invalid_answer"),
        (
            {"interruptId": "q1", "status": "resolved", "payload": {"option_id": "allow_once", "x": 1}},
            "invalid_answer",
        ),
        ({"interruptId": "q1", "status": "resolved", "payload": [1]}, "invalid_answer"),
        (
            {"interruptId": "q1", "status": "resolved", "payload": {"option_id": "allow_once", "message": 4}},
            "invalid_answer",
        ),
    ],
)
async def test_an_answer_that_does_not_fit_ends_the_run_and_the_request_still_waits(
    entry: dict[str, Any], code: str
) -> None:
    async with agui() as hub_harness:
        await hub_harness.append(*turn()[:-1], ASKS)
        events = await (await hub_harness.run(resume=[entry])).events()
        assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", code)
        assert hub_harness.hub.host.commands == []
        assert (await (await hub_harness.run()).events())[-1]["outcome"]["type"] == "interrupt"


async def test_who_may_only_view_decides_nothing() -> None:
    async with agui() as hub_harness:
        await hub_harness.append(*turn()[:-1], ASKS)
        answer = input_of(resume=[{"interruptId": "q1", "status": "resolved", "payload": True}])
        view = hub_harness.hub.hub.tokens.view
        run = await hub_harness.call(f"/agui/{SESSION}", answer, token=view)
        last = (await run.events())[-1]
        assert (last["type"], last["code"]) == ("RUN_ERROR", "forbidden")
        stop = await hub_harness.call(f"/agui/{SESSION}/interrupt", b"", token=view)
        assert await refused(stop) == (403, "forbidden")
        assert hub_harness.hub.host.commands == []


async def test_an_answer_that_comes_too_late_is_passed_over() -> None:
    async with agui() as hub_harness:
        await hub_harness.append(*turn()[:-1], ASKS)

        async def late(command: AnyCommand) -> JsonValue:
            await hub_harness.append(
                PermissionResolved(pending_id="q1", behavior="allow", by="console"), turn()[-1]
            )
            raise CommandRefused("already_answered", "Somebody was first.")

        hub_harness.hub.host.handlers["permission.respond"] = late
        events = await (
            await hub_harness.run(resume=[{"interruptId": "q1", "status": "resolved", "payload": True}])
        ).events()
        ignored = [event["value"] for event in events if event.get("name") == "turnwire.resume_ignored"]
        assert ignored == [
            {"interruptId": "q1", "code": "already_answered", "message": "Somebody was first."}
        ]
        assert events[-1]["outcome"] == {"type": "success"}
        again = [{"interruptId": "q1", "status": "resolved", "payload": True}]
        assert (await (await hub_harness.run(resume=again)).events())[-1]["outcome"] == {"type": "success"}


async def test_who_comes_later_sees_what_was_and_goes_on_with_what_comes() -> None:
    async with agui() as hub_harness:
        await hub_harness.append(
            UserMessage(text="Hello", uuid="p1"),
            TurnStarted(operation_id="turn-1", origin="user", prompts=["p1"]),
            text("Hi the", is_delta=True),
        )
        run = await hub_harness.run()
        snapshot = await run.until("MESSAGES_SNAPSHOT")
        assert [(each["id"], each["content"]) for each in snapshot["messages"]] == [
            ("p1", "Hello"),
            ("m1.0", "Hi the"),
        ]
        assert (await run.until("STATE_SNAPSHOT"))["snapshot"]["turnwire"]["turn"] == "turn-1"
        await hub_harness.append(text("re."), turn()[-1])
        events = await run.events()
        assert types(events) == [
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED",
        ]
        assert events[1]["delta"] == "re."


async def test_a_client_that_comes_again_does_not_prompt_twice() -> None:
    async with agui() as hub_harness:
        hub_harness.on_prompt(*turn(text("Hi."))[:-1])
        run = await hub_harness.run(said="Hello")
        await run.until("TEXT_MESSAGE_CONTENT")
        run.gone.set()
        await run.calling
        again = await hub_harness.run(said="Hello", runId="r2")
        await again.until("STATE_SNAPSHOT")
        await hub_harness.append(turn()[-1])
        assert (await again.events())[-1]["type"] == "RUN_FINISHED"
        assert [command.type for command, _ in hub_harness.hub.host.commands].count("prompt") == 1


@pytest.mark.parametrize("stops", [False, True])
async def test_a_turn_goes_on_without_its_client_unless_it_shall_not(stops: bool) -> None:
    async with agui(interrupt_when_gone=stops) as hub_harness:
        hub_harness.on_prompt(*turn(text("Hi."))[:-1])
        run = await hub_harness.run(said="Hello")
        await run.until("TEXT_MESSAGE_CONTENT")
        run.gone.set()
        async with asyncio.timeout(60):
            await run.calling
        assert ("interrupt" in [command.type for command, _ in hub_harness.hub.host.commands]) is stops


async def test_two_runs_at_once_each_see_everything() -> None:
    async with agui() as hub_harness:
        prompts = iter(["p1", "p2"])

        async def prompted(_: AnyCommand) -> JsonValue:
            return {"prompt": next(prompts)}

        hub_harness.hub.host.handlers["prompt"] = prompted
        first = await hub_harness.run(said="One", message="u1")
        await first.until("STATE_SNAPSHOT")
        second = await hub_harness.run(said="Two", message="u2", runId="r2")
        await second.until("STATE_SNAPSHOT")
        while len(hub_harness.hub.host.commands) < 2:  # noqa: ASYNC110 - the host does not announce commands
            await asyncio.sleep(0.01)
        await hub_harness.append(
            *turn(text("1", "m1"), number=1, prompt="p1"), *turn(text("2", "m2"), number=2, prompt="p2")
        )
        both = [await first.events(), await second.events()]
        told = [
            [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"] for events in both
        ]
        assert told == [["1"], ["1", "2"]]


async def test_a_thread_gets_a_session_and_finds_it_again() -> None:
    host = StubHost([])
    async with agui(host=host) as hub_harness:

        async def create(command: AnyCommand) -> JsonValue:
            assert isinstance(command, SessionCreate)
            assert command.title == "AG-UI t1"
            made = SessionSummary(session=SESSION, title=command.title, state="idle", last_seq=0, pending=0)
            host.summaries = [made]
            host.changed()
            return {"session": SESSION}

        async def listed(_: AnyCommand) -> JsonValue:
            return [
                {"session": each.session, "title": each.title, "state": "idle", "last_seq": 0, "pending": 0}
                for each in host.summaries
            ]

        host.handlers |= {"session.create": create, "session.list": listed}
        hub_harness.on_prompt(*turn(text("Hi.")))
        for message in ("u1", "u2"):
            run = await hub_harness.call("/agui", input_of(said="Hello", message=message))
            assert (await run.events())[-1]["type"] == "RUN_FINISHED"
            assert run.status == 200
        assert [command.type for command, _ in host.commands].count("session.create") == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"{", ""),
        (b"[" * 5000, ""),
        ({}, "threadId"),
        (input_of(threadId=""), "threadId"),
        (input_of(threadId="a\nb"), "threadId"),
        (input_of(messages=[{"id": "u", "role": "user"}]), "messages.0.user.content"),
        (input_of(messages=[{"id": "u", "role": "hero", "content": ""}]), "messages.0"),
        (
            input_of(
                messages=[
                    {
                        "id": "u",
                        "role": "user",
                        "content": [{"type": "image", "source": {"type": "url", "value": "http://x/y.png"}}],
                    }
                ]
            ),
            "messages.0.content.0.source",
        ),
        (input_of(resume=[{"interruptId": "q", "status": "maybe"}]), "resume.0.status"),
    ],
)
async def test_an_input_that_is_none_is_refused_with_the_place(body: Any, field: str) -> None:
    async with agui() as hub_harness:
        answer = await hub_harness.call(f"/agui/{SESSION}", body)
        assert answer.status == 400
        error = (await answer.body())["error"]
        assert (error["code"], error.get("field", "")) == ("invalid_params", field)


async def refused(answer: Answer) -> tuple[int, str]:
    return answer.status, (await answer.body())["error"]["code"]


async def test_who_has_no_right_token_is_refused_before_the_body_is_read() -> None:
    async with agui() as hub_harness:
        for token in (None, "wrong-token-of-some-length"):
            answer = await hub_harness.call(f"/agui/{SESSION}", b"x" * 100_000, token=token)
            assert await refused(answer) == (401, "unauthorized")
            assert not answer.asked.is_set()


async def test_who_may_only_view_sees_but_does_not_prompt() -> None:
    async with agui() as hub_harness:
        await hub_harness.append(UserMessage(text="Hello", uuid="p1"))
        view = hub_harness.hub.hub.tokens.view
        look = await hub_harness.call(f"/agui/{SESSION}", input_of(), token=view)
        assert "MESSAGES_SNAPSHOT" in types(await look.events())
        prompt = await hub_harness.call(f"/agui/{SESSION}", input_of(said="Go"), token=view)
        last = (await prompt.events())[-1]
        assert (last["type"], last["code"]) == ("RUN_ERROR", "forbidden")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "evil.example"}, "host_not_allowed"),
        ({"host": "10.0.0.1"}, "host_not_allowed"),
        ({"host": "["}, "host_not_allowed"),
        ({"origin": "http://evil.example"}, "origin_not_allowed"),
        ({"origin": "null"}, "origin_not_allowed"),
    ],
)
async def test_foreign_pages_and_rebound_names_are_refused(headers: dict[str, str], code: str) -> None:
    async with agui() as hub_harness:
        answer = await hub_harness.call(f"/agui/{SESSION}", input_of(), headers=headers)
        assert await refused(answer) == (403, code)
        assert not any(name.startswith("access-control") for name in answer.headers)


async def test_cors_is_open_to_named_origins_alone() -> None:
    page = {"origin": "https://app.example", "access-control-request-method": "POST"}
    async with agui(allowed_origins=["https://app.example"]) as hub_harness:
        asked = await hub_harness.call(f"/agui/{SESSION}", b"", headers=page, method="OPTIONS", token=None)
        assert asked.headers["access-control-allow-origin"] == "https://app.example"
    async with agui() as hub_harness:
        asked = await hub_harness.call(f"/agui/{SESSION}", b"", headers={}, method="OPTIONS", token=None)
        assert (asked.status, [each for each in asked.headers if each.startswith("access-control")]) == (
            405,
            [],
        )


async def test_bodies_are_bounded_and_unknown_sessions_named() -> None:
    async with agui(Limits(body=1000)) as hub_harness:
        assert await refused(await hub_harness.call(f"/agui/{SESSION}", b" " * 2000)) == (413, "too_large")
        assert await refused(await hub_harness.call("/agui/nobody", input_of())) == (404, "unknown_session")


async def test_runs_are_bounded_in_number() -> None:
    async with agui(Limits(runs=1)) as hub_harness:
        hub_harness.on_prompt(*turn(text("Hi."))[:-1])
        run = await hub_harness.run(said="Hello")
        await run.until("TEXT_MESSAGE_CONTENT")
        assert await refused(await hub_harness.run(said="Hello")) == (503, "too_many_runs")
        await hub_harness.append(turn()[-1])
        await run.events()
        assert (await hub_harness.run()).status == 200


async def test_a_client_that_reads_slowly_holds_few_events_and_loses_none() -> None:
    count = 600
    async with agui(Limits(held=32)) as hub_harness:
        hub_harness.on_prompt(*turn()[:-1])
        body = input_of(said="Count")
        run = await hub_harness.call(f"/agui/{SESSION}", body, unread=1)
        await run.until("STATE_SNAPSHOT")
        for start in range(0, count, 100):
            await hub_harness.append(*[text(f"{start + number} ", is_delta=True) for number in range(100)])
        await hub_harness.append(turn()[-1])
        events = await run.events()
        assert events[-1]["type"] == "RUN_FINISHED", events[-1]
        told = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
        assert "".join(told) == "".join(f"{number} " for number in range(count))


async def test_a_huge_text_comes_in_pieces() -> None:
    huge = "é" * 300_000
    async with agui() as hub_harness:
        hub_harness.on_prompt(*turn(text(huge)))
        events = await (await hub_harness.run(said="Much")).events()
        pieces = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
        assert "".join(pieces) == huge
        assert max(map(len, pieces)) <= 64 * 1024


async def test_the_session_is_stopped_by_an_endpoint_of_its_own() -> None:
    async with agui() as hub_harness:
        answer = await hub_harness.call(f"/agui/{SESSION}/interrupt", b"")
        assert (answer.status, await answer.body()) == (200, {"ok": True})
        assert [command.type for command, _ in hub_harness.hub.host.commands] == ["interrupt"]


async def test_a_session_whose_cli_has_ended_is_resumed_by_a_prompt() -> None:
    async with agui() as hub_harness:
        running = False

        async def prompted(_: AnyCommand) -> JsonValue:
            if not running:
                raise CommandRefused("not_running", "No CLI runs.")
            await hub_harness.append(*turn(text("Back.")))
            return {"prompt": "p1"}

        async def resumed(_: AnyCommand) -> JsonValue:
            nonlocal running
            running = True
            return {"session": SESSION}

        hub_harness.hub.host.handlers |= {"prompt": prompted, "session.resume": resumed}
        assert (await (await hub_harness.run(said="Hello")).events())[-1]["type"] == "RUN_FINISHED"


async def test_a_hub_that_is_not_there_is_told_as_such() -> None:
    async with agui(Limits(connect_s=0.2)) as hub_harness:
        await hub_harness.hub.hub.stop()
        assert await refused(await hub_harness.run()) == (504, "hub_silent")


async def test_a_run_outlives_its_hub_and_misses_nothing() -> None:
    token = "0123456789abcdef"
    config = HubConfig(port=0, token=SecretStr(token))
    journal = MemoryJournal()
    async with AsyncExitStack() as lives:
        first = await lives.enter_async_context(stand_of(config, journal=journal))
        there = AguiHarness(create_app(first.base, limits=Limits()), first)
        await there.append(*turn(text("One. ", is_delta=True))[:-1])
        run = await there.run()
        assert (await run.until("MESSAGES_SNAPSHOT"))["messages"][0]["content"] == "One. "
        port = first.hub.port
        await first.hub.stop()
        await there.append(text("Two. ", is_delta=True))
        again = config.model_copy(update={"port": port})
        there.hub = await lives.enter_async_context(stand_of(again, journal=journal))
        await there.append(turn()[-1])
        events = await run.events()
        assert [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"] == ["Two. "]
        assert events[-1]["outcome"] == {"type": "success"}


async def test_a_session_that_is_deleted_ends_its_run() -> None:
    async with agui(Limits(ping_s=0.05)) as hub_harness:
        await hub_harness.append(*turn()[:-1])
        run = await hub_harness.run()
        await run.until("STATE_SNAPSHOT")
        hub_harness.hub.host.summaries = []
        hub_harness.hub.host.changed()
        last = (await run.events())[-1]
        assert (last["type"], last["code"]) == ("RUN_ERROR", "unknown_session")

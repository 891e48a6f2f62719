"""What an editor, an agent or another frontend may do to it: nothing is lost but what is wrong, and nobody waits for ever."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import acp
import pytest
from acp import schema
from acp.exceptions import RequestError
from hub_harness import SESSION, HubHarness, hub_harness
from pydantic import JsonValue, SecretStr

from acp_editor import FORMS, EditorHarness, editing, within
from turnwire.client import connect
from turnwire.client.backoff import Backoff
from turnwire.frontends.acp.json_rpc import MOST_LINE
from turnwire.hub.config import HubConfig
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.journal.base import Entry, Journal, Retention
from turnwire.journal.memory import MemoryJournal
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent, to_json
from turnwire.normalize.payloads import McpToolPayload
from turnwire.normalize.payloads.files import ContentPart
from turnwire.normalize.payloads.work import McpTool

TURN = "turn-1"


async def publish(hub: HubHarness, *events: AgentEvent | bytes) -> None:
    await hub.journal.append(
        SESSION, [Entry(event if isinstance(event, bytes) else to_json(event)) for event in events]
    )


def text(said: str) -> ev.MessageChunk:
    return ev.MessageChunk(operation_id=TURN, message_id="m", block_index=0, text=said, is_delta=True)


def complete(outcome: Any = "completed") -> ev.Complete:
    return ev.Complete(
        operation_id=TURN, data=ev.CompleteData(outcome=outcome, is_error=False, origin="user")
    )


def begun(*prompts: str) -> list[AgentEvent]:
    return [
        ev.TurnStarted(operation_id=TURN, origin="user", prompts=list(prompts)),
        *(ev.UserMessage(operation_id=TURN, text="Go on.", uuid=prompt) for prompt in prompts),
    ]


def permission(pending: str = "p-1") -> ev.PermissionRequest:
    return ev.PermissionRequest(
        operation_id=TURN,
        pending_id=pending,
        tool_call_id="t-1",
        permission_title="Run it",
        permission_options=[
            ev.PermissionOption(option_id="allow_once", name="Allow", kind="allow_once"),
            ev.PermissionOption(option_id="reject_once", name="Reject", kind="reject_once"),
        ],
        action_type="command",
    )


def serves_prompts(hub: HubHarness, *, events: Sequence[AgentEvent] | None = None) -> asyncio.Event:
    """Have the hub take prompts, named prompt-1, …; their turn begins before the hub answers. Returns what tells of one."""
    taken = asyncio.Event()
    names = iter(f"prompt-{number}" for number in range(1, 100))

    async def prompt(command: AnyCommand) -> JsonValue:
        name = next(names)
        await publish(hub, *(begun(name) if events is None else events))
        taken.set()
        return {"prompt": name}

    hub.host.handlers["prompt"] = prompt
    return taken


@asynccontextmanager
async def loaded(*, view: bool = False) -> AsyncIterator[tuple[HubHarness, EditorHarness]]:
    async with hub_harness() as hub:
        url = hub.hub.url(hub.hub.tokens.view) if view else hub.url
        async with connect(url) as client, editing(client) as harness:
            await harness.load(SESSION)
            yield hub, harness


def sent(hub: HubHarness) -> list[str]:
    return [command.type for command, _ in hub.host.commands]


async def errors(harness: EditorHarness, count: int) -> list[int]:
    def found() -> list[int]:
        return [line["error"]["code"] for line in harness.wire.lines if "error" in line]

    await harness.editor.until(lambda: len(found()) >= count)
    return found()


async def test_lines_that_are_none_are_refused_and_disturb_nothing_else() -> None:
    async with loaded() as (_, harness):
        for line in (
            b"garbage",
            b'{"jsonrpc": "2.0", "id": 7, "method": ',
            b"\xff\xfe",
            b"[" * 100_000,
            b"[1, 2]",
            b'"text"',
            b"7",
            b'{"jsonrpc": "2.0"}',
            b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "initialize"}',
            b'{"jsonrpc": "2.0", "id": "x", "method": 7}',
            b"",
            b"   ",
            b'{"jsonrpc": "2.0", "id": 4711, "result": {}}',
            b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "nowhere"}}',
            b'{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 99}}',
            b'{"jsonrpc": "2.0", "method": "unheard/of"}',
        ):
            harness.wire.write(line + b"\n")
        harness.wire.write(b"x" * (MOST_LINE + 1) + b"\n")
        codes = await errors(harness, 11)
        assert codes == [-32700] * 4 + [-32600] * 7
        listed = await within(harness.agent.list_sessions())
        assert [each.session_id for each in listed.sessions] == [SESSION]


async def test_calls_that_are_wrong_are_told_whose_fault_it_is() -> None:
    async with hub_harness() as hub, connect(hub.url) as client, editing(client) as harness:
        wrong: list[tuple[dict[str, Any], int, str]] = [
            ({"method": "session/list", "params": {}}, -32600, "initialize"),
            ({"method": "initialize", "params": {}}, -32602, "protocolVersion"),
            ({"method": "initialize", "params": {"protocolVersion": 0}}, 0, ""),
            ({"method": "session/steal", "params": {}}, -32601, "session/steal"),
            ({"method": "session/new", "params": {"cwd": "here", "mcpServers": []}}, -32602, "absolute"),
            (
                {"method": "session/new", "params": {"cwd": "/", "mcpServers": [{"name": "a"}]}},
                -32602,
                "mcpServers[0]",
            ),
            (
                {"method": "session/load", "params": {"cwd": "/", "sessionId": "s-9", "mcpServers": []}},
                -32002,
                "s-9",
            ),
            (
                {"method": "session/prompt", "params": {"sessionId": SESSION, "prompt": []}},
                -32002,
                "session/load",
            ),
            ({"method": "session/prompt", "params": None}, -32602, "session/prompt"),
            ({"method": "session/prompt", "params": [1]}, -32602, "session/prompt"),
        ]
        for number, (call, _, _) in enumerate(wrong):
            harness.wire.write(json.dumps({"jsonrpc": "2.0", "id": f"w{number}", **call}).encode() + b"\n")
        await harness.editor.until(lambda: len(harness.wire.lines) >= len(wrong))
        answers = {line["id"]: line for line in harness.wire.lines}
        for number, (call, code, words) in enumerate(wrong):
            answer = answers[f"w{number}"]
            if code == 0:
                assert answer["result"]["protocolVersion"] == 1
            else:
                assert answer["error"]["code"] == code, call
                assert words in answer["error"]["message"], call


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [{"type": "text", "text": "  "}],
        [{"type": "audio", "data": "", "mimeType": "audio/wav"}],
        [{"type": "hologram"}],
        ["text"],
        [{"type": "text", "text": "x" * (16 << 20)}],
    ],
    ids=["none", "blank", "audio", "unknown", "no block", "too large"],
)
async def test_a_prompt_that_cannot_be_sent_on_is_refused(blocks: list[Any]) -> None:
    async with loaded() as (hub, harness):
        call = {"method": "session/prompt", "params": {"sessionId": SESSION, "prompt": blocks}}
        harness.wire.write(json.dumps({"jsonrpc": "2.0", "id": "w", **call}).encode() + b"\n")
        assert await errors(harness, 1) == [-32602]
        assert "prompt" not in sent(hub)


async def test_a_prompt_carries_text_links_embedded_texts_and_images() -> None:
    async with loaded() as (hub, harness):
        taken = serves_prompts(hub)
        prompting = asyncio.create_task(
            harness.agent.prompt(
                session_id=SESSION,
                prompt=[
                    acp.text_block("Look at "),
                    acp.resource_link_block("app.py", "file:///src/my%20app.py"),
                    acp.text_block(" and"),
                    acp.resource_block(acp.embedded_text_resource("file:///src/b.py", "b = 1\n")),
                    acp.image_block("aGVsbG8=", "image/png"),
                ],
            )
        )
        await within(taken.wait())
        await publish(hub, complete())
        await within(prompting)
        ((command, _),) = [each for each in hub.host.commands if each[0].type == "prompt"]
        said = command.model_dump()
        assert said["text"] == (
            'Look at [@app.py](/src/my app.py) and[@b.py](/src/b.py)\n<context ref="file:///src/b.py">\nb = 1\n\n</context>'
        )
        assert [(each["base64"], each["media_type"]) for each in said["attachments"]] == [
            ("aGVsbG8=", "image/png")
        ]


async def test_huge_texts_late_pieces_and_unknown_events_come_through() -> None:
    huge = "ä" * (4 << 20)
    async with loaded() as (hub, harness):
        taken = serves_prompts(hub)
        prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
        await within(taken.wait())
        await publish(
            hub,
            text(huge),
            b'{"type":"hologram","depth":3}',
            b'{"type":"tool_call","tool_call_id":7}',
            ev.Unknown(message_type="x", raw="{}"),
            ev.Malformed(reason="garbage", raw="{", size=1),
            ev.ToolUpdate(operation_id=TURN, tool_call_id="never begun", tool_status="error", error="gone"),
            complete(),
            text(" late"),
            ev.Error(operation_id=TURN, error="too late"),
        )
        assert (await within(prompting)).stop_reason == "end_turn"
        await harness.editor.until(lambda: harness.editor.text().endswith(" late"))
        assert harness.editor.text() == f"{huge} late"
        assert harness.editor.calls() == {"never begun": "failed"}
        assert harness.editor.of("user_message_chunk") == []


async def test_what_is_larger_than_clients_read_is_told_without_its_content() -> None:
    image = ContentPart(type="image", media_type="image/png", base64="A" * (MOST_LINE // 3))
    output = McpToolPayload(
        mcp_tool=McpTool(server="s", tool="t", input={}, output=[image, image, image, image])
    )
    async with loaded() as (hub, harness):
        await publish(
            hub,
            ev.ToolCall(
                tool_call_id="t", tool_name="t", tool_title="T", tool_status="running", normalized=output
            ),
            ev.ToolUpdate(tool_call_id="t", tool_status="complete"),
        )
        await harness.editor.until(lambda: harness.editor.calls() == {"t": "completed"})
        assert [set(update) for update in harness.editor.of("tool_call")] == [
            {"sessionUpdate", "toolCallId", "title", "kind", "status"}
        ]


async def test_a_correction_adds_what_is_new_or_says_all_of_it_once_more() -> None:
    def block(said: str, index: int, *, replace: bool = True) -> ev.MessageChunk:
        return ev.MessageChunk(message_id="m", block_index=index, text=said, replace=replace or None)

    async with loaded() as (hub, harness):
        await publish(
            hub,
            block("Hel", 0, replace=False),
            block("Hello", 0),
            block("Hello", 0),
            block("Good", 1, replace=False),
            block("Bad", 1),
            ev.Retraction(message_ids=["m"]),
        )
        await harness.editor.until(lambda: bool(harness.editor.of("agent_thought_chunk")))
        said = [
            (update["content"]["text"], "replaces" in update.get("_meta", {}).get("turnwire", {}))
            for update in harness.editor.of("agent_message_chunk")
        ]
        assert said == [("Hel", False), ("lo", False), ("Good", False), ("Bad", True)]


async def test_an_editor_that_never_answers_does_not_hold_up_the_others() -> None:
    async with loaded() as (hub, harness):
        taken = serves_prompts(hub)
        prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
        await within(taken.wait())
        await publish(hub, permission())
        await harness.editor.next_asked()
        await publish(
            hub,
            ev.PermissionResolved(operation_id=TURN, pending_id="p-1", behavior="allow", by="somebody"),
            text("Done."),
            complete(),
        )
        assert (await within(prompting)).stop_reason == "end_turn"
        assert len(harness.editor.taken_back) == 1
        assert "permission.respond" not in sent(hub)


async def test_an_answer_at_the_same_moment_as_anothers_is_of_no_consequence() -> None:
    async with loaded() as (hub, harness):

        async def too_late(command: AnyCommand) -> JsonValue:
            await publish(
                hub, ev.PermissionResolved(pending_id="p-1", behavior="deny"), text("on"), complete()
            )
            raise CommandRefused("already_answered", "somebody was faster", "pending_id")

        hub.host.handlers["permission.respond"] = too_late
        taken = serves_prompts(hub)
        prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
        await within(taken.wait())
        await publish(hub, permission())
        (await harness.editor.next_asked()).choose("allow_once")
        assert (await within(prompting)).stop_reason == "end_turn"
        assert harness.editor.taken_back == []


@pytest.mark.parametrize(
    "answer",
    [
        {"result": None},
        {"result": {"outcome": {"outcome": "selected", "optionId": "all of them"}}},
        {"result": {"outcome": "cancelled"}},
        {"error": {"code": -32601, "message": "what?"}},
        {"error": 7},
    ],
)
async def test_a_wrong_answer_leaves_the_request_to_others(answer: dict[str, Any]) -> None:
    async with loaded() as (hub, harness):
        await publish(hub, permission())
        await harness.editor.next_asked()
        (request,) = [
            line for line in harness.wire.lines if line.get("method") == "session/request_permission"
        ]
        harness.wire.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode() + b"\n")
        await within(harness.agent.list_sessions())
        assert not {"permission.respond", "interrupt"} & set(sent(hub))
        await publish(hub, text("on"))
        await harness.editor.until(lambda: harness.editor.text() == "on")


async def test_an_editor_that_goes_leaves_the_turn_and_its_question_alone() -> None:
    async with hub_harness() as hub:
        async with connect(hub.url) as client, editing(client) as harness:
            await harness.load(SESSION)
            taken = serves_prompts(hub)
            prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
            await within(taken.wait())
            await publish(hub, permission())
            await harness.editor.next_asked()
        prompting.cancel()
        await asyncio.gather(prompting, return_exceptions=True)
        assert set(sent(hub)) <= {"prompt", "session.list", "subscribe", "unsubscribe"}


async def test_a_slow_editor_is_written_to_as_slowly_and_misses_nothing() -> None:
    async with loaded() as (hub, harness):
        harness.wire.stop_reading()
        seen = len(harness.wire.lines)
        for first in range(0, 10_000, 500):
            await publish(hub, *(text(f"{number} ") for number in range(first, first + 500)))
        assert len(harness.wire.lines) <= seen + 1
        harness.wire.go_on_reading()
        await harness.editor.until(lambda: harness.editor.text().endswith("9999 "))
        assert harness.editor.text() == "".join(f"{number} " for number in range(10_000))


async def test_who_may_only_watch_is_shown_all_and_asked_nothing() -> None:
    async with loaded(view=True) as (hub, harness):
        await publish(hub, permission(), text("seen"))
        await harness.editor.until(lambda: harness.editor.text() == "seen")
        assert harness.editor.asked.empty()
        with pytest.raises(RequestError, match="view"):
            await harness.prompt(SESSION, "Go on.")


async def test_a_prompt_that_waits_is_answered_by_the_turn_it_joins() -> None:
    async with loaded() as (hub, harness):
        queued = [ev.Queued(operation_id=TURN, position=1, prompt="prompt-1")]
        taken = serves_prompts(hub, events=queued)
        await publish(hub, *begun("another"))
        prompting = asyncio.create_task(harness.prompt(SESSION, "And this."))
        await within(taken.wait())
        await harness.editor.until(lambda: bool(harness.editor.of("user_message_chunk")))
        await publish(hub, ev.Injected(operation_id=TURN, message_count=1, prompts=["prompt-1"]), complete())
        assert (await within(prompting)).stop_reason == "end_turn"


@pytest.mark.parametrize("ended", ["refused", "withdrawn", "error"])
async def test_a_cancelled_prompt_is_answered_so_however_it_ended(ended: str) -> None:
    async with loaded() as (hub, harness):

        async def interrupt(command: AnyCommand) -> JsonValue:
            if ended == "refused":
                raise CommandRefused("not_running", "no CLI runs", "session")
            if ended == "error":
                await publish(hub, complete("process_exited"))
            return {}

        async def withdraw(command: AnyCommand) -> JsonValue:
            await publish(hub, ev.Withdrawn(prompt="prompt-1"))
            return {"withdrawn": True}

        hub.host.handlers |= {"interrupt": interrupt, "prompt.withdraw": withdraw}
        taken = serves_prompts(hub, events=[ev.Queued(prompt="prompt-1")] if ended == "withdrawn" else None)
        prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
        await within(taken.wait())
        await publish(hub, text("begun"))
        await harness.editor.until(lambda: harness.editor.text() == "begun")
        await harness.agent.cancel(session_id=SESSION)
        assert (await within(prompting)).stop_reason == "cancelled"


async def test_the_end_of_a_session_answers_what_waits_for_it() -> None:
    async with loaded() as (hub, harness):
        taken = serves_prompts(hub)
        prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
        await within(taken.wait())
        await publish(hub, permission())
        await harness.editor.next_asked()
        await within(harness.agent.close_session(session_id=SESSION))
        assert (await within(prompting)).stop_reason == "cancelled"
        await harness.editor.until(lambda: len(harness.editor.taken_back) == 1)
        with pytest.raises(RequestError, match="session/load"):
            await harness.prompt(SESSION, "Still there?")


async def test_a_prompt_taken_back_by_its_request_is_interrupted() -> None:
    async with loaded() as (hub, harness):
        taken = serves_prompts(hub)
        call = {
            "method": "session/prompt",
            "params": {"sessionId": SESSION, "prompt": [{"type": "text", "text": "x"}]},
        }
        harness.wire.write(json.dumps({"jsonrpc": "2.0", "id": "p", **call}).encode() + b"\n")
        await within(taken.wait())
        await publish(hub, text("begun"))
        await harness.editor.until(lambda: harness.editor.text() == "begun")
        interrupted = asyncio.Event()

        async def interrupt(command: AnyCommand) -> JsonValue:
            interrupted.set()
            return {}

        hub.host.handlers["interrupt"] = interrupt
        back = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "p"}}
        harness.wire.write(json.dumps(back).encode() + b"\n")
        assert await errors(harness, 1) == [-32800]
        await within(interrupted.wait())


async def test_modes_models_forks_and_ends_are_the_hubs_commands() -> None:
    async with loaded() as (hub, harness):
        refusals = iter([True, False])

        async def set_mode(command: AnyCommand) -> JsonValue:
            if next(refusals, False):
                raise CommandRefused("not_running", "no CLI runs", "session")
            return None

        async def another(command: AnyCommand) -> JsonValue:
            return {"session": SESSION}

        async def none(command: AnyCommand) -> JsonValue:
            return None

        hub.host.handlers |= {"set_permission_mode": set_mode, "set_model": none}
        hub.host.handlers |= {"session.fork": another, "session.resume": another, "session.delete": none}
        await within(harness.agent.set_session_mode(session_id=SESSION, mode_id="plan"))
        assert sent(hub)[-3:] == ["set_permission_mode", "session.resume", "set_permission_mode"]
        await harness.editor.until(lambda: bool(harness.editor.of("current_mode_update")))
        assert harness.editor.of("current_mode_update")[-1]["currentModeId"] == "plan"
        changed = await within(
            harness.agent.set_config_option(session_id=SESSION, config_id="model", value="opus")
        )
        assert changed is not None
        assert [option.current_value for option in changed.config_options] == ["plan", "opus"]
        with pytest.raises(RequestError, match="config option"):
            await within(harness.agent.set_config_option(session_id=SESSION, config_id="colour", value="red"))
        forked = await within(harness.agent.fork_session(session_id=SESSION, cwd="/", mcp_servers=[]))
        assert forked.session_id == SESSION
        await within(harness.agent.resume_session(session_id=SESSION, cwd="/", mcp_servers=[]))
        delete = {"jsonrpc": "2.0", "id": "d", "method": "session/delete", "params": {"sessionId": SESSION}}
        harness.wire.write(json.dumps(delete).encode() + b"\n")
        await harness.editor.until(lambda: any(line.get("id") == "d" for line in harness.wire.lines))
        assert sent(hub)[-1] == "session.delete"
        with pytest.raises(RequestError, match="session/load"):
            await harness.prompt(SESSION, "Still there?")


async def test_an_editor_that_offers_more_than_it_can_is_asked_otherwise() -> None:
    async with hub_harness() as hub, connect(hub.url) as client, editing(client) as harness:
        await harness.load(SESSION, FORMS)
        schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
        harness.editor.cannot_fill = True
        await publish(
            hub,
            ev.QuestionRequest(
                pending_id="q-1", kind="elicitation", message="Sure?", requested_schema=schema
            ),
        )
        asked = await harness.editor.next_asked()
        assert asked.options == ["0", "1", "decline"]
        answered = asyncio.Event()

        async def answer(command: AnyCommand) -> JsonValue:
            answered.set()
            return None

        hub.host.handlers["question.answer"] = answer
        asked.choose("0")
        await within(answered.wait())
        ((command, _),) = [each for each in hub.host.commands if each[0].type == "question.answer"]
        assert command.model_dump()["content"] == {"sure": True}


async def test_the_past_is_joined_and_only_the_last_of_what_holds_for_a_time_is_sent() -> None:
    async with hub_harness() as hub, connect(hub.url) as client, editing(client) as harness:
        usage = [
            ev.ContextWindow(
                context_window_size=100,
                context_window_used=used,
                context_window_remaining=0,
                context_efficiency=0.0,
            )
            for used in range(50)
        ]
        unknown = ev.ContextWindow(context_window_used=50)  # which the protocol has no update for
        await publish(
            hub, *(event for used in [*usage, unknown, usage[-1]] for event in (text("a"), used)), text("b")
        )
        await harness.load(SESSION)
        await harness.editor.until(lambda: bool(harness.editor.of("usage_update")))
        assert [update["content"]["text"] for update in harness.editor.of("agent_message_chunk")] == [
            "a" * 52 + "b"
        ]
        assert [update["used"] for update in harness.editor.of("usage_update")] == [49]


async def test_a_session_is_begun_as_the_editor_wishes() -> None:
    async with hub_harness() as hub, connect(hub.url) as client, editing(client) as harness:

        async def create(command: AnyCommand) -> JsonValue:
            return {"session": SESSION}

        hub.host.handlers["session.create"] = create
        await harness.open()
        servers = [
            {"name": "a", "command": "/bin/a", "args": ["-x"], "env": [{"name": "K", "value": "v"}]},
            {"type": "http", "name": "b", "url": "http://b", "headers": [{"name": "H", "value": "v"}]},
        ]
        params = {
            "cwd": "/src",
            "mcpServers": servers,
            "additionalDirectories": ["/more"],
            "_meta": {"turnwire": {"agent": "codex"}},
        }
        call = {"jsonrpc": "2.0", "id": "n", "method": "session/new", "params": params}
        harness.wire.write(json.dumps(call).encode() + b"\n")
        await harness.editor.until(lambda: any(line.get("id") == "n" for line in harness.wire.lines))
        ((command, _),) = [each for each in hub.host.commands if each[0].type == "session.create"]
        asked = command.model_dump(exclude_none=True)
        assert asked["workspace"] == "/src"
        assert asked["agent"] == "codex"
        assert asked["options"]["add_dirs"] == ["/more"]
        assert asked["mcp_servers"] == {
            "a": {"command": "/bin/a", "args": ["-x"], "env": {"K": "v"}},
            "b": {"type": "http", "url": "http://b", "headers": {"H": "v"}},
        }


@asynccontextmanager
async def lives(
    journal: Journal,
) -> AsyncIterator[tuple[EditorHarness, HubHarness, Callable[[Journal], Any]]]:
    """An editor that has loaded a session of a hub which can be stopped, and started anew with a journal."""
    config = HubConfig(port=0, token=SecretStr("0123456789abcdef"))
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(hub_harness(config, journal=journal))
        port, url = hub.hub.port, hub.url

        async def again(journal: Journal) -> HubHarness:
            await hub.hub.stop()
            changed = config.model_copy(update={"port": port})
            return await stack.enter_async_context(hub_harness(changed, journal=journal))

        client = await stack.enter_async_context(connect(url, backoff=Backoff(first=0.01, most=0.05)))
        harness = await stack.enter_async_context(editing(client))
        await harness.load(SESSION)
        yield harness, hub, again


async def test_a_log_that_begins_anew_takes_back_what_was_asked_and_shows_what_is_new_alone() -> None:
    async with lives(MemoryJournal()) as (harness, hub, again):
        await publish(hub, *begun("p"), text("before "), permission())
        await harness.editor.next_asked()
        fresh = await again(MemoryJournal())
        await publish(fresh, *begun("q"), text("of the past "), complete())
        await harness.editor.until(lambda: len(harness.editor.taken_back) == 1)
        await harness.editor.until(lambda: "began anew" in harness.editor.text("agent_thought_chunk"))
        assert harness.editor.text() == "before "


async def test_events_that_are_kept_no_more_are_told_of() -> None:
    journal = MemoryJournal(Retention(max_count=5))
    async with lives(journal) as (harness, hub, again):
        await publish(hub, *begun("p"), text("before "))
        await harness.editor.until(lambda: harness.editor.text() == "before ")
        await hub.hub.stop()
        await publish(hub, *(text(f"{number} ") for number in range(20)))
        await again(journal)
        await harness.editor.until(lambda: harness.editor.text().endswith("19 "))
        assert "Events 4 to 18 are kept no more." in harness.editor.text("agent_thought_chunk")


async def test_a_session_that_cannot_be_followed_is_an_answer_to_who_loads_it() -> None:
    async with hub_harness() as hub, connect(hub.url) as client, editing(client) as harness:
        await harness.open()
        loading = harness.agent.load_session(cwd="/", session_id="nowhere", mcp_servers=[])
        with pytest.raises(RequestError, match="nowhere"):
            await within(loading)


async def test_a_prompt_of_a_session_whose_hub_has_gone_for_good_is_answered_with_an_error() -> None:
    async with hub_harness() as hub, connect(hub.url) as client, editing(client) as harness:
        await harness.load(SESSION)
        taken = serves_prompts(hub)
        prompting = asyncio.create_task(harness.prompt(SESSION, "Go on."))
        await within(taken.wait())
        await publish(hub, permission())
        await harness.editor.next_asked()
        client.close()
        with pytest.raises(RequestError, match="cannot be followed"):
            await within(prompting)
        await harness.editor.until(lambda: len(harness.editor.taken_back) == 1)


def test_the_official_models_know_the_stop_reasons_that_are_used() -> None:
    reasons = schema.PromptResponse.model_fields["stop_reason"].annotation
    assert "max_turn_requests" in str(reasons)

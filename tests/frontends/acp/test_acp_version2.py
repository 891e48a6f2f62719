"""ACP 2 for editors: what is told is told in its words, a prompt is answered when it is read, and the past is no news."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import jsonschema
import msgspec
import pytest
from hub_harness import SESSION, HubHarness, hub_harness
from pydantic import JsonValue

from acp_editor import within
from acp_updates import GOLDENS, read
from recordings import ROOT
from turnwire.client import connect
from turnwire.client import events as ev
from turnwire.client.payloads import (
    ContentPart,
    ModifyFile,
    Mutation,
    ShellExec,
    ShellExecPayload,
    ShellOutput,
)
from turnwire.frontends.acp.agent import HubStarter, serve
from turnwire.frontends.acp.encoder import Encoder
from turnwire.frontends.acp.version2 import Activity, Updates, patches, permission
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.journal.base import Entry
from turnwire_process import DEADLINE

Json = dict[str, Any]

KINDS = {
    "user_message": "UserMessage",
    "agent_message": "AgentMessage",
    "agent_thought": "AgentThought",
    "agent_message_chunk": "ContentChunk",
    "agent_thought_chunk": "ContentChunk",
    "tool_call_update": "ToolCallUpdate",
    "terminal_update": "TerminalUpdate",
    "plan_update": "PlanUpdate",
    "available_commands_update": "AvailableCommandsUpdate",
    "config_option_update": "ConfigOptionUpdate",
    "session_info_update": "SessionInfoUpdate",
    "usage_update": "UsageUpdate",
    "notice": "Notice",
    "compaction_update": "CompactionUpdate",
    "state_update": "StateUpdate",
}
"""Updates that turnwire sends, and what the schema calls them."""


def told(*events: ev.AgentEvent, past: bool = False) -> list[Json]:
    encoder, updates = Encoder(cwd="/p", version=2, shows_terminals=True), Updates()
    return [one for event in events for one in updates.of(encoder.handle(event), past=past)]


@pytest.mark.node
@pytest.mark.long
def test_the_official_schema_takes_every_update_of_recordings() -> None:
    folder = ROOT / "node_modules" / "@agentclientprotocol" / "sdk" / "schema" / "v2"
    schema = json.loads((folder / "schema.json").read_text())
    checks = {
        kind: jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})
        for kind, name in KINDS.items()
    }
    seen: set[str] = set()
    for golden in GOLDENS[::6]:
        encoder = Encoder(cwd="/workspace/project", shows_terminals=True, version=2)
        updates, activity = Updates(), Activity()
        for event in read(golden):
            for update in [*updates.of(encoder.handle(event)), *activity.handle(event)]:
                seen.add(update["sessionUpdate"])
                checks[update["sessionUpdate"]].validate(update)
    assert seen >= KINDS.keys() - {"agent_message", "agent_thought", "session_info_update"}


def test_a_message_of_several_blocks_is_several_messages_each_corrected_alone() -> None:
    def block(said: str, index: int, *, replace: bool = False) -> ev.MessageChunk:
        return ev.MessageChunk(message_id="m", block_index=index, text=said, replace=replace or None)

    updates = told(block("Good", 0), block("Bad", 1), block("Best", 1, replace=True))
    assert [(each["sessionUpdate"], each["messageId"]) for each in updates] == [
        ("agent_message_chunk", "m"),
        ("agent_message_chunk", "m/1"),
        ("agent_message", "m/1"),
    ]
    assert updates[-1]["content"] == [{"type": "text", "text": "Best"}]


def test_a_thought_is_a_message_of_its_own_and_pieces_without_an_id_get_one() -> None:
    updates = told(
        ev.Reasoning(message_id="m", block_index=0, reasoning_text="Hm."),
        ev.MessageChunk(message_id="m", text="A"),
        ev.MessageChunk(text="b"),
        ev.MessageChunk(text="c"),
        ev.Reasoning(reasoning_text="d"),
    )
    names = [each["messageId"] for each in updates]
    assert names == ["m/thought", "m", "message-1", "message-1", "message-2"]


def test_what_is_no_conversation_is_a_notice_while_it_is_news_and_a_thought_of_the_past() -> None:
    failed = ev.Error(error="It broke.", code="x")
    (notice,) = told(failed)
    assert (notice["sessionUpdate"], notice["severity"], notice["title"]) == ("notice", "error", "It broke.")
    (thought,) = told(failed, past=True)
    assert thought["sessionUpdate"] == "agent_thought_chunk"
    (compacted,) = told(ev.CompactBoundary(pre_tokens=9))
    assert (compacted["sessionUpdate"], compacted["status"]) == ("compaction_update", "completed")


def test_a_prompt_of_several_parts_is_one_message() -> None:
    said = ev.UserMessage(
        text="Look", uuid="u", parts=[ContentPart(type="image", base64="QQ==", media_type="image/png")]
    )
    (update,) = told(said)
    assert update["messageId"] == "u"
    assert [each["type"] for each in update["content"]] == ["text", "image"]


def test_a_command_shows_in_a_terminal_of_the_agent() -> None:
    def payload(output: ShellOutput | None) -> ShellExecPayload:
        return ShellExecPayload(shell_exec=ShellExec(command="ls", work_dir="/p", output=output))

    begun, call, ended, done = told(
        ev.ToolCall(
            tool_call_id="t",
            tool_name="Bash",
            tool_title="ls",
            tool_status="running",
            normalized=payload(None),
        ),
        ev.ToolUpdate(
            tool_call_id="t",
            tool_status="complete",
            normalized=payload(ShellOutput(stdout="a\n", exit_code=3)),
        ),
    )
    assert (begun["terminalId"], begun["command"], begun["cwd"]) == ("t", "ls", "/p")
    assert (call["sessionUpdate"], call["name"]) == ("tool_call_update", "Bash")
    assert base64.b64decode(ended["output"]["data"]) == b"a\n"
    assert ended["exitStatus"]["exitCode"] == 3
    assert done["content"] == [{"type": "terminal", "terminalId": "t"}]
    assert "terminal_output" not in done["_meta"]


def test_changes_of_a_call_are_a_patch_for_each_file() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -4,1 +4,1 @@\n-a\n+b\n"
    body = ModifyFile(
        file_path="x",
        mutations=[
            Mutation(type="edit", diff=diff),
            Mutation(type="create", file_path="new", content="one\ntwo"),
            Mutation(type="delete", file_path="gone", old_content="o\n"),
            Mutation(type="edit", file_path="odd", old_content="o", new_content="n"),
            Mutation(type="edit", file_path="unknown"),
        ],
    )
    shown = patches(body, lambda path: f"/p/{path}")
    assert [each["changes"][0]["operation"] for each in shown] == [
        "modify",
        "add",
        "delete",
        "modify",
        "modify",
    ]
    texts = [each.get("patch", {}).get("text", "").split("\n", 1)[-1] for each in shown]
    assert texts == [
        "--- /p/x\n+++ /p/x\n@@ -4,1 +4,1 @@\n-a\n+b\n",
        "--- /dev/null\n+++ /p/new\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n",
        "--- /p/gone\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-o\n",
        (
            "--- /p/odd\n+++ /p/odd\n@@ -1,1 +1,1 @@\n"
            "-o\n\\ No newline at end of file\n+n\n\\ No newline at end of file\n"
        ),
        "",
    ]


def test_a_question_asked_as_a_permission_is_about_no_call() -> None:
    call = {"toolCallId": "p", "title": "Which?", "content": [{"content": {"type": "text", "text": "- Red"}}]}
    assert permission({"toolCall": call, "options": []}) == {
        "title": "Which?",
        "description": "- Red",
        "options": [],
    }


class Wire:
    """An editor's end of a connection in this process: writes lines, and keeps those of the agent."""

    def __init__(self) -> None:
        self._to_agent: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._news = asyncio.Event()
        self._numbers = iter(range(1, 1000))
        self.lines: list[Json] = []

    async def chunks(self) -> AsyncIterator[bytes]:
        while (chunk := await self._to_agent.get()) is not None:
            yield chunk

    def add(self, lines: bytes) -> None:
        self.lines += map(json.loads, lines.splitlines())
        self._news.set()

    async def put(self, lines: bytes) -> None:
        self.add(lines)

    def end(self) -> None:
        self._to_agent.put_nowait(None)

    def say(self, method: str | None = None, *, to: int | None = None, **fields: Any) -> int:
        number = next(self._numbers) if to is None else to
        body = {"result": fields} if method is None else {"method": method, "params": fields}
        self._to_agent.put_nowait(json.dumps({"jsonrpc": "2.0", "id": number, **body}).encode() + b"\n")
        return number

    def notify(self, method: str, **params: Any) -> None:
        self._to_agent.put_nowait(json.dumps({"method": method, "params": params}).encode() + b"\n")

    def states(self) -> list[tuple[str, str | None]]:
        told = (line["params"]["update"] for line in self.lines if line.get("method") == "session/update")
        return [
            (each["state"], each.get("stopReason"))
            for each in told
            if each["sessionUpdate"] == "state_update"
        ]

    async def until(self, number: int) -> Json:
        """The answer to a request."""
        return await self._first(lambda line: line.get("id") == number and "method" not in line)

    async def asked(self) -> Json:
        """The first request of the agent."""
        return await self._first(lambda line: "id" in line and "method" in line)

    async def state(self, state: str) -> None:
        async with asyncio.timeout(DEADLINE):
            while not self.states() or self.states()[-1][0] != state:
                await self._more()

    async def _first(self, wanted: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(DEADLINE):
            while (found := next(filter(wanted, self.lines), None)) is None:
                await self._more()
        return found

    async def _more(self) -> None:
        self._news.clear()
        await self._news.wait()


@asynccontextmanager
async def resumed(*past: ev.AgentEvent, **params: Any) -> AsyncIterator[tuple[HubHarness, Wire]]:
    async with hub_harness() as hub, connect(hub.url) as client:
        await publish(hub, *past)
        wire = Wire()
        serving = asyncio.create_task(serve(client, wire.chunks(), wire, HubStarter(client), version="0"))
        try:
            hello = await wire.until(wire.say("initialize", protocolVersion=3))
            assert hello["result"]["protocolVersion"] == 2
            await wire.until(wire.say("session/resume", sessionId=SESSION, cwd="/", mcpServers=[], **params))
            yield hub, wire
        finally:
            wire.end()
            await within(serving)


async def publish(hub: HubHarness, *events: ev.AgentEvent) -> None:
    await hub.journal.append(SESSION, [Entry(msgspec.json.encode(event)) for event in events])


def started(*prompts: str) -> list[ev.AgentEvent]:
    return [
        ev.TurnStarted(operation_id="turn-1", origin="user", prompts=list(prompts)),
        *(ev.UserMessage(operation_id="turn-1", text="Go.", uuid=prompt) for prompt in prompts),
    ]


def complete(outcome: Any = "completed") -> ev.Complete:
    data = ev.CompleteData(outcome=outcome, is_error=False, origin="user", input_tokens=3, output_tokens=4)
    return ev.Complete(operation_id="turn-1", data=data)


ASKED = ev.PermissionRequest(
    operation_id="turn-1",
    pending_id="p-1",
    tool_call_id="t-1",
    permission_title="Run it",
    permission_options=[ev.PermissionOption(option_id="allow_once", name="Allow", kind="allow_once")],
    action_type="command",
)
GO: Json = {"prompt": [{"type": "text", "text": "Go."}]}


async def test_a_prompt_is_answered_when_it_is_read_and_states_tell_the_rest() -> None:
    async with resumed() as (hub, wire):
        waits = asyncio.Event()

        async def prompt(command: AnyCommand) -> JsonValue:
            waits.set()
            return {"prompt": "u-1"}

        hub.host.handlers["prompt"] = prompt
        number = wire.say("session/prompt", sessionId=SESSION, **GO)
        await within(waits.wait())
        await publish(hub, ev.Queued(prompt="u-1"))
        assert not [line for line in wire.lines if line.get("id") == number]
        await publish(hub, *started("u-1"))
        assert (await wire.until(number))["result"] == {"messageId": "u-1"}
        await publish(hub, ASKED)
        asked = await wire.asked()
        assert asked["params"]["subject"]["toolCall"]["toolCallId"] == "t-1"
        wire.say(to=asked["id"], outcome={"outcome": "selected", "optionId": "allow_once"})
        await publish(hub, ev.PermissionResolved(pending_id="p-1", behavior="allow"), complete())
        await wire.state("idle")
        assert wire.states() == [
            ("running", None),
            ("requires_action", None),
            ("running", None),
            ("idle", "end_turn"),
        ]
        idle = next(line["params"]["update"] for line in reversed(wire.lines) if "state" in str(line))
        assert idle["usage"] == {"totalTokens": 7, "inputTokens": 3, "outputTokens": 4}


async def test_a_prompt_whose_turn_began_before_the_hub_answered_is_answered_at_once() -> None:
    async with resumed() as (hub, wire):

        async def prompt(command: AnyCommand) -> JsonValue:
            await publish(hub, *started("u-1"), complete())
            return {"prompt": "u-1"}

        hub.host.handlers["prompt"] = prompt
        answer = await wire.until(wire.say("session/prompt", sessionId=SESSION, **GO))
        assert answer["result"] == {"messageId": "u-1"}
        await wire.state("idle")


async def test_a_prompt_that_is_taken_back_before_it_is_read_is_cancelled() -> None:
    async with resumed() as (hub, wire):
        came, taken = asyncio.Event(), asyncio.Event()

        async def prompt(command: AnyCommand) -> JsonValue:
            await publish(hub, ev.Queued(prompt="u-1"))
            came.set()
            return {"prompt": "u-1"}

        async def withdraw(command: AnyCommand) -> JsonValue:
            taken.set()
            await publish(hub, ev.Withdrawn(prompt="u-1"))
            return {"withdrawn": True}

        hub.host.handlers |= {"prompt": prompt, "prompt.withdraw": withdraw}
        number = wire.say("session/prompt", sessionId=SESSION, **GO)
        await within(came.wait())
        # what is said to others is shown once the hub has named the prompt
        await publish(hub, *started("u-0"), ASKED)
        await wire.state("requires_action")
        wire.notify("$/cancel_request", requestId=number)
        assert (await wire.until(number))["error"]["code"] == -32800
        await within(taken.wait())


async def test_cancelling_ends_the_turn_as_cancelled_however_it_comes_out() -> None:
    async with resumed(*started("u-0")) as (hub, wire):
        await wire.state("running")  # who resumes is told that work goes on
        interrupted = asyncio.Event()

        async def interrupt(command: AnyCommand) -> JsonValue:
            interrupted.set()
            raise CommandRefused("not_running", "it ended at the same moment")

        hub.host.handlers["interrupt"] = interrupt
        wire.notify("session/cancel", sessionId=SESSION)
        await within(interrupted.wait())
        await publish(hub, complete("error"))
        await wire.state("idle")
        assert wire.states()[-1] == ("idle", "cancelled")


async def test_a_past_is_told_without_news_and_version_1_alone_has_load_and_modes() -> None:
    past = (*started("u-0"), ev.MessageChunk(message_id="m", text="Hi."), complete())
    async with resumed(*past, replayFrom={"type": "start"}) as (_, wire):
        kinds = [line["params"]["update"]["sessionUpdate"] for line in wire.lines if "method" in line]
        assert kinds[:2] == ["user_message", "agent_message_chunk"]
        assert wire.states() == []
        for method in ("session/load", "session/set_mode"):
            refused = await wire.until(wire.say(method, sessionId=SESSION, cwd="/", modeId="plan"))
            assert refused["error"]["code"] == -32601


async def test_the_end_of_a_turn_that_failed_says_why() -> None:
    activity = Activity()
    (idle,) = activity.handle(complete("error"))
    assert (idle["stopReason"], idle["error"]["message"]) == ("error", "The turn ended: error.")
    assert activity.handle(ev.PermissionResolved(pending_id="p", behavior="deny")) == []
    assert activity.is_idle

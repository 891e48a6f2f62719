"""The MCP server, through the client of the official SDK: sessions, prompts, progress, questions, and what is refused."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp

from console_decisions import OPTIONS
from console_states import HubHarness, empty_hub, hub_harness, made, show
from turnwire.frontends.mcp.server import create_server, to_hub
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    MessageChunk,
    PermissionOption,
    PermissionRequest,
    QuestionRequest,
    ToolCall,
    TurnStarted,
    Withdrawn,
)
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec

ASKS = PermissionRequest(
    pending_id="p1", permission_title="rm -rf build", permission_options=OPTIONS, action_type="command"
)
SAID: list[AgentEvent] = [
    TurnStarted(operation_id="turn-1", origin="user", prompts=["u1"]),
    MessageChunk(text="All ", message_id="m1", block_index=0, is_delta=True),
    MessageChunk(text="green", message_id="m1", block_index=0),
]
ENDED = Complete(
    operation_id="turn-1",
    data=CompleteData(outcome="completed", is_error=False, prompts=["u1"], cost_usd=0.5),
)


@asynccontextmanager
async def assistant(
    *, decides: bool = False, view: bool = False, then: list[AgentEvent] | None = None
) -> AsyncIterator[tuple[HubHarness, mcp.Client]]:
    """A client of the server, in front of a hub whose agent answers a prompt with these events."""
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([]))

        async def prompted(_: AnyCommand) -> dict[str, str]:
            await where.journal.append("one", made(then or []))
            return {"prompt": "u1"}

        where.host.handlers["prompt"] = prompted  # type: ignore[assignment]
        token = where.hub.tokens.view if view else where.token
        async with mcp.Client(create_server(to_hub(where.base, token), decides=decides)) as client:
            yield where, client


def words(result: Any) -> str:
    return str((result.content if hasattr(result, "content") else result.contents)[0].text)


def value(result: Any) -> Any:
    assert not result.is_error, result.content
    return json.loads(words(result))


def did(where: HubHarness, kind: str) -> list[tuple[Any, Any]]:
    return [(command, frontend) for command, frontend in where.host.commands if command.type == kind]


async def test_a_prompt_waits_for_its_turn_and_tells_what_came_of_it() -> None:
    async with assistant(then=[*SAID, ENDED]) as (_, client):
        report = value(await client.call_tool("prompt", {"session": "one", "text": "Do they pass?"}))
        assert (report["state"], report["outcome"], report["text"], report["cost_usd"]) == (
            "ended", "completed", "All green", 0.5,
        )  # fmt: skip


async def test_a_permission_ends_the_waiting_and_is_a_humans_unless_the_operator_says_otherwise() -> None:
    async with assistant(then=[*SAID, ASKS]) as (where, client):
        assert "decide" not in {tool.name for tool in (await client.list_tools()).tools}
        report = value(await client.call_tool("prompt", {"session": "one", "text": "Clean up"}))
        assert report["state"] == "waiting"
        assert report["requests"][0]["title"] == "rm -rf build"
        assert not did(where, "permission.respond")
    async with assistant(decides=True, then=[*SAID, ASKS]) as (where, client):
        await client.call_tool("prompt", {"session": "one", "text": "Clean up"})
        await client.call_tool("decide", {"session": "one", "request": "p1", "option": "reject_once"})
        [(command, frontend)] = did(where, "permission.respond")
        assert command.option_id == "reject_once"
        assert "mcp" in frontend.name


async def test_the_time_that_is_up_leaves_the_turn_running() -> None:
    async with assistant(then=SAID) as (_, client):
        report = value(await client.call_tool("prompt", {"session": "one", "text": "x", "seconds": 0.2}))
        assert (report["state"], report["text"]) == ("running", "All green")


async def test_waiting_tells_of_a_turn_that_has_ended_or_asked_before() -> None:
    """A human may have answered, and the turn have ended, before the assistant waits again."""
    first = TurnStarted(operation_id="turn-0", origin="user", prompts=["u0"])
    for before, state, text, asked in [
        ([first, *SAID, ENDED], "ended", "All green", 0),
        ([first, ENDED, *SAID, ASKS], "waiting", "All green", 1),
        ([first, ENDED, *SAID], "running", "All green", 0),
    ]:
        async with assistant() as (where, client):
            await where.journal.append("one", made(before))
            report = value(await client.call_tool("wait", {"session": "one", "seconds": 0.5}))
            assert (report["state"], report["text"], len(report["requests"])) == (state, text, asked)
    async with assistant() as (_, client):
        nothing = await client.call_tool("wait", {"session": "one"})
        assert "No turn has run in session 'one'" in words(nothing)


async def test_a_prompt_behind_a_request_that_waits_tells_what_waits() -> None:
    async with assistant() as (where, client):
        await where.journal.append("one", made([*SAID, ASKS]))
        report = value(await client.call_tool("prompt", {"session": "one", "text": "Never mind."}))
        assert (report["state"], [each["id"] for each in report["requests"]]) == ("waiting", ["p1"])


async def test_a_prompt_starts_an_agent_again_that_has_ended() -> None:
    async with assistant() as (where, client):
        running = False

        async def prompted(_: AnyCommand) -> Any:
            if not running:
                raise CommandRefused("not_running", "No CLI runs.")
            await where.journal.append("one", made([*SAID, ENDED]))
            return {"prompt": "u1"}

        async def resumed(_: AnyCommand) -> Any:
            nonlocal running
            running = True
            return {"session": "one"}

        where.host.handlers |= {"prompt": prompted, "session.resume": resumed}
        report = value(await client.call_tool("prompt", {"session": "one", "text": "Go on"}))
        assert (report["state"], report["text"]) == ("ended", "All green")

        async def busy(_: AnyCommand) -> Any:
            raise CommandRefused("limit_processes", "Too many agents run.")

        where.host.handlers["prompt"] = busy
        refused = await client.call_tool("prompt", {"session": "one", "text": "Go on"})
        assert (refused.is_error, "Too many agents run." in words(refused)) == (True, True)


async def test_several_choices_forms_and_declining_reach_the_agent() -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    form = QuestionRequest(
        pending_id="q1", kind="elicitation", message="Who?", mode="form", requested_schema=schema
    )
    link = QuestionRequest(
        pending_id="q2", kind="elicitation", message="Log in", mode="url", url="https://app.example/in"
    )
    async with assistant(then=[*SAID, form, link]) as (where, client):
        report = value(await client.call_tool("prompt", {"session": "one", "text": "Ask me"}))
        assert [each.get("schema") for each in report["requests"]] == [schema, None]
        assert report["requests"][1]["url"] == "https://app.example/in"
        for given in (
            {"answers": {"Which?": ["Blue", "Red"]}},
            {"content": {"name": "Ann"}},
            {"decline": True},
        ):
            value(await client.call_tool("answer_question", {"session": "one", "request": "q1", **given}))
        nothing = await client.call_tool("answer_question", {"session": "one", "request": "q1"})
        assert (nothing.is_error, "or decline" in words(nothing)) == (True, True)
        said = [command for command, _ in did(where, "question.answer")]
        assert [(one.action, one.answers, one.content) for one in said] == [
            ("accept", {"Which?": ["Blue", "Red"]}, None),
            ("accept", None, {"name": "Ann"}),
            ("decline", None, None),
        ]


async def test_a_prompt_that_another_frontend_takes_back_is_not_waited_for() -> None:
    async with assistant(then=[Withdrawn(prompt="u1")]) as (_, client):
        report = await client.call_tool("prompt", {"session": "one", "text": "x"})
        assert report.is_error
        assert "taken back" in words(report)


async def test_sessions_are_listed_started_and_interrupted() -> None:
    async with assistant() as (where, client):
        [listed] = (await client.call_tool("list_sessions", {})).structured_content["result"]
        assert listed["session"] == "one"

        async def created(_: AnyCommand) -> dict[str, str]:
            return {"session": "two"}

        where.host.handlers["session.create"] = created  # type: ignore[assignment]
        assert value(await client.call_tool("start_session", {"agent": "demo"})) == {"session": "two"}
        await client.call_tool("interrupt", {"session": "one"})
        await client.call_tool(
            "answer_question", {"session": "one", "request": "q1", "answers": {"Which?": "Blue"}}
        )
        assert {"session.create", "interrupt", "question.answer"} <= {
            one.type for one, _ in where.host.commands
        }


async def test_transcript_and_changes_are_resources() -> None:
    async with assistant() as (where, client):

        async def exported(_: AnyCommand) -> dict[str, str]:
            return {"name": "one.md", "content": "# One\u202e"}

        async def compared(_: AnyCommand) -> dict[str, Any]:
            return {"base": None, "files": [], "complete": True}

        where.host.handlers |= {"library.export": exported, "workspace.diff": compared}  # type: ignore[dict-item]
        told = await client.read_resource("turnwire://sessions/one/transcript")
        assert words(told).startswith("# One")
        told = await client.read_resource("turnwire://sessions/one/changes")
        assert json.loads(words(told))["complete"] is True


async def test_a_view_token_decides_and_prompts_nothing() -> None:
    async with assistant(decides=True, view=True) as (where, client):
        calls: list[tuple[str, dict[str, Any]]] = [
            ("prompt", {"session": "one", "text": "x"}),
            ("start_session", {}),
            ("interrupt", {"session": "one"}),
            ("decide", {"session": "one", "request": "p1", "option": "allow_once"}),
            ("answer_question", {"session": "one", "request": "q", "answers": {"a": "b"}}),
        ]
        for tool, given in calls:
            result = await client.call_tool(tool, given)
            assert result.is_error, tool
        assert not where.host.commands


async def test_what_is_wrong_is_told_in_words() -> None:
    async with assistant() as (_, client):
        unknown = await client.call_tool("prompt", {"session": "nine", "text": "x"})
        assert unknown.is_error
        assert "no session 'nine'" in words(unknown)
        late = await client.call_tool("wait", {"session": "one", "seconds": 1e9})
        assert late.is_error


async def test_what_hides_or_reorders_text_is_spelt_out() -> None:
    shell = ShellExecPayload(shell_exec=ShellExec(command="ls"))
    odd = "rm -rf \u202ecod.tnatropmi\u200b"
    asks = PermissionRequest(
        pending_id="p1", permission_title=odd, permission_options=[PermissionOption(option_id="a", name=odd, kind="allow_once")],
        action_type="command",
    )  # fmt: skip
    told: list[str] = []

    async def noted(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    called = ToolCall(
        tool_call_id="t", tool_name="Bash", tool_title=odd, tool_status="running", normalized=shell
    )
    async with assistant(then=[*SAID, called, asks]) as (_, client):
        given = {"session": "one", "text": "x"}
        result = await client.call_tool("prompt", given, progress_callback=noted)
        [request] = value(result)["requests"]
        spelt = "rm -rf ⟨U+202E⟩cod.tnatropmi⟨U+200B⟩"
        assert (request["title"], request["options"][0]["name"]) == (spelt, spelt)
        assert told == [spelt, f"It waits: {spelt}"]

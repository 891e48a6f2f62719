"""Sessions on the real CLI, offline: MCP servers, attachments, resume, steering, and the ends of things."""

import asyncio
import base64
import json
import sys
from pathlib import Path

import pytest
from session_harness import RealCliHarness, SessionHarness, always

from scripted_messages_api import hang, http_error, plan, text, thinking, tool_use
from turnwire.adapter.claude.session import ClaudeSession
from turnwire.adapter.mcp.mcp_host import HostedServer
from turnwire.adapter.options import CommandOptions
from turnwire.adapter.permissions.decisions import QuestionAnswer
from turnwire.adapter.process.identity import members
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.process.version import Version, parse_version
from turnwire.adapter.session.agent import AnswerRefused, RequestFailed
from turnwire.adapter.session.attachments import Attachment, AttachmentSettings
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import ContextWindow, MessageChunk, Reasoning, ToolCall, to_json
from turnwire.normalize.inputs import Ended
from turnwire.protocol.claude.messages import Assistant, User
from turnwire.protocol.claude.requests import AnyRequest, CanUseTool, Elicitation, McpMessage
from turnwire.protocol.claude.system import Init
from waiting import until

ROOT = Path(__file__).parents[3]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGM4ISeHFTEMLQkAkL9BAbKfPiIAAAAASUVORK5CYII="
)
CALC = HostedServer(
    command=(sys.executable, str(ROOT / "tests/support/agents/mcp_calc.py")), env={"PYTHONPATH": str(ROOT)}
)


ASKING = CommandOptions(
    mcp_servers={
        "calc": {
            "type": "stdio",
            "command": CALC.command[0],
            "args": [CALC.command[1]],
            "env": {"PYTHONPATH": str(ROOT)},
        }
    },
    allowed_tools=("mcp__calc__ask",),
)


def session_id(harness: SessionHarness) -> str:
    [*_, init] = [message for message in harness.messages if isinstance(message, Init)]
    assert init.session_id is not None
    return init.session_id


def last_said(harness: SessionHarness) -> str:
    """The uuid of the last thing that the assistant said."""
    [*_, message] = [message for message in harness.messages if isinstance(message, Assistant)]
    assert message.uuid is not None
    return message.uuid


def seen(cli_harness: RealCliHarness) -> str:
    """What the model was sent last."""
    return json.dumps(cli_harness.api.requests[-1]["messages"])


async def test_the_version_and_the_commands_are_known_before_the_first_prompt(
    cli_harness: RealCliHarness,
) -> None:
    async with cli_harness.harness() as harness:
        said = parse_version(harness.session.version or "")
        assert said is not None
        assert said >= Version(2, 1, 0)
        assert (await harness.session.initialized)["commands"]


# MCP


@pytest.mark.long
@pytest.mark.parametrize(
    "server", [HostedServer(entry_point="mcp_calc:server"), CALC], ids=["python", "bridged"]
)
async def test_a_tool_of_a_hosted_server_is_called(server: HostedServer, cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(always("allow_once"), hosted_servers={"calc": server}) as harness:
        await harness.turn(plan([tool_use("mcp__calc__add", a=2, b=3)], [text("Done.")]))
        assert "the sum is 5" in cli_harness.tool_results()[-1]
        assert [request.tool_name for _, request in harness.asked(CanUseTool)] == ["mcp__calc__add"]
        assert harness.asked(McpMessage)
        servers = (await harness.session.control({"subtype": "mcp_status"}))["mcpServers"]
        assert [(one["name"], one["status"]) for one in servers] == [("calc", "connected")]
        bridged = harness.session.identity
    assert members([bridged]) == []


@pytest.mark.long
async def test_a_server_of_the_configuration_that_asks_the_user_is_answered(
    cli_harness: RealCliHarness,
) -> None:
    asked: list[str] = []

    def answer(session: ClaudeSession, request_id: str, request: AnyRequest) -> None:
        match request:
            case Elicitation():
                asked.append(request.message)
                session.answer(request_id, QuestionAnswer(content={"name": "Ada"}), by="ada")
            case _:
                always("allow_once")(session, request_id, request)

    async with cli_harness.harness(answer, command=ASKING) as harness:
        await harness.turn(plan([tool_use("mcp__calc__ask")], [text("Done.")]))
    assert asked == ["What is your name?"]
    assert "Ada" in cli_harness.tool_results()[-1]


@pytest.mark.long
async def test_a_question_of_a_background_subagents_server_is_open_beyond_the_result(
    cli_harness: RealCliHarness,
) -> None:
    agent = tool_use(
        "Agent",
        description="Ask",
        prompt=plan([tool_use("mcp__calc__ask")], [text("Asked.")]),
        subagent_type="general-purpose",
        run_in_background=True,
    )
    async with cli_harness.harness(command=ASKING) as harness:
        await harness.session.prompt(plan([agent], [text("Back home.")]))
        await harness.until(lambda: harness.asked(Elicitation) and harness.results)
        [(request_id, _)] = harness.asked(Elicitation)
        assert told_of(harness, request_id) == ["question_request"]
        harness.session.answer(request_id, QuestionAnswer(content={"name": "Ada"}), by="ada")
        await harness.until(
            lambda: any("Ada" in str(one) for one in harness.messages if isinstance(one, User))
        )
        assert told_of(harness, request_id) == ["question_request", "permission_resolved"]


@pytest.mark.long
async def test_a_question_taken_back_by_an_interrupt_is_cancelled_and_takes_no_answer(
    cli_harness: RealCliHarness,
) -> None:
    async with cli_harness.harness(command=ASKING) as harness:
        await harness.session.prompt(plan([tool_use("mcp__calc__ask")], [text("Done.")]))
        await harness.until(lambda: harness.asked(Elicitation))
        [(request_id, _)] = harness.asked(Elicitation)
        await harness.session.interrupt()
        await harness.until(lambda: harness.results)
        sent = len(harness.sent)
        with pytest.raises(AnswerRefused) as refused:
            harness.session.answer(request_id, QuestionAnswer(content={"name": "Ada"}), by="ada")
        assert refused.value.code == "cancelled"
        assert told_of(harness, request_id) == ["question_request", "permission_cancelled"]
        assert len(harness.sent) == sent


def told_of(harness: SessionHarness, request_id: str) -> list[str]:
    """The kinds of the events about a request."""
    translator = ClaudeCore()
    events = [event for happened in harness.inputs for event in translator.handle(happened)]
    return [
        json.loads(to_json(event))["type"]
        for event in events
        if getattr(event, "pending_id", None) == request_id
    ]


# Attachments


@pytest.mark.long
async def test_an_image_reaches_the_model_as_an_image(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        await harness.session.prompt("What is this?", attachments=[Attachment(PNG, "a.png")])
        await harness.until(lambda: harness.results)
    assert '"type": "image"' in seen(cli_harness)
    assert "image/png" in seen(cli_harness)


@pytest.mark.long
async def test_a_file_is_saved_where_the_agent_can_read_it(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(attachments=AttachmentSettings(mode="files")) as harness:
        await harness.session.prompt(
            plan(
                [
                    tool_use(
                        "Read",
                        file_path=str(cli_harness.workspace / ".turnwire/attachments/session/001-n.txt"),
                    )
                ],
                [text("Read.")],
            ),
            attachments=[Attachment(b"the note says hello", "n.txt")],
        )
        await harness.until(lambda: harness.results)
        assert ".turnwire/attachments/session/001-n.txt" in cli_harness.api.prompts()[-1]
        assert "the note says hello" in cli_harness.tool_results()[-1]
        harness.session.remove_attachments()
    assert not (cli_harness.workspace / ".turnwire/attachments").exists()


# Resume


@pytest.mark.long
async def test_a_session_is_resumed_gone_back_in_and_forked(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        await harness.turn("Remember seven.")
        first, at = session_id(harness), last_said(harness)
        await harness.turn("Remember red.")
    async with cli_harness.harness(command=CommandOptions(resume=first)) as harness:
        await harness.turn("What do you remember?")
        assert "Remember seven." in seen(cli_harness)
        assert "Remember red." in seen(cli_harness)
        assert session_id(harness) == first
    async with cli_harness.harness(command=CommandOptions(resume=first, resume_at=at, fork=True)) as harness:
        await harness.turn("And now?")
        assert "Remember seven." in seen(cli_harness)
        assert "Remember red." not in seen(cli_harness)
        assert session_id(harness) != first
    async with cli_harness.harness(
        command=CommandOptions(resume="11111111-1111-4111-8111-111111111111")
    ) as harness:
        await harness.until(lambda: harness.ended)
        assert harness.ended is not None
        assert harness.ended.exit_code == 1


@pytest.mark.long
async def test_a_turn_that_failed_is_taken_back_and_tried_again(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        await harness.turn("Good.")
        first, at = session_id(harness), last_said(harness)
        cli_harness.api.queue([http_error(403, "permission_error", "not you")])
        assert (await harness.turn("Try.")).is_error
    async with cli_harness.harness(command=CommandOptions(resume=first, resume_at=at)) as harness:
        assert not (await harness.turn("Try.")).is_error
        assert seen(cli_harness).count('"Try.') == 1


# Subagents


@pytest.mark.long
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_what_a_subagent_says_is_told_once_and_below_its_call(
    cli_harness: RealCliHarness, background: bool
) -> None:
    work = plan(
        [thinking("Hm."), text("I look."), tool_use("Bash", command="echo seen", description="Look")],
        [text("I have looked.")],
    )
    agent = tool_use(
        "Agent",
        description="Look around",
        prompt=work,
        subagent_type="general-purpose",
        run_in_background=background,
    )
    async with cli_harness.harness(always("allow_once")) as harness:
        await harness.session.prompt(plan([text("I send somebody."), agent], [text("Back home.")]))
        await harness.until(
            lambda: (
                harness.results
                and any(
                    "I have looked." in str(message)
                    for message in harness.messages
                    if isinstance(message, Assistant) and message.parent_tool_use_id is not None
                )
            )
        )
        translator = ClaudeCore()
        events = [event for happened in harness.inputs for event in translator.handle(happened)]
    [call] = [e for e in events if isinstance(e, ToolCall) and e.tool_name == "Agent"]
    said: dict[str | None, str] = {}
    for event in events:
        if isinstance(event, MessageChunk):
            said[event.parent_tool_call_id] = said.get(event.parent_tool_call_id, "") + event.text
    assert said[call.tool_call_id] == "I look.I have looked."
    assert said[None].startswith("I send somebody.Back home.")
    assert set(said) == {None, call.tool_call_id}
    assert [(e.parent_tool_call_id, e.reasoning_text) for e in events if isinstance(e, Reasoning)] == [
        (call.tool_call_id, "Hm.")
    ]
    # each answer of the API fills 132 tokens, those of the subagent are not the main thread's
    assert {e.context_window_used for e in events if isinstance(e, ContextWindow)} == {132}


# Steering


@pytest.mark.long
async def test_a_prompt_that_waits_can_be_taken_back(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        cli_harness.api.queue([text("first"), hang()])
        await harness.session.prompt("one")
        await harness.until(
            lambda: any(getattr(message, "event", None) is not None for message in harness.messages)
        )
        uuid = await harness.session.prompt("two", priority="later")
        assert await harness.session.withdraw(uuid)
        assert not await harness.session.withdraw(uuid)
        await harness.session.interrupt()
        await harness.until(lambda: harness.results)
    assert "two" not in cli_harness.api.prompts()


@pytest.mark.long
async def test_a_prompt_for_now_interrupts_the_turn_and_is_answered(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        cli_harness.api.queue([text("slow"), hang()])
        await harness.session.prompt("one")
        await harness.until(
            lambda: any(getattr(message, "event", None) is not None for message in harness.messages)
        )
        await harness.session.prompt("two", priority="now")
        await harness.until(lambda: len(harness.results) == 2)
        assert harness.results[-1].text == "ok: two"
        assert [m.message.content for m in harness.sent if isinstance(m, User)] == ["one", "two"]


@pytest.mark.long
async def test_a_prompt_that_waits_has_its_turn_after_an_interrupt(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        await harness.session.prompt(plan([text("slow"), hang()]))
        await until(lambda: cli_harness.api.requests)
        await harness.session.prompt(plan([text("next"), hang()]))
        await harness.session.interrupt(escalate_after=3)
        assert harness.ended is None
        await until(lambda: len(cli_harness.api.requests) == 2)
        await harness.session.interrupt(escalate_after=60)
        await harness.until(lambda: len(harness.results) == 2)
        assert harness.ended is None


@pytest.mark.long
async def test_the_model_changes(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness() as harness:
        assert (await harness.session.set_model("claude-haiku-4-5"))["model"] == "claude-haiku-4-5"
        await harness.turn("Hello.")
        assert cli_harness.api.requests[-1]["model"].startswith("claude-haiku-4-5")
        with pytest.raises(RequestFailed, match="no_such_subtype"):
            await harness.session.control({"subtype": "no_such_subtype"})


# Ends


@pytest.mark.long
async def test_silence_of_the_api_is_told_and_ended_by_an_interrupt(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(stall_after=0.5) as harness:
        cli_harness.api.queue([text("half"), hang()])
        await harness.session.prompt("one")
        # one that is slow to begin is silent for so long before it has asked the API
        notices = cli_harness.notices
        await until(lambda: cli_harness.api.requests and notices and notices[-1].code == "stalled")
        await harness.session.interrupt(escalate_after=60)
        await harness.until(lambda: harness.results)
        assert harness.ended is None
        assert (await harness.turn("Still there?")).subtype == "success"


@pytest.mark.long
async def test_stopping_in_the_middle_of_a_command_leaves_no_process(cli_harness: RealCliHarness) -> None:
    async with cli_harness.harness(
        always("allow_once"), stop=StopDeadlines(interrupt=5, close=5, terminate=5)
    ) as harness:
        started = cli_harness.workspace / "started"
        await harness.session.prompt(
            plan([tool_use("Bash", command="touch started; sleep 600", description="Sleep")], [text("Done.")])
        )
        await until(started.exists)
        identity = harness.session.identity
        assert len(members([identity])) > 1
    assert members([identity]) == []
    assert harness.ended is not None
    assert harness.ended.reason == "stopped"


@pytest.mark.long
async def test_twenty_sessions_side_by_side_finish_their_turns(cli_harness: RealCliHarness) -> None:
    # twenty that end at once take longer for it than one that a user waits for
    patient = StopDeadlines(close=60)

    async def one(number: int) -> Ended | None:
        async with cli_harness.harness(stop=patient) as harness:
            result = await harness.turn(f"number {number}")
            assert result.text == f"ok: number {number}"
        return harness.ended

    ended = await asyncio.gather(*(one(number) for number in range(20)))
    assert all(end is not None and end.exit_code == 0 for end in ended)

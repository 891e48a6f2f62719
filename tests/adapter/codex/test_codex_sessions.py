"""Sessions with an app server that does what the real one seldom does; what it does always is in tests/e2e/test_codex.py."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recordings import ROOT
from turnwire.adapter.codex.opening import open_codex_session
from turnwire.adapter.codex.policies import PLAN, safety
from turnwire.adapter.codex.session import CodexSession
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.permissions.decisions import PermissionAnswer, QuestionAnswer
from turnwire.adapter.process.transport import ProcessGone
from turnwire.adapter.session.agent import RequestFailed, RequestTimeout
from turnwire.adapter.session.attachments import Attachment
from turnwire.adapter.session.notices import SessionNotice
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    Malformed,
    MessageChunk,
    Notice,
    PermissionRequest,
    PermissionResolved,
    ProcessStatus,
    QuestionRequest,
    Queued,
    TurnStarted,
    Unknown,
    UserMessage,
    Withdrawn,
)
from turnwire.normalize.families import new_core
from turnwire.normalize.inputs import SessionInput
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.codex.requests import Safety

SERVER = (sys.executable, "-S", str(ROOT / "tests" / "support" / "agents" / "app_server.py"))
E = TypeVar("E", bound=AgentEvent)
COMMAND = {
    "method": "item/commandExecution/requestApproval",
    "params": {"threadId": "THREAD", "itemId": "c", "command": "ls"},
}
PNG = b"\x89PNG\r\n\x1a\n"


class Heard:
    """A session, and its events as they come."""

    def __init__(self, session: CodexSession, notices: list[SessionNotice]) -> None:
        self.session = session
        self.notices = notices
        self.inputs: list[SessionInput] = []
        self.events: list[AgentEvent] = []
        self._came = asyncio.Event()
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for batch in self.session.batches():
            self.inputs += [happened.input for happened in batch]
            self.events += [event for happened in batch for event in happened.events]
            self._came.set()
        self._came.set()

    def seen(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[E], count: int = 1) -> E:
        """Wait until there are so many events of a kind, and return the last."""
        async with asyncio.timeout(30):
            while len(found := self.seen(kind)) < count:
                assert not self.reading.done(), [event.type for event in self.events]
                self._came.clear()
                await self._came.wait()
        return found[count - 1]

    async def play(self, *steps: dict[str, Any], **more: Any) -> str:
        """Send a prompt whose turn plays these steps."""
        return await self.session.prompt(json.dumps(steps), **more)

    @property
    def said(self) -> list[Any]:
        """What the server has said, each a JSON text."""
        return [json.loads(chunk.text) for chunk in self.seen(MessageChunk)]


@asynccontextmanager
async def running(workspace: Path, *arguments: str, **given: Any) -> AsyncIterator[Heard]:
    command = CommandOptions(**given.pop("command", {}))
    options = SessionOptions(workspace=workspace, executable=(*SERVER, *arguments), command=command, **given)
    notices: list[SessionNotice] = []
    async with open_codex_session(options, notify=notices.append) as session:
        heard = Heard(session, notices)
        yield heard
    await heard.reading


async def test_what_nobody_knows_is_told_and_a_request_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.play(
            {"line": {"method": "weather/changed", "params": {"threadId": "THREAD"}}},
            {
                "line": {
                    "method": "turn/started",
                    "params": {"threadId": "THREAD", "turn": {"id": "TURN"}, "newField": {"a": [1]}},
                }
            },
            {"ask": {"method": "weather/ask", "params": {"threadId": "THREAD"}}},
            {"ask": {"method": "item/tool/call", "params": {"threadId": "THREAD"}}},
        )
        await heard.until(Complete)
    assert [event.message_type for event in heard.seen(Unknown)] == ["weather/changed", "weather/ask"]
    assert [answer["error"]["code"] for answer in heard.said] == [-32601, -32601]


@pytest.mark.parametrize(
    ("status", "outcome"), [("idle", "completed"), ("systemError", "error"), ("notLoaded", "completed")]
)
async def test_a_turn_whose_end_is_not_told_ends_by_what_the_thread_says_of_itself(
    tmp_path: Path, status: str, outcome: str
) -> None:
    async with running(tmp_path) as heard:
        heard.session.idle_patience = 0.05
        states = [{"type": "active", "activeFlags": []}, {"type": status}]
        told = [
            {"line": {"method": "thread/status/changed", "params": {"threadId": "THREAD", "status": one}}}
            for one in states
        ]
        await heard.play(*told, {"until": "never/said"})
        ended = await heard.until(Complete)
        assert ended.data.outcome == outcome
        await heard.play({"echo": True})
        await heard.until(Complete, 2)
    (notice,) = [event for event in heard.seen(Notice) if event.kind == "turn_end_missing"]
    assert notice.text == (
        f"Codex reports the status {status} and no end of the turn; turnwire has ended it after 50 ms."
    )
    core = new_core("codex-app-server")
    again = [event for item in heard.inputs for event in core.handle(item)]
    assert again == heard.events


async def test_an_idle_thread_whose_turn_goes_on_is_not_ended(tmp_path: Path) -> None:
    def status(kind: str) -> dict[str, Any]:
        params = {"threadId": "THREAD", "status": {"type": kind}}
        return {"line": {"method": "thread/status/changed", "params": params}}

    async with running(tmp_path) as heard:
        heard.session.idle_patience = 0.05
        await heard.play(status("idle"), status("active"), {"until": "never/said"}, {"end": "completed"})
        await asyncio.sleep(0)
        await heard.until(TurnStarted)
        await heard.session.control({"subtype": "never/said"})
        await heard.until(Complete)
    assert not [event for event in heard.seen(Notice) if event.kind == "turn_end_missing"]


async def test_a_request_too_long_or_too_deep_to_read_is_refused(tmp_path: Path) -> None:
    deep = {"method": "item/tool/requestUserInput", "params": json.loads("[" * 200 + "]" * 200)}
    async with running(tmp_path, line_limit=20_000) as heard:
        await heard.session.say(json.dumps([{"type": "text", "text": json.dumps([{"ask": deep}])}]).encode())
        await heard.until(Complete)
        await heard.session.say(
            json.dumps([{"type": "text", "text": json.dumps([{"large": 40_000}])}]).encode()
        )
        await heard.until(Complete, 2)
    assert len(heard.seen(Malformed)) == 2
    assert [answer["error"]["code"] for answer in heard.said] == [-32601, -32601]


async def test_a_server_that_ends_in_a_turn_ends_the_turn_and_what_waits(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.play({"until": "test/go"}, {"exit": 3})
        await heard.until(TurnStarted)
        waiting = await heard.play(priority="later")
        await heard.session.control({"subtype": "test/go"})
        done = await heard.until(Complete)
        assert (done.data.outcome, done.data.exit_code) == ("process_exited", 3)
        assert (await heard.until(Withdrawn)).prompt == waiting
        await heard.until(ProcessStatus)
        with pytest.raises(ProcessGone):
            await heard.play()


async def test_a_turn_that_is_refused_ends_in_an_error_and_the_next_one_runs(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        prompt = await heard.play({"refuse": "unexpected status 429 Too Many Requests: slow down"})
        done = await heard.until(Complete)
        assert (done.data.outcome, done.data.prompts, done.data.api_error_status) == ("error", [prompt], 429)
        await heard.play({"echo": True})
        assert (await heard.until(Complete, 2)).data.outcome == "completed"
    assert len(heard.seen(UserMessage)) == 2


async def test_an_interrupt_that_comes_before_the_turn_has_a_name_is_not_lost(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        assert await heard.session.interrupt() == {}
        await heard.play({"hold": "test/go"}, {"until": "turn/interrupt"}, {"end": "interrupted"})
        await heard.until(TurnStarted)
        interrupted = asyncio.create_task(heard.session.interrupt())
        await asyncio.sleep(0)
        await heard.session.control({"subtype": "test/go"})
        assert await interrupted == {}
        assert (await heard.until(Complete)).data.outcome == "interrupted"


async def test_a_turn_that_goes_on_despite_its_interrupt_is_told_or_ended(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.play({"until": "test/never"})
        await heard.until(TurnStarted)
        with pytest.raises(RequestTimeout):
            await heard.session.interrupt(0.01)
        await heard.session.interrupt(escalate_after=0.01)
        assert (await heard.until(Complete)).data.outcome == "hung"


async def test_a_prompt_joins_the_turn_or_is_said_after_it(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        first = await heard.play({"until": "turn/steer"}, {"take": True}, {"until": "turn/steer"})
        await heard.until(TurnStarted)
        joins = await heard.play({"echo": True})
        await heard.until(UserMessage, 2)
        left = await heard.play({"echo": True})
        assert (await heard.until(Complete)).data.prompts == [first, joins]
        assert (await heard.until(Complete, 2)).data.prompts == [left]


async def test_a_prompt_that_the_turn_does_not_take_waits_and_can_be_taken_back(tmp_path: Path) -> None:
    async with running(tmp_path, "turn/steer=no active turn") as heard:
        await heard.play({"until": "turn/interrupt"}, {"end": "interrupted"})
        await heard.until(TurnStarted)
        waits = await heard.play()
        queued = await heard.until(Queued)
        assert queued.prompt == waits
        assert queued.text
        assert (await heard.until(Notice)).text == "turn/steer: no active turn"
        assert await heard.session.withdraw(waits)
        assert not await heard.session.withdraw(waits)
        now = await heard.play(priority="now")
        assert (await heard.until(Complete)).data.outcome == "interrupted"
        assert (await heard.until(Complete, 2)).data.prompts == [now]
    assert [event.prompt for event in heard.seen(Withdrawn)] == [waits]


@pytest.mark.parametrize(
    ("option", "decision"),
    [
        ("accept", "accept"),
        ("acceptForSession", "acceptForSession"),
        ("decline", "decline"),
        ("cancel", "cancel"),
        (
            "acceptWithExecpolicyAmendment",
            {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}},
        ),
        ("applyNetworkPolicyAmendment", {"applyNetworkPolicyAmendment": {"host": "h"}}),
    ],
)
async def test_each_decision_about_a_command_is_said_in_codexs_words(
    tmp_path: Path, option: str, decision: object
) -> None:
    offered = [
        "accept",
        {"acceptWithExecpolicyAmendment": {}},
        {"applyNetworkPolicyAmendment": {"host": "h"}},
        "cancel",
    ]
    params = {**COMMAND["params"], "proposedExecpolicyAmendment": ["ls"], "availableDecisions": offered}  # type: ignore[dict-item]  # a JSON object
    async with running(tmp_path) as heard:
        await heard.play({"ask": {**COMMAND, "params": params}})
        asked = await heard.until(PermissionRequest)
        heard.session.answer(asked.pending_id, PermissionAnswer(option), "somebody")
        await heard.until(Complete)
    assert heard.said[0]["result"] == {"decision": decision}


async def test_rules_and_policies_decide_what_they_can(tmp_path: Path) -> None:
    async with running(tmp_path, policy="autonomous") as heard:
        await heard.play({"ask": COMMAND}, {"echo": True})
        await heard.until(Complete)
    asked, echoed = heard.said
    assert asked["result"] == {"decision": "accept"}
    assert (echoed["opening"]["approvalPolicy"], echoed["opening"]["sandbox"]) == (
        "untrusted",
        "danger-full-access",
    )
    assert heard.seen(PermissionResolved)[0].by == "policy:autonomous"


async def test_a_patch_is_judged_by_all_its_files_even_where_none_was_told(tmp_path: Path) -> None:
    patch = {
        "type": "fileChange",
        "id": "p",
        "changes": [
            {
                "path": "/w/new",
                "kind": {"type": "update", "move_path": "/w/moved"},
                "diff": "@@ -1 +1 @@\n-a\n+b\n",
            }
        ],
    }
    asks = {
        "method": "item/fileChange/requestApproval",
        "params": {"threadId": "THREAD", "itemId": "p", "grantRoot": "/w"},
    }
    unheard = {"method": "item/fileChange/requestApproval", "params": {"threadId": "THREAD", "itemId": "q"}}
    async with running(tmp_path, policy="supervised") as heard:
        await heard.play(
            {"line": {"method": "item/started", "params": {"threadId": "THREAD", "item": patch}}},
            {"ask": asks},
            {"ask": unheard},
        )
        for count in (1, 2):
            asked = await heard.until(PermissionRequest, count)
            heard.session.answer(asked.pending_id, PermissionAnswer("decline"), "somebody")
        await heard.until(Complete)
    assert [answer["result"] for answer in heard.said] == [{"decision": "decline"}] * 2
    assert [notice.code for notice in heard.notices] == ["asks_not_everything"]


async def test_questions_forms_and_leave_for_servers_are_answered(tmp_path: Path) -> None:
    questions = [{"id": "a", "question": "Which?", "options": []}, {"id": "b", "question": "And?"}, "odd"]
    ask = {
        "method": "item/tool/requestUserInput",
        "params": {"threadId": "THREAD", "itemId": "i", "questions": questions},
    }
    form = {
        "method": "mcpServer/elicitation/request",
        "params": {"threadId": "THREAD", "serverName": "s", "message": "Name?", "requestedSchema": {}},
    }
    call = {"type": "mcpToolCall", "id": "m", "server": "s", "tool": "t"}
    leave = {
        "method": "mcpServer/elicitation/request",
        "params": {
            "threadId": "THREAD",
            "serverName": "s",
            "_meta": {"codex_approval_kind": "mcp_tool_call", "tool_name": "t"},
        },
    }
    more = {
        "method": "item/permissions/requestApproval",
        "params": {"threadId": "THREAD", "itemId": "n", "permissions": {"network": True}},
    }
    async with running(tmp_path) as heard:
        await heard.play(
            {"ask": ask}, {"ask": ask}, {"ask": form}, {"ask": form},
            {"line": {"method": "item/started", "params": {"threadId": "THREAD", "item": call}}},
            {"ask": leave}, {"ask": more}, {"ask": {**more, "params": {**more["params"], "itemId": "o"}}},  # type: ignore[dict-item]  # a JSON object
        )  # fmt: skip
        answers = (
            QuestionAnswer(answers={"Which?": "this"}),
            QuestionAnswer(action="decline"),
            QuestionAnswer(content={"name": "x"}),
            QuestionAnswer(action="cancel"),
        )
        for count, answer in enumerate(answers, 1):
            heard.session.answer((await heard.until(QuestionRequest, count)).pending_id, answer, "somebody")
        for count, option in enumerate(("accept", "accept", "decline"), 1):
            asked = await heard.until(PermissionRequest, count)
            heard.session.answer(asked.pending_id, PermissionAnswer(option), "somebody")
        await heard.until(Complete)
    assert [answer["result"] for answer in heard.said] == [
        {"answers": {"a": {"answers": ["this"]}}},
        {"answers": {}},
        {"action": "accept", "content": {"name": "x"}, "_meta": None},
        {"action": "cancel", "content": None, "_meta": None},
        {"action": "accept", "content": {}, "_meta": None},
        {"permissions": {"network": True}, "scope": "turn"},
        {"permissions": {}, "scope": "turn"},
    ]


async def test_what_nobody_answers_in_time_is_dismissed(tmp_path: Path) -> None:
    form = {
        "method": "mcpServer/elicitation/request",
        "params": {"threadId": "THREAD", "serverName": "s", "message": "Name?"},
    }
    async with running(tmp_path, answer_timeout=0.01) as heard:
        await heard.play({"ask": form}, {"ask": COMMAND})
        await heard.until(Complete)
    assert [answer["result"] for answer in heard.said] == [
        {"action": "cancel", "content": None, "_meta": None},
        {"decision": "cancel"},
    ]


async def test_a_thread_is_opened_as_it_is_wanted_and_turns_change_it(tmp_path: Path) -> None:
    servers = {
        "local": {"command": "calc", "args": ["-x"], "env": {}},
        "remote": {"type": "http", "url": "http://h", "headers": {"a": "b"}},
        "plain": {"url": "http://h"},
        "old": {"type": "sse", "url": "http://h"},
        "own": {"type": "sdk"},
    }
    command = {
        "resume": "thread-9",
        "model": "m-2",
        "effort": "low",
        "mcp_servers": servers,
        "append_system_prompt": "Be short.",
    }
    async with running(tmp_path, command=command, rules=()) as heard:
        await heard.play({"echo": True})
        await heard.until(Complete)
        session = heard.session
        assert (session.version, session.capabilities.forks) == ("0.169.0", True)
        await session.set_model("m-3")
        await session.control({"subtype": "set_config_option", "id": "effort", "value": "high"})
        await session.control({"subtype": "set_config_option", "id": "mode", "value": "plan"})
        await heard.play({"echo": True})
        await heard.until(Complete, 2)
        await session.control({"subtype": "set_model", "model": None})
        await session.control({"subtype": "set_permission_mode", "mode": "default"})
        await heard.play({"echo": True})
        await heard.until(Complete, 3)
        for wrong in (session.set_permission_mode("yolo"), session.control({"subtype": "dance"})):
            with pytest.raises(RequestFailed):
                await wrong
        assert await session.control({"subtype": "interrupt"}) == {}
        await session.control({"subtype": "set_config_option", "id": "model", "value": "m-4"})
    first, second, third = heard.said
    opening = first["opening"]
    assert (opening["method"], opening["threadId"], opening["model"]) == ("thread/resume", "thread-9", "m-2")
    assert opening["config"]["mcp_servers"] == {
        "local": {"command": "calc", "args": ["-x"]},
        "remote": {"url": "http://h", "http_headers": {"a": "b"}},
        "plain": {"url": "http://h"},
    }
    assert opening["developerInstructions"] == "Be short."
    assert [notice.code for notice in heard.notices] == ["mcp_failed"] * 2
    assert "approvalPolicy" not in opening
    assert (first["model"], first["effort"]) == ("m-2", "low")
    assert second["collaborationMode"] == {
        "mode": "plan",
        "settings": {"model": "m-3", "reasoning_effort": "high", "developer_instructions": None},
    }
    assert (third["model"], third["collaborationMode"]["mode"]) == ("m-1", "default")


async def test_a_plan_is_made_with_reading_alone_until_its_mode_is_left(tmp_path: Path) -> None:
    async with running(tmp_path, policy="plan", command={"fork": True, "resume": "thread-9"}) as heard:
        await heard.play({"echo": True})
        await heard.until(Complete)
        await heard.session.set_permission_mode("default")
        await heard.play({"echo": True})
        await heard.until(Complete, 2)
    first, second = heard.said
    assert (first["opening"]["method"], first["opening"]["sandbox"]) == ("thread/fork", "read-only")
    assert (first["collaborationMode"]["mode"], "sandboxPolicy" in first) == ("plan", False)
    assert (second["approvalPolicy"], second["sandboxPolicy"]["type"]) == ("untrusted", "workspaceWrite")


async def test_a_version_without_untrusted_asks_about_what_its_sandbox_stops(tmp_path: Path) -> None:
    async with running(tmp_path, "untrusted=untrusted is no longer supported", policy="supervised") as heard:
        await heard.play({"echo": True})
        await heard.until(Complete)
    opening = heard.said[0]["opening"]
    assert (opening["approvalPolicy"], opening["sandbox"]) == ("on-request", "read-only")
    (notice,) = heard.notices
    assert "commands that its read-only sandbox lets through" in notice.message


async def test_images_are_shown_and_other_files_named(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.session.prompt("[]", attachments=[Attachment(PNG, "a.png")])
        await heard.until(Complete)
        await heard.session.prompt("", attachments=[Attachment(PNG, "b.png")], uuid="bare")
        done = asyncio.create_task(heard.until(ProcessStatus))
        heard.session.close_input()
        await done
    saved = sorted(path.name for path in tmp_path.rglob("*.png"))
    assert saved == ["001-a.png", "002-b.png"]


async def test_its_input_is_closed_when_all_is_said_and_done(tmp_path: Path) -> None:
    async with running(tmp_path) as heard:
        await heard.play({"until": "test/go"})
        await heard.until(TurnStarted)
        heard.session.close_input()
        await heard.session.control({"subtype": "test/go"})
        await heard.until(ProcessStatus)
    assert [done.data.outcome for done in heard.seen(Complete)] == ["completed"]


async def test_a_prompt_waits_for_a_turn_that_codex_begins_itself(tmp_path: Path) -> None:
    def own(method: str) -> dict[str, Any]:
        return {
            "line": {
                "method": method,
                "params": {"threadId": "THREAD", "turn": {"id": "own", "status": "completed"}},
            }
        }

    async with running(tmp_path) as heard:
        await heard.play(
            {"line": {"method": "turn/completed", "params": {"threadId": "THREAD", "turn": {"id": "TURN"}}}},
            own("turn/started"),
            {"until": "test/go"},
        )
        await heard.until(TurnStarted, 2)
        later = await heard.play(priority="later")
        await heard.session.control({"subtype": "test/go"})
        assert (await heard.until(Complete, 3)).data.prompts == [later]


async def test_a_command_that_an_interrupt_leaves_running_is_ended(tmp_path: Path) -> None:
    def command(method: str, name: str) -> dict[str, Any]:
        item = {"type": "commandExecution", "id": name, "command": "ls", "status": "completed"}
        return {"line": {"method": method, "params": {"threadId": "THREAD", "item": item}}}

    async with running(tmp_path) as heard:
        began = [command("item/started", name) for name in ("c", "d")]
        over = command("item/completed", "d")
        await heard.play(*began, over, {"until": "turn/interrupt"}, {"end": "interrupted"})
        await heard.until(TurnStarted)
        await heard.session.interrupt()
        await heard.play({"after": "thread/backgroundTerminals/terminate"}, {"echo": True})
        await heard.until(Complete, 2)
    terminate = {"method": "thread/backgroundTerminals/terminate", "threadId": "thread-1", "processId": "7"}
    assert heard.said[0]["others"][-1] == terminate


@pytest.mark.parametrize("refused", ["initialize", "thread/start"])
async def test_a_server_that_opens_no_thread_is_stopped_and_says_why(tmp_path: Path, refused: str) -> None:
    async with running(tmp_path, f"{refused}=log in first") as heard:
        with pytest.raises(RequestFailed, match="log in first"):
            await heard.play()
    assert [(notice.code, notice.message) for notice in heard.notices] == [
        ("initialize_failed", f"Codex refuses {refused}: log in first")
    ]


async def test_a_server_that_ends_before_it_speaks_is_told_by_its_end(tmp_path: Path) -> None:
    notices: list[SessionNotice] = []
    options = SessionOptions(workspace=tmp_path, executable=(sys.executable, "-c", "raise SystemExit(4)"))
    async with open_codex_session(options, notify=notices.append) as session:
        heard = Heard(session, notices)
        with pytest.raises(ProcessGone, match="code 4"):
            await session.prompt("Hello?")
        await heard.until(ProcessStatus)
    assert notices[0].message == "the agent has exited (code 4)"


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("executable", {"executable": ()}),
        ("executable", {"executable": ("codex", "a\0b")}),
        ("resume_at", {"command": CommandOptions(resume="t", resume_at="m")}),
        ("continue_latest", {"command": CommandOptions(continue_latest=True)}),
    ],
)
async def test_what_codex_has_no_place_for_is_refused(
    tmp_path: Path, option: str, given: dict[str, Any]
) -> None:
    with pytest.raises(CommandError) as refused:
        async with open_codex_session(SessionOptions(workspace=tmp_path, **{"executable": SERVER, **given})):
            pass
    assert refused.value.option == option


@pytest.mark.parametrize("policy", [None, "plan", "supervised", "autonomous"])
@pytest.mark.parametrize("mode", [None, PLAN])
def test_in_a_sandbox_of_ours_codex_makes_none_and_asks(policy: Policy | None, mode: str | None) -> None:
    assert safety(policy, has_rules=False, mode=mode, is_in_sandbox=True) == Safety(
        "untrusted", "danger-full-access"
    )

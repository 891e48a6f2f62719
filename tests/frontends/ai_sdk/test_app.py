"""The application of the AI SDK's door on a hub: who may come in, what is refused and how, and what a chat is told."""

import asyncio
import json
from typing import Any

from msgspec import structs
from starlette.types import Message

from console_decisions import OPTIONS
from console_states import empty_hub, hub_harness, made, show
from turnwire.frontends.ai_sdk.app import create_app
from turnwire.frontends.web.bodies import LIMIT
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire.frames import AnyCommand
from turnwire.normalize.events import (
    AgentEvent,
    Complete,
    CompleteData,
    MessageChunk,
    PermissionRequest,
    PermissionResolved,
    TurnStarted,
    UserMessage,
)

TURN: list[AgentEvent] = [
    UserMessage(text="hello", uuid="u1"),
    TurnStarted(operation_id="turn-1", origin="user", prompts=["u1"]),
    MessageChunk(text="Hi there", message_id="m1", block_index=0),
    Complete(
        operation_id="turn-1",
        data=CompleteData(outcome="completed", is_error=False, prompts=["u1"], cost_usd=0.01),
    ),
]
ASKS = PermissionRequest(
    pending_id="p1",
    tool_call_id="c1",
    tool_name="Bash",
    permission_title="ls",
    permission_options=OPTIONS,
    action_type="command",
)


async def ask(
    url: str, method: str, path: str, body: Any = None, *, token: str | None, **headers: str
) -> tuple[int, bytes]:
    """Call the application once; status and body."""
    app = create_app(url)
    sent: list[Message] = []
    given = [
        {"type": "http.request", "body": json.dumps(body).encode() if not isinstance(body, bytes) else body}
    ]
    named = {"host": "127.0.0.1", **headers} | ({"authorization": f"Bearer {token}"} if token else {})

    async def receive() -> Message:
        if given:
            return given.pop()
        await asyncio.Event().wait()
        raise AssertionError("it waits for the end")

    async def send(message: Message) -> None:
        sent.append(message)
        await asyncio.sleep(0)

    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode(), "root_path": "", "scheme": "http", "query_string": b"", "server": ("127.0.0.1", 80),
        "headers": [(name.encode(), value.encode()) for name, value in named.items()], "client": ("127.0.0.1", 1),
    }  # fmt: skip
    async with asyncio.timeout(60):
        await app(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def chat(*messages: dict[str, Any], session: str = "one") -> dict[str, Any]:
    return {"id": session, "trigger": "submit-message", "messages": list(messages)}


def user(text: str) -> dict[str, Any]:
    return {"id": "x", "role": "user", "parts": [{"type": "text", "text": text}]}


def parts(body: bytes) -> list[dict[str, Any]]:
    lines = body.decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]


async def test_a_prompt_is_answered_with_its_turn() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([]))

        async def prompted(_: AnyCommand) -> dict[str, str]:
            await where.journal.append("one", made(TURN))
            return {"prompt": "u1"}

        where.host.handlers["prompt"] = prompted  # type: ignore[assignment]
        status, body = await ask(where.base, "POST", "/ai", chat(user("hello")), token=where.token)
        assert status == 200
        told = parts(body)
        assert [one["type"] for one in told] == [
            "start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish",
        ]  # fmt: skip
        assert told[-1]["messageMetadata"]["turnwire"]["cost_usd"] == 0.01


async def test_what_waits_ends_the_response_and_its_answer_goes_on() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([*TURN[:3], ASKS]), state="waiting", pending=1)
        status, body = await ask(where.base, "GET", "/ai/one/stream", token=where.token)
        told = parts(body)
        assert status == 200
        assert {"type": "tool-approval-request", "approvalId": "p1", "toolCallId": "c1"} in told
        place = told[-1]["messageMetadata"]

        async def responded(_: AnyCommand) -> None:
            await where.journal.append("one", made(TURN[3:]))

        where.host.handlers["permission.respond"] = responded
        answer = {
            "id": "turn-1",
            "role": "assistant",
            "metadata": place,
            "parts": [
                {
                    "type": "dynamic-tool",
                    "toolCallId": "c1",
                    "state": "approval-responded",
                    "approval": {"id": "p1", "approved": True},
                }
            ],
        }
        status, body = await ask(where.base, "POST", "/ai", chat(user("hello"), answer), token=where.token)
        assert [one["type"] for one in parts(body)] == ["start", "start-step", "finish-step", "finish"]
        [command] = [command for command, _ in where.host.commands if command.type == "permission.respond"]
        assert command.option_id == "allow_once"


async def test_a_prompt_instead_of_an_answer_is_told_what_waits() -> None:
    async with hub_harness(host=empty_hub()) as where:
        settled = structs.replace(ASKS, pending_id="p0", tool_call_id="c0")
        allowed = PermissionResolved(pending_id="p0", tool_call_id="c0", behavior="allow", by="user:ann")
        past = made([*TURN[:3], settled, allowed, ASKS])
        await show(where, "one", past, state="waiting", pending=1)

        async def prompted(_: AnyCommand) -> dict[str, str]:
            return {"prompt": "u2"}

        where.host.handlers["prompt"] = prompted  # type: ignore[assignment]
        status, body = await ask(where.base, "POST", "/ai", chat(user("never mind")), token=where.token)
        told = parts(body)
        assert (status, told[0]) == (200, {"type": "start", "messageId": "u2"})
        asked = [one for one in told if one["type"] == "tool-approval-request"]
        assert asked == [{"type": "tool-approval-request", "approvalId": "p1", "toolCallId": "c1"}]
        place = told[-1]["messageMetadata"]["turnwire"]
        assert (told[-1]["finishReason"], place["seq"]) == ("tool-calls", len(past))


async def test_who_answers_second_is_shown_what_was_decided() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([*TURN[:3], ASKS]), state="waiting", pending=1)

        async def too_late(_: AnyCommand) -> None:
            denied = PermissionResolved(pending_id="p1", tool_call_id="c1", behavior="deny", by="user:ann")
            await where.journal.append("one", made([denied, *TURN[3:]]))
            raise CommandRefused("already_answered", "user:ann has already decided: it is denied")

        where.host.handlers["permission.respond"] = too_late
        part = {
            "type": "dynamic-tool", "toolName": "Bash", "toolCallId": "c1", "state": "approval-responded",
            "input": {}, "approval": {"id": "p1", "approved": True},
        }  # fmt: skip
        late = chat({"id": "turn-1", "role": "assistant", "parts": [part]})
        status, body = await ask(where.base, "POST", "/ai", late, token=where.token)
        assert status == 200
        [resolved] = [one["data"] for one in parts(body) if one["type"] == "data-resolved"]
        assert (resolved["behavior"], resolved["by"]) == ("deny", "user:ann")


async def test_an_answer_after_the_end_of_its_turn_is_refused_and_holds_no_stream() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([*TURN[:3], ASKS, *TURN[3:]]))
        part = {
            "type": "dynamic-tool", "toolName": "Bash", "toolCallId": "c1", "state": "approval-responded",
            "input": {}, "approval": {"id": "p1", "approved": True},
        }  # fmt: skip
        late = chat({"id": "turn-1", "role": "assistant", "parts": [part]})
        status, said = await ask(where.base, "POST", "/ai", late, token=where.token)
        assert (status, b"has ended" in said) == (400, True)
        assert not where.host.commands


async def test_an_answer_to_a_conversation_without_a_turn_holds_no_stream() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([]))
        part = {
            "type": "dynamic-tool", "toolName": "Bash", "toolCallId": "c1", "state": "approval-responded",
            "input": {}, "approval": {"id": "p1", "approved": True},
        }  # fmt: skip
        late = chat({"id": "turn-1", "role": "assistant", "parts": [part]})
        assert (await ask(where.base, "POST", "/ai", late, token=where.token))[0] == 400


async def test_a_session_without_a_running_turn_has_no_stream_and_loads_as_messages() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made(TURN))
        assert await ask(where.base, "GET", "/ai/one/stream", token=where.token) == (204, b"")
        status, body = await ask(where.base, "GET", "/ai/one/messages", token=where.token)
        assert status == 200
        assert [(one["role"], one["id"]) for one in json.loads(body)] == [
            ("user", "u1"),
            ("assistant", "turn-1"),
        ]


async def test_who_may_not_come_in_is_told_so_and_nothing_is_done() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([]))
        hello = chat(user("hello"))
        view = where.hub.tokens.view
        assert (await ask(where.base, "POST", "/ai", hello, token=None))[0] == 401
        assert (await ask(where.base, "POST", "/ai", hello, token="x" * 40))[0] == 401
        assert (await ask(where.base, "POST", "/ai", hello, token=view))[0] == 403
        assert (await ask(where.base, "POST", "/ai/one/stop", token=view))[0] == 403
        assert (
            await ask(where.base, "POST", "/ai/one/answer", {"id": "q", "answers": {"a": "b"}}, token=view)
        )[0] == 403
        assert (await ask(where.base, "POST", "/ai", hello, token=where.token, host="evil.example"))[0] == 403
        assert (
            await ask(where.base, "POST", "/ai", hello, token=where.token, origin="https://evil.example")
        )[0] == 403
        assert not where.host.commands


async def test_what_cannot_be_served_says_what_is_wrong_and_where() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([]))
        bad: list[tuple[Any, str]] = [
            (b"{", "Input data was truncated"),
            (b"\xff", "malformed"),
            ([], "object"),
            (chat(), "messages"),
            (chat(user(" ")), "has no text"),
            (chat({"id": "x", "role": "system", "parts": []}), "role"),
            (chat({"id": "x", "role": "assistant", "parts": []}), "neither a prompt nor"),
            (
                chat(
                    {
                        "id": "x",
                        "role": "user",
                        "parts": [{"type": "file", "url": "https://e.x/", "mediaType": "image/png"}],
                    }
                ),
                "data:",
            ),
            ({**chat(user("x")), "trigger": "regenerate-message"}, "send the prompt again"),
            ({"messages": [user("x")]}, "session"),
            (b"[" * 100_000, ""),
        ]
        for body, words in bad:
            status, said = await ask(where.base, "POST", "/ai", body, token=where.token)
            assert (status, words in said.decode()) == (400, True), (body, said)
        status, said = await ask(
            where.base, "POST", "/ai", chat(user("x"), session="nine"), token=where.token
        )
        assert status == 404
        assert b"nine" in said


async def test_a_conversation_that_is_too_large_is_refused_as_such() -> None:
    async with hub_harness(host=empty_hub()) as where:
        await show(where, "one", made([]))
        for path in ("/ai", "/ai/one/answer"):
            status, said = await ask(where.base, "POST", path, b" " * (LIMIT + 1), token=where.token)
            assert (status, json.loads(said)["error"]["code"]) == (413, "too_large")
        assert not where.host.commands

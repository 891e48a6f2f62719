"""Frontends over real sockets: hello, commands, replies, events."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
from hub_harness import SESSION, StubHost, ask, events, hub_harness, receive
from pydantic import JsonValue, SecretStr
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.wire.frames import AnyCommand, PermissionRespond, Prompt
from turnwire.hub.wire.frames_out import SessionSummary, WorkerChoice
from turnwire.journal.base import WholeEntry
from turnwire.journal.memory import MemoryJournal
from waiting import until


async def test_welcome_comes_first_and_says_who_one_is() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        welcome = await receive(frontend)
        assert welcome == {
            "type": "welcome",
            "protocol": "turnwire.v1",
            "version": "0.0.0",
            "epoch": hub.journal.epoch,
            "role": "control",
            "sessions": [{"session": SESSION, "state": "idle", "last_seq": 0, "pending": 0}],
        }
        assert frontend.subprotocol == "turnwire.v1"


async def test_a_subscription_replays_then_goes_on_live_and_can_be_given_back() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        await receive(frontend)
        await hub.append("a", "b")
        reply = await ask(frontend, type="subscribe", session=SESSION)
        assert reply == {
            "type": "reply",
            "id": "ask",
            "ok": True,
            "result": {"epoch": hub.journal.epoch, "last": 2},
        }
        assert await events(frontend, 2) == [(1, "a"), (2, "b")]
        assert await receive(frontend) == {"type": "caught_up", "session": SESSION, "seq": 2}
        await hub.append("c")
        assert await events(frontend, 3) == [(3, "c")]
        assert (await ask(frontend, type="unsubscribe", session=SESSION))["result"] == {"subscribed": True}
        await hub.append("d")
        assert (await ask(frontend, type="unsubscribe", session=SESSION))["result"] == {"subscribed": False}


async def test_a_subscription_goes_on_after_its_cursor() -> None:
    async with hub_harness() as hub:
        await hub.append("a", "b", "c")
        async with hub.websocket() as frontend:
            await ask(frontend, type="subscribe", session=SESSION, after=2, epoch=hub.journal.epoch)
            assert await events(frontend, 3) == [(3, "c")]
            refused = await ask(frontend, type="subscribe", session=SESSION, after=2)
            assert refused["error"]["field"] == "epoch"
            await ask(frontend, type="subscribe", session=SESSION, after=2, epoch="another")
            frame = await receive(frontend)
            while frame["type"] != "gap":
                frame = await receive(frontend)
            assert frame == {
                "type": "gap",
                "session": SESSION,
                "from": 1,
                "to": 2,
                "epoch": hub.journal.epoch,
            }
            assert await events(frontend, 3) == [(1, "a"), (2, "b"), (3, "c")]


async def test_one_connection_follows_many_sessions() -> None:
    async with hub_harness(host=StubHost(["one", "two"])) as hub, hub.websocket() as frontend:
        await ask(frontend, type="subscribe", session="one")
        await ask(frontend, type="subscribe", session="two")
        await hub.append("first", session="one")
        await hub.append("second", session="two")
        seen: set[tuple[str, str]] = set()
        while len(seen) < 2:
            frame = await receive(frontend)
            if frame["type"] == "event":
                seen.add((frame["session"], frame["event"]["text"]))
        assert seen == {("one", "first"), ("two", "second")}


async def test_a_bad_frame_gets_its_reply_and_disturbs_nothing() -> None:
    async with hub_harness() as hub, hub.websocket() as bad, hub.websocket() as good:
        await receive(bad)
        await ask(good, type="subscribe", session=SESSION)
        for frame in ("{", "[]", '{"type":"nope","id":"x"}', b"\x00"):
            await bad.send(frame)
            assert (await receive(bad))["ok"] is False
        assert (await ask(bad, type="subscribe", session="nope"))["error"] == {
            "code": "unknown_session",
            "message": "There is no session 'nope'.",
            "field": "session",
        }
        assert (await ask(bad, type="interrupt", session=SESSION))["ok"] is True
        await hub.append("a")
        assert await events(good, 1) == [(1, "a")]


async def test_every_command_gets_one_reply_also_when_the_host_refuses_or_fails() -> None:
    host = StubHost()

    async def fail(_: AnyCommand) -> JsonValue:
        raise ValueError("a bug")

    host.handlers["interrupt"] = fail
    async with hub_harness(host=host) as hub, hub.websocket() as frontend:
        assert (await ask(frontend, type="set_model", session=SESSION))["error"]["code"] == "not_running"
        assert (await ask(frontend, type="interrupt", session=SESSION))["error"]["code"] == "internal"
        assert (await ask(frontend, type="prompt", session=SESSION, text="x"))["result"] == {"did": "prompt"}


async def test_a_slow_command_holds_up_no_other_on_the_same_connection() -> None:
    host = StubHost()
    release = asyncio.Event()

    async def create(_: AnyCommand) -> JsonValue:
        await release.wait()
        return {"session": "new"}

    host.handlers["session.create"] = create
    async with hub_harness(host=host) as hub, hub.websocket() as frontend:
        await receive(frontend)
        await frontend.send(json.dumps({"type": "session.create", "id": "slow"}))
        quick = await ask(
            frontend,
            type="permission.respond",
            id="quick",
            session=SESSION,
            pending_id="p",
            option_id="allow_once",
        )
        assert quick["ok"] is True
        release.set()
        assert await receive(frontend) == {
            "type": "reply",
            "id": "slow",
            "ok": True,
            "result": {"session": "new"},
        }


async def test_commands_start_in_the_order_they_came_and_carry_the_frontends_name() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        await ask(frontend, type="hello", name="kitchen")
        for number in range(20):
            await frontend.send(
                json.dumps({"type": "prompt", "id": str(number), "session": SESSION, "text": str(number)})
            )
        await ask(frontend, type="permission.respond", session=SESSION, pending_id="p", option_id="o")
        prompts = [command.text for command, _ in hub.host.commands if isinstance(command, Prompt)]
        assert prompts == [str(number) for number in range(20)]
        command, sender = hub.host.commands[-1]
        assert isinstance(command, PermissionRespond)
        assert (sender.name, sender.role) == ("kitchen", "control")


async def test_a_command_goes_on_when_its_frontend_leaves() -> None:
    host = StubHost()
    started, release, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def create(_: AnyCommand) -> JsonValue:
        started.set()
        await release.wait()
        done.set()
        return None

    host.handlers["session.create"] = create
    async with hub_harness(host=host) as hub:
        async with hub.websocket() as frontend:
            await frontend.send(json.dumps({"type": "session.create", "id": "1"}))
            async with asyncio.timeout(60):
                await started.wait()
        release.set()
        async with asyncio.timeout(60):
            await done.wait()


async def test_two_frontends_never_have_the_same_name() -> None:
    async with hub_harness() as hub, hub.websocket() as one, hub.websocket() as two, hub.websocket() as three:
        assert (await ask(one, type="hello", name="tab"))["result"] == {"name": "tab", "role": "control"}
        assert (await ask(two, type="hello", name="tab"))["result"]["name"] == "tab-2"
        assert (await ask(one, type="hello", name="other"))["result"]["name"] == "other"
        assert (await ask(three, type="hello", name="tab"))["result"]["name"] == "tab"


class OneOfSeveral:
    """A hub's fleet."""

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def workers(self) -> Sequence[WorkerChoice]:
        return [WorkerChoice(worker="build-1", labels=["big"], agents=["claude"])]


async def test_two_frontends_never_have_the_same_name_at_two_hubs_of_a_fleet() -> None:
    given: list[str] = []
    for tag in ("a1", "b2"):
        async with (
            hub_harness(fleet=OneOfSeveral(tag)) as hub,
            hub.websocket() as one,
            hub.websocket() as two,
        ):
            for frontend, wish in ((one, "desk"), (two, "desk@a1"), (one, "desk@a1@a1")):
                given.append((await ask(frontend, type="hello", name=wish))["result"]["name"])
    assert given == ["desk@a1", "desk@a1@a1", "desk@a1@a1@a1", "desk@b2", "desk@a1@b2", "desk@a1@a1@b2"]


async def test_a_frontend_is_told_which_workers_it_may_choose() -> None:
    async with hub_harness(fleet=OneOfSeveral("a1")) as hub, hub.websocket() as frontend:
        welcome = await receive(frontend)
        assert welcome["workers"] == [{"worker": "build-1", "labels": ["big"], "agents": ["claude"]}]
    async with hub_harness() as hub, hub.websocket() as frontend:
        assert "workers" not in await receive(frontend)


async def test_a_frontend_cannot_take_the_name_of_what_decides_without_it() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        for name in ("policy:supervised", "rule:1", "Timeout", "frontend-1", "x" * 65, "ada\x1b[2J"):
            reply = await ask(frontend, type="hello", name=name)
            assert (reply["error"]["code"], reply["error"]["field"]) == ("invalid_params", "name")
            assert len(reply["error"]["message"]) < 200
        assert (await ask(frontend, type="hello", name="ada"))["result"]["name"] == "ada"


async def test_payload_get_gives_the_whole_event_and_its_line() -> None:
    from turnwire.journal.base import Entry

    async with hub_harness() as hub, hub.websocket() as frontend:
        whole = b'{"type":"notice","text":"\\u00e9 long","none":null}'
        await hub.journal.append(SESSION, [Entry(b'{"type":"notice"}', whole=whole, raw=b'{"line":1}')])
        reply = await ask(frontend, type="payload.get", session=SESSION, seq=1)
        assert reply["result"] == {
            "event": {"type": "notice", "text": "\u00e9 long", "none": None},
            "raw": '{"line":1}',
        }
        missing = await ask(frontend, type="payload.get", session=SESSION, seq=2)
        assert missing["error"]["code"] == "unknown_event"


async def test_a_change_of_the_list_of_sessions_is_told_to_everyone() -> None:
    async with hub_harness() as hub, hub.websocket() as one, hub.websocket() as two:
        await receive(one)
        await receive(two)
        hub.host.summaries.append(SessionSummary(session="s2", state="running", last_seq=0, pending=0))
        hub.host.changed()
        for frontend in (one, two):
            frame = await receive(frontend)
            assert frame["type"] == "sessions"
            assert [session["session"] for session in frame["sessions"]] == [SESSION, "s2"]
        hub.host.summaries.pop(0)
        for _ in range(50):
            hub.host.changed()
        frame = await receive(one)
        assert [session["session"] for session in frame["sessions"]] == ["s2"]


async def test_whoever_creates_a_session_has_it_in_the_list_before_the_reply() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        await receive(frontend)

        async def create(_command: AnyCommand) -> JsonValue:
            hub.host.summaries.append(SessionSummary(session="s2", state="running", last_seq=0, pending=0))
            hub.host.changed()
            return {"session": "s2"}

        hub.host.handlers["session.create"] = create
        hub.host.changed()
        assert (await receive(frontend))["type"] == "sessions"
        await frontend.send(json.dumps({"type": "session.create", "id": "1"}))
        told, reply = await receive(frontend), await receive(frontend)
        assert [session["session"] for session in told["sessions"]] == [SESSION, "s2"]
        assert reply == {"type": "reply", "id": "1", "ok": True, "result": {"session": "s2"}}


async def test_the_role_view_reads_and_is_refused_everything_else() -> None:
    async with hub_harness() as hub, hub.websocket(hub.hub.tokens.view) as frontend:
        assert (await receive(frontend))["role"] == "view"
        await hub.append("a")
        assert (await ask(frontend, type="session.list"))["ok"] is True
        refused = await ask(frontend, type="prompt", session=SESSION, text="rm -rf /")
        assert refused["error"]["code"] == "forbidden"
        assert (await ask(frontend, type="subscribe", session=SESSION))["ok"] is True
        assert await events(frontend, 1) == [(1, "a")]
        assert hub.host.commands == []


async def test_a_token_may_come_by_subprotocol_or_by_the_first_frame() -> None:
    async with hub_harness() as hub:
        offered = [Subprotocol("turnwire.v1"), Subprotocol(f"turnwire.token.{hub.token}")]
        async with hub.websocket(None, subprotocols=offered) as frontend:
            assert (await receive(frontend))["role"] == "control"
            assert frontend.subprotocol == "turnwire.v1"
        async with hub.websocket(None) as frontend:
            await frontend.send(json.dumps({"type": "hello", "id": "h", "token": hub.token, "name": "tab"}))
            assert (await receive(frontend))["type"] == "welcome"
            named = {"name": "tab", "role": "control"}
            assert await receive(frontend) == {"type": "reply", "id": "h", "ok": True, "result": named}


async def test_a_cookie_from_the_login_opens_a_websocket_of_the_same_origin() -> None:
    async with hub_harness() as hub:
        status, headers, body = await hub.request(
            "/login", method="POST", headers={"Authorization": f"Bearer {hub.token}"}
        )
        said = json.loads(body)
        assert (status, said["role"]) == (200, "control")
        cookie, *attributes = headers["set-cookie"].split("; ")
        assert cookie.startswith(f"turnwire-{hub.hub.port}=")
        assert hub.token not in cookie
        assert {"HttpOnly", "SameSite=Strict"} <= set(attributes)
        shown = {"Cookie": f"other=1; {cookie}"}
        for proof in (
            {"headers": {**shown, "X-Turnwire-Key": said["key"]}},
            {"headers": shown, "subprotocols": ["turnwire.v1", f"turnwire.key.{said['key']}"]},
        ):
            async with hub.websocket(None, origin=hub.base, **proof) as frontend:
                assert (await receive(frontend))["role"] == "control"
        # either half alone opens nothing
        for half in (shown, {"X-Turnwire-Key": said["key"]}, {**shown, "X-Turnwire-Key": "0" * 64}):
            assert (await hub.request("/sessions", headers=half))[0] == 401
            async with hub.websocket(None, headers=half, origin=hub.base) as frontend:
                await frontend.send(
                    json.dumps({"type": "prompt", "id": "1", "session": SESSION, "text": "go"})
                )
                async with asyncio.timeout(60):
                    await frontend.wait_closed()
                assert frontend.close_code == 4401
        stale = f"turnwire-{hub.hub.port}=0123"
        async with hub.websocket(None, headers={"Cookie": stale}, origin=hub.base) as frontend:
            await frontend.send(json.dumps({"type": "hello", "id": "h", "token": hub.token}))
            assert (await receive(frontend))["type"] == "welcome"


async def test_logging_out_ends_what_the_cookie_has_opened_and_nothing_else() -> None:
    async with hub_harness() as hub:
        left, stays = [await hub.log_in(hub.token) for _ in range(2)]
        async with (
            hub.websocket(None, headers=left, origin=hub.base) as gone,
            hub.websocket(None, headers=stays, origin=hub.base) as here,
            hub.websocket() as by_token,
        ):
            for frontend in (gone, here, by_token):
                assert (await receive(frontend))["type"] == "welcome"
            stream = asyncio.create_task(hub.request(f"/sessions/{SESSION}/events", headers=left))
            await until(lambda: hub.hub.frontends == 4)
            assert (await hub.request("/logout", method="POST", headers=left))[0] == 200
            with pytest.raises(ConnectionClosed) as closed:
                await receive(gone)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4401
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(30):
                    await stream
            for frontend in (here, by_token):
                assert (await ask(frontend, type="session.list"))["ok"]
        assert (await hub.request("/sessions", headers=left))[0] == 401
        assert (await hub.request("/sessions", headers=stays))[0] == 200
        async with hub.websocket(None, headers=left, origin=hub.base) as frontend:
            await frontend.send(json.dumps({"type": "session.list", "id": "1"}))
            assert (await receive(frontend))["error"]["code"] == "unauthorized"


async def test_what_a_frontend_says_after_it_was_logged_out_is_not_heard() -> None:
    host = StubHost()
    done: list[str] = []

    async def note(_command: AnyCommand) -> JsonValue:
        done.append("prompt")
        return None

    host.handlers["prompt"] = note
    async with hub_harness(host=host) as hub:
        mine = await hub.log_in(hub.token)
        async with hub.websocket(None, headers=mine, origin=hub.base) as frontend:
            assert (await receive(frontend))["type"] == "welcome"
            said = json.dumps({"type": "prompt", "id": "1", "session": SESSION, "text": "go"})
            assert (await hub.request("/logout", method="POST", headers=mine))[0] == 200
            with contextlib.suppress(ConnectionClosed):
                for _ in range(20):
                    await frontend.send(said)
            await frontend.wait_closed()
    assert done == []


@pytest.mark.parametrize(
    ("first", "code", "replies"),
    [
        ('{"type":"hello","id":"1","token":"wrong"}', 4401, 1),
        ('{"type":"hello","id":"1"}', 4401, 1),
        ('{"type":"session.list","id":"1"}', 4401, 1),
        ("{", 4401, 1),
        (None, 4408, 0),
    ],
)
async def test_without_a_token_the_connection_is_closed_by_a_code(
    first: str | None, code: int, replies: int
) -> None:
    config = HubConfig(limits=Limits(hello_s=0.2 if first is None else 10))
    async with hub_harness(config) as hub, hub.websocket(None) as frontend:
        if first is not None:
            await frontend.send(first)
        for _ in range(replies):
            assert (await receive(frontend))["error"]["code"] in {"unauthorized", "bad_frame"}
        with pytest.raises(ConnectionClosed):
            await receive(frontend)
        assert frontend.close_code == code


async def test_a_wrong_token_is_answered_by_status_to_programs_and_by_close_code_to_browsers() -> None:
    async with hub_harness() as hub:
        with pytest.raises(InvalidStatus) as refused:
            async with hub.websocket("wrong"):
                pass
        assert refused.value.response.status_code == 401
        offered = [Subprotocol("turnwire.v1"), Subprotocol("turnwire.token.wrong")]
        async with hub.websocket(None, subprotocols=offered) as frontend:
            with pytest.raises(ConnectionClosed):
                await receive(frontend)
            assert frontend.close_code == 4401


async def test_wrong_tokens_run_out_and_open_connections_go_on() -> None:
    config = HubConfig(limits=Limits(failed_tokens=3, failed_tokens_per_s=0.001, wrong_token_s=0.01))
    async with hub_harness(config) as hub, hub.websocket() as good:
        await receive(good)
        for _ in range(3):
            status, _, _ = await hub.request("/sessions", headers={"Authorization": "Bearer wrong"})
            assert status == 401
        status, headers, _ = await hub.request("/sessions", headers={"Authorization": "Bearer wrong"})
        assert status == 429
        assert int(headers["retry-after"]) > 0
        async with hub.websocket(None) as frontend:
            await frontend.send('{"type":"hello","id":"1","token":"wrong"}')
            assert (await receive(frontend))["error"]["code"] == "unauthorized"
            with pytest.raises(ConnectionClosed):
                await receive(frontend)
            assert frontend.close_code == 4429
        assert (await ask(good, type="session.list"))["ok"] is True
        assert hub.hub.refusals.counts == {"wrong_token": 3, "guessing": 2}


async def test_a_right_token_passes_however_many_wrong_ones_came_from_its_address() -> None:
    config = HubConfig(limits=Limits(failed_tokens=1, failed_tokens_per_s=0.001, wrong_token_s=0.01))
    async with hub_harness(config) as hub:
        wrong, right = ({"Authorization": f"Bearer {token}"} for token in ("wrong", hub.token))
        assert [(await hub.request("/sessions", headers=wrong))[0] for _ in range(3)] == [401, 429, 429]
        assert (await hub.request("/sessions", headers=right))[0] == 200
        assert (await hub.request("/login", method="POST", headers=right))[0] == 200
        async with hub.websocket() as frontend:
            assert (await receive(frontend))["type"] == "welcome"
        async with hub.websocket(None) as frontend:
            assert (await ask(frontend, type="hello", token=hub.token))["ok"] is True
        async with hub.websocket(hub.hub.tokens.view) as frontend:
            assert (await ask(frontend, type="hello", token=hub.token))["result"]["role"] == "control"
        assert (await hub.request("/sessions", headers=wrong))[0] == 429


async def test_wrong_tokens_are_counted_for_the_client_that_a_trusted_proxy_names() -> None:
    limits = Limits(failed_tokens=1, failed_tokens_per_s=0.001, wrong_token_s=0.01)
    for trusted, seen in (((), [401, 429, 429]), (("127.0.0.0/8",), [401, 429, 401])):
        async with hub_harness(HubConfig(limits=limits, trusted_proxies=trusted)) as hub:
            clients = ("192.0.2.1", "192.0.2.1", "192.0.2.2")
            answers = [
                await hub.request(
                    "/sessions", headers={"Authorization": "Bearer wrong", "X-Forwarded-For": client}
                )
                for client in clients
            ]
            assert [status for status, _, _ in answers] == seen


async def test_the_last_places_are_for_those_who_may_control() -> None:
    async with hub_harness(HubConfig(limits=Limits(connections=16))) as hub, AsyncExitStack() as stack:
        viewers = [await stack.enter_async_context(hub.websocket(hub.hub.tokens.view)) for _ in range(14)]
        for viewer in viewers:
            assert (await receive(viewer))["role"] == "view"
        with pytest.raises(InvalidStatus) as refused:
            await hub.websocket(hub.hub.tokens.view)
        assert refused.value.response.status_code == 503
        async with hub.websocket(None) as late:
            await late.send(json.dumps({"type": "hello", "id": "1", "token": hub.hub.tokens.view}))
            with pytest.raises(ConnectionClosed):
                await receive(late)
            assert late.close_code == 4429
        async with hub.websocket() as good:
            assert (await receive(good))["role"] == "control"
            # What has a place as a viewer gives it back when it may do more.
            assert (await ask(viewers[0], type="hello", token=hub.token))["ok"] is True
            assert (await ask(good, type="hello", token=hub.hub.tokens.view))["ok"] is True


async def test_hello_can_take_another_role_but_not_a_wrong_token() -> None:
    async with hub_harness() as hub, hub.websocket(hub.hub.tokens.view) as frontend:
        assert (await ask(frontend, type="hello", token="wrong"))["error"]["code"] == "unauthorized"
        assert (await ask(frontend, type="interrupt", session=SESSION))["ok"] is False
        assert (await ask(frontend, type="hello", token=hub.token))["result"]["role"] == "control"
        assert (await ask(frontend, type="interrupt", session=SESSION))["ok"] is True


async def test_commands_over_the_rate_are_refused_one_by_one() -> None:
    config = HubConfig(limits=Limits(commands_per_s=0.001, commands_burst=5))
    async with hub_harness(config) as hub, hub.websocket() as frontend:
        replies = [await ask(frontend, type="session.list", id=str(number)) for number in range(7)]
        assert [reply["ok"] for reply in replies] == [True] * 5 + [False] * 2
        assert replies[-1]["error"]["code"] == "rate_limited"


async def test_a_flood_of_commands_ends_in_a_close_code() -> None:
    config = HubConfig(limits=Limits(commands_per_s=0.001, commands_burst=1))
    async with hub_harness(config) as hub, hub.websocket() as flood, hub.websocket() as good:
        await receive(good)
        for number in range(1002):
            await flood.send(json.dumps({"type": "session.list", "id": str(number)}))
        with pytest.raises(ConnectionClosed):
            await ask(flood, type="session.list", id="never")
        assert flood.close_code == 4429
        assert (await ask(good, type="session.list"))["ok"] is True


async def test_permessage_deflate_is_an_option() -> None:
    async with hub_harness() as hub, hub.websocket() as frontend:
        assert frontend.protocol.extensions == []
    async with hub_harness(HubConfig(compression=True)) as hub, hub.websocket() as frontend:
        assert frontend.protocol.extensions != []
        await ask(frontend, type="subscribe", session=SESSION)
        await hub.append(*["text " * 100] * 3)
        assert [seq for seq, _ in await events(frontend, 3)] == [1, 2, 3]


async def test_stopping_the_hub_says_goodbye() -> None:
    async with hub_harness(HubConfig(token=SecretStr("0123456789abcdef"))) as hub:
        frontend = await hub.websocket()
        await receive(frontend)
    with pytest.raises(ConnectionClosed):
        await receive(frontend)
    assert frontend.close_code == 1001


async def test_a_frontend_that_may_view_cannot_guess_the_other_token_for_ever() -> None:
    config = HubConfig(limits=Limits(failed_tokens=2, failed_tokens_per_s=0.001, wrong_token_s=0.01))
    async with hub_harness(config) as hub, hub.websocket(hub.hub.tokens.view) as frontend:
        for _ in range(2):
            assert "not a token" in (await ask(frontend, type="hello", token="guess"))["error"]["message"]
        assert "too many" in (await ask(frontend, type="hello", token="guess"))["error"]["message"]
        assert hub.hub.refusals.counts["guessing"] == 1


class CountingJournal(MemoryJournal):
    """Counts the events that were read in full."""

    read = 0

    async def whole(self, session: str, seq: int) -> WholeEntry | None:
        self.read += 1
        return await super().whole(session, seq)


async def test_events_in_full_are_read_only_as_fast_as_their_replies_are() -> None:
    journal = CountingJournal()
    size, count = 2 << 20, 60
    async with hub_harness(journal=journal) as hub, hub.websocket(max_size=None) as good:
        await hub.append("x" * size)
        async with hub.websocket(hub.hub.tokens.view, max_size=None) as greedy:
            await receive(greedy)
            greedy.transport.pause_reading()
            for number in range(count):
                await greedy.send(
                    json.dumps({"type": "payload.get", "id": str(number), "session": SESSION, "seq": 1})
                )
            while journal.read < 1:
                await ask(good, type="session.list")
            for _ in range(50):
                await ask(good, type="session.list")
            # What the buffers of both ends take, and one that waits.
            assert journal.read <= 4
            assert (await ask(good, type="payload.get", session=SESSION, seq=1))["ok"] is True
            greedy.transport.resume_reading()
            answered: set[str] = set()
            while len(answered) < count:
                frame = await receive(greedy)
                if frame["type"] == "reply":
                    assert len(frame["result"]["event"]["text"]) == size
                    answered.add(frame["id"])
            assert journal.read == count + 1


@pytest.mark.long
async def test_one_that_does_not_read_keeps_no_large_event_from_the_others() -> None:
    limits = Limits(unread=4 << 20, unread_s=0.3, silence_s=3600)
    async with hub_harness(HubConfig(limits=limits)) as hub, AsyncExitStack() as stack:
        stalled = [await stack.enter_async_context(hub.websocket(hub.hub.tokens.view)) for _ in range(4)]
        for frontend in stalled:
            await ask(frontend, type="subscribe", session=SESSION)
            frontend.transport.pause_reading()
        good = await stack.enter_async_context(hub.websocket(max_size=None))
        await ask(good, type="subscribe", session=SESSION)
        large = "x" * (3 << 20)
        for number in range(1, 4):
            await hub.append(large)
            assert (await events(good, number))[-1] == (number, large)
        assert hub.hub.unread <= (4 << 20) + (3 << 20)
        assert hub.hub.refusals.counts["unread"] >= 1
        # Small ones ask for no room.
        await hub.append("after")
        assert (await events(good, 4))[-1] == (4, "after")


class Histories:
    """A library whose answers wait until they are let go."""

    def __init__(self) -> None:
        self.doing = 0
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.go_on = asyncio.Event()

    async def __call__(self, command: AnyCommand) -> JsonValue:
        self.begun.append(command.id or "")
        self.doing += 1
        try:
            await self.go_on.wait()
        finally:
            self.doing -= 1
            self.ended.append(command.id or "")
        return {"name": "x.md", "content": "x"}


def export(number: int) -> str:
    return json.dumps({"type": "library.export", "id": str(number), "conversation": "c"})


async def test_exports_are_made_one_by_one_and_hold_up_nothing_else() -> None:
    histories = Histories()
    host = StubHost()
    host.handlers["library.export"] = histories
    async with hub_harness(host=host) as hub, hub.websocket() as frontend:
        await receive(frontend)
        for number in range(5):
            await frontend.send(export(number))
        assert (await ask(frontend, type="prompt", session=SESSION, text="go on"))["ok"]
        assert histories.begun == ["0"]
        async with hub.websocket(hub.hub.tokens.view) as viewer:
            await receive(viewer)
            # the role view has a line of its own
            await viewer.send(export(10))
            await until(lambda: histories.begun == ["0", "10"])
            histories.go_on.set()
            assert [(await receive(frontend))["id"] for _ in range(5)] == ["0", "1", "2", "3", "4"]
            assert (await receive(viewer))["id"] == "10"


async def test_exports_end_with_the_frontend_that_asked_and_only_so_many_wait() -> None:
    histories = Histories()
    host = StubHost()
    host.handlers["library.export"] = histories
    limits = Limits(commands_in_flight=3)
    async with hub_harness(HubConfig(limits=limits), host=host) as hub:
        async with hub.websocket() as leaving:
            await receive(leaving)
            for number in range(4):
                await leaving.send(export(number))
            refused = await receive(leaving)
            assert (refused["id"], refused["error"]["code"]) == ("3", "rate_limited")
            await until(lambda: histories.begun == ["0"])
            leaving.transport.abort()
        await until(lambda: histories.ended == ["0"])
        async with hub.websocket() as frontend:
            await receive(frontend)
            await frontend.send(export(9))
            await until(lambda: len(histories.begun) == 2)
            assert histories.begun == ["0", "9"]
            histories.go_on.set()
            assert (await receive(frontend))["id"] == "9"

"""Principals at the hub: what they may see, under which name they act, and that nothing of them is left once they are over."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hub_harness import HubHarness, StubHost, ask, hub_harness, receive
from pydantic import JsonValue

from turnwire.hub.config import HubConfig, Limits
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.hub import Hub
from turnwire.hub.principals import BadPrincipal, Principal, Scope
from turnwire.hub.server.access import AccessError, RoleTokens
from turnwire.hub.server.cookies import Cookies
from turnwire.hub.wire.frames import AnyCommand
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.memory import MemoryJournal
from turnwire.sidecar.principals.kept import new_token

ANN = Principal("control", "ann", Scope.parse(["own"]), "id-ann")
EVE = Principal("view", "eve", Scope.parse(["folder:/srv/eve"]), "id-eve")
BOSS = Principal("view", "boss", Scope.parse(["all"]), "id-boss")


class Few:
    """Some principals, whose tokens are their names."""

    def __init__(self, *those: Principal) -> None:
        self.those = {f"twp-{one.name}": one for one in those}
        self.refreshed: Callable[[], None] = lambda: None
        self._watchers: list[Callable[[], None]] = []

    def of_token(self, token: str) -> Principal | None:
        return self.those.get(token)

    def of_id(self, token_id: str) -> Principal | None:
        return next((one for one in self.those.values() if one.id == token_id), None)

    def secret(self, token_id: str) -> bytes:
        return token_id.encode()

    def refresh(self) -> None:
        self.refreshed()

    def watch(self, watcher: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def revoke(self, name: str) -> None:
        del self.those[f"twp-{name}"]
        for watcher in self._watchers:
            watcher()


def summary(session: str, **more: Any) -> SessionSummary:
    return SessionSummary(session=session, state="idle", last_seq=0, pending=0, **more)


def house() -> StubHost:
    host = StubHost()
    host.summaries = [
        summary("anns", owner="ann", workspace="/srv/ann"),
        summary("eves", workspace="/srv/eve/deep"),
        summary("other", owner="bob", workspace="/srv/everybody"),
    ]
    return host


def named(frame: dict[str, Any]) -> list[str]:
    return [one["session"] for one in frame["sessions"]]


def served(few: Few, **options: Any) -> Any:
    return hub_harness(host=house(), principals=few, **options)


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["all"], "anns eves other"),
        (["own"], "anns"),
        (["folder:/srv/eve"], "eves"),
        (["folder:/srv"], "anns eves other"),
        (["folder:/srv/eve/deep/deeper"], ""),
        (["folder:/"], "anns eves other"),
        (["own", "folder:/srv/eve/"], "anns eves"),
    ],
)
def test_a_scope_shows_what_it_names_and_nothing_beside_it(words: list[str], seen: str) -> None:
    principal = Principal("view", "ann", Scope.parse(words))
    assert [one.session for one in house().summaries if principal.sees(one)] == seen.split()


@pytest.mark.parametrize(
    "words",
    [
        [], ["each"], ["folder:work"], ["folder:/a/../b"], ["folder:"], [""], ["own", "in:work"], ["own", "in:/a/.."], ["own", "worker:"],
        ["in:/a"], ["worker:a"],
    ],
)  # fmt: skip
def test_what_is_no_scope_is_refused(words: list[str]) -> None:
    with pytest.raises(BadPrincipal):
        Scope.parse(words)


def test_where_a_principal_may_begin_sessions_is_named_once_for_all_by_their_names() -> None:
    words = ["own", "folder:/home/{user}", "in:/home/{user}/work", "worker:{user}", "worker:shared"]
    scope = Scope.parse(words)
    assert scope.words() == words
    ann = Principal("control", "ann", scope).scope
    assert ann.words() == ["own", "folder:/home/ann", "in:/home/ann/work", "worker:ann", "worker:shared"]
    assert Principal("control", "ann", ann).scope == ann
    for name, labels, group, may in (
        ("ann", [], None, True), ("w", ["gpu", "ann"], None, True), ("w", [], "shared", True),
        ("bob", ["gpu"], "g", False), (None, [], None, False), ("{user}", [], None, False),
    ):  # fmt: skip
        assert ann.check_worker(name, labels, group) is may, (name, labels, group)
    assert Scope(own=True).check_worker(None, [], None)
    # Of somebody without a name it is nobody's.
    assert not Principal("control", None, scope).scope.check_worker("ann", [], None)


def test_a_workspace_with_dots_is_below_no_folder() -> None:
    assert not EVE.sees(summary("s", workspace="/srv/eve/../ann"))
    assert not EVE.sees(summary("s"))
    assert not Principal("view", None, Scope(own=True)).sees(summary("s"))


async def test_what_a_principal_may_not_see_is_for_it_as_if_it_were_not_there() -> None:
    few = Few(ANN, EVE, BOSS)
    async with served(few) as running:
        for session in ("anns", "eves", "other", "unlisted"):
            await running.append("x", session=session)
        async with running.websocket("twp-ann") as websocket:
            assert named(await receive(websocket)) == ["anns"]
            listed = await ask(websocket, type="session.list")
            assert [one["session"] for one in listed["result"]] == ["anns"]
            for session in ("eves", "other", "unlisted", "none-such"):
                for command in (
                    {"type": "subscribe"},
                    {"type": "unsubscribe"},
                    {"type": "payload.get", "seq": 1},
                    {"type": "events.get"},
                    {"type": "prompt", "text": "x"},
                    {"type": "session.delete"},
                    {"type": "session.fork"},
                    {"type": "session.resume"},
                    {"type": "prompt.withdraw", "prompt": "x"},
                    {"type": "native.begin", "host": "box"},
                    {"type": "native.take_back"},
                    {"type": "worktree.status"},
                    {"type": "worktree.act", "action": "discard"},
                    {"type": "port.list"},
                    {"type": "replay.control", "action": "pause"},
                ):
                    reply = await ask(websocket, session=session, **command)
                    assert reply["error"] == {
                        "code": "unknown_session",
                        "field": "session",
                        "message": f"There is no session {session!r}.",
                    }
            assert (await ask(websocket, type="subscribe", session="anns"))["ok"]
            for session in ("eves", "unlisted", "none-such"):
                reply = await ask(websocket, type="library.export", conversation=f"live:{session}")
                assert reply["error"]["code"] == "unknown_session"
            # they have the sessions of all
            for command in ({"type": "worktree.list"}, {"type": "worktree.remove", "path": "/trees/eves"}):
                assert (await ask(websocket, **command))["error"]["code"] == "forbidden"
        assert not running.host.commands
        auth = {"Authorization": "Bearer twp-ann"}
        status, _, body = await running.request("/sessions", headers=auth)
        assert (status, [one["session"] for one in json.loads(body)]) == (200, ["anns"])
        refused = [
            await running.request(f"/sessions/{session}/events", headers=auth)
            for session in ("other", "unlisted", "none-such")
        ]
        assert {(status, body) for status, _, body in refused} == {(404, refused[-1][2])}
        assert (await running.request("/metrics", headers=auth))[0] == 403
        assert (await running.request("/metrics", headers={"Authorization": "Bearer twp-boss"}))[0] == 200
        # who sees all also sees what is not listed
        async with running.websocket("twp-boss") as websocket:
            assert named(await receive(websocket)) == ["anns", "eves", "other"]
            assert (await ask(websocket, type="subscribe", session="unlisted"))["ok"]


async def test_the_list_tells_of_what_is_seen_and_is_silent_about_the_rest() -> None:
    async with served(Few(ANN)) as running, running.websocket("twp-ann") as websocket:
        await receive(websocket)
        running.host.summaries[2] = summary("other", owner="bob", title="secret")
        running.host.changed()
        running.host.summaries.append(summary("more", owner="ann"))
        running.host.changed()
        frame = await receive(websocket)
        assert (frame["type"], named(frame)) == ("sessions", ["anns", "more"])


async def test_a_principal_acts_under_its_own_name_whatever_it_calls_itself() -> None:
    async with served(Few(ANN)) as running:
        async with running.websocket("twp-ann") as first, running.websocket("twp-ann") as second:
            for websocket in (first, second):
                await receive(websocket)
                reply = await ask(websocket, type="hello", name="bob")
                assert reply["result"] == {"name": "user:ann", "role": "control"}
                await ask(websocket, type="prompt", session="anns", text="x")
        assert [(who.name, who.user, who.scope) for _, who in running.host.commands] == [
            ("user:ann", "ann", ANN.scope)
        ] * 2
        async with running.websocket() as websocket:
            await receive(websocket)
            for name in ("user:ann", "USER:ann", "user\uff1aann"):
                assert (await ask(websocket, type="hello", name=name))["error"]["field"] == "name"
            # nor does one connection become another's
            reply = await ask(websocket, type="hello", token="twp-ann")
            assert reply["error"]["code"] == "forbidden"


async def test_a_token_that_is_over_closes_what_it_has_opened_and_nothing_else() -> None:
    few = Few(ANN, BOSS)
    async with served(few) as running:
        cookie = await running.log_in("twp-ann")
        assert (await running.request("/sessions", headers=cookie))[0] == 200
        reader, writer = await asyncio.open_connection("127.0.0.1", running.hub.port)
        writer.write(
            f"GET /sessions/anns/events HTTP/1.1\r\nHost: 127.0.0.1:{running.hub.port}\r\n"
            "Authorization: Bearer twp-ann\r\n\r\n".encode()
        )
        async with (
            running.websocket("twp-ann") as by_token,
            running.websocket(None, headers=cookie) as by_cookie,
            running.websocket("twp-boss") as boss,
        ):
            for websocket in (by_token, by_cookie, boss):
                await receive(websocket)
            async with asyncio.timeout(30):
                await reader.readuntil(b"\r\n\r\n")
            few.revoke("ann")
            async with asyncio.timeout(30):
                await by_token.wait_closed()
                await by_cookie.wait_closed()
                await reader.read()
            assert (by_token.close_code, by_cookie.close_code) == (4401, 4401)
            assert (await ask(boss, type="session.list"))["ok"]
        writer.close()
        for headers in (cookie, {"Authorization": "Bearer twp-ann"}):
            assert (await running.request("/sessions", headers=headers))[0] == 401


async def test_what_is_said_after_a_revoke_is_not_heard_though_nobody_has_told_yet() -> None:
    few = Few(ANN)
    async with served(few) as running, running.websocket("twp-ann") as websocket:
        await receive(websocket)
        few.refreshed = lambda: few.revoke("ann") if few.those else None
        await websocket.send(json.dumps({"type": "prompt", "id": "1", "session": "anns", "text": "x"}))
        async with asyncio.timeout(30):
            await websocket.wait_closed()
        assert websocket.close_code == 4401
        assert not running.host.commands


def test_a_cookie_of_a_principal_needs_the_hubs_own_token_and_that_of_the_principal() -> None:
    few = Few(ANN, EVE)
    tokens = RoleTokens("control-token-0123456789", "view-token-0123456789")
    value = Cookies(tokens, None, few).give(ANN, 1.0)
    key = Cookies(tokens, None, few).key(value) or ""
    found = Cookies(tokens, None, few).login(value, key)
    assert found is not None
    assert found.principal == ANN
    others = RoleTokens("another-token-0123456789", tokens.view)
    assert Cookies(others, None, few).login(value, key) is None
    assert Cookies(tokens).login(value, key) is None
    assert Cookies(tokens, None, few).login(value.replace("id-ann", "id-eve"), key) is None
    assert Cookies(tokens, None, few).login(value.rpartition(".")[0], key) is None


async def test_who_is_invited_by_a_principal_is_that_principal_and_over_with_it() -> None:
    lead = Principal("control", "lead", Scope.parse(["all"]), "id-lead")
    few = Few(ANN, lead)
    async with served(few) as running:
        for who, role in ((ANN, "control"), (ANN, "view"), (lead, "control")):
            async with running.websocket(f"twp-{who.name}") as websocket:
                await receive(websocket)
                code = (await ask(websocket, type="access.invite", role=role))["result"]["code"]
            cookie = await running.log_in(code)
            async with running.websocket(None, headers=cookie) as websocket:
                welcome = await receive(websocket)
                assert welcome["role"] == role
                assert named(welcome) == (["anns"] if who is ANN else ["anns", "eves", "other"])
                reply = await ask(websocket, type="hello", name="x")
                assert reply["result"]["name"] == f"user:{who.name}"
            if role == "view":
                raised = {**cookie, "Cookie": cookie["Cookie"].replace(".view", ".control")}
                assert (await running.request("/sessions", headers=raised))[0] == 401
        few.revoke("lead")
        assert (await running.request("/sessions", headers=cookie))[0] == 401


PROXY = HubConfig(
    trusted_proxies=("127.0.0.1",), proxy_user_header="X-Auth-Request-User", proxy_user_sessions=("own",)
)


async def test_the_rate_of_commands_is_a_principal_s_however_many_connections_it_has() -> None:
    config = HubConfig(limits=Limits(commands_per_s=0.001, commands_burst=6))

    async def allowed(websocket: Any, count: int) -> list[bool]:
        await receive(websocket)
        replies = [await ask(websocket, type="session.list", id=str(number)) for number in range(count)]
        return [reply["ok"] for reply in replies]

    async with (
        served(Few(ANN, EVE), config=config) as running,
        running.websocket("twp-ann") as one,
        running.websocket("twp-ann") as two,
        running.websocket("twp-eve") as other,
        running.websocket() as own,
        running.websocket() as another,
    ):
        assert await allowed(one, 4) == [True] * 4
        assert await allowed(two, 4) == [True] * 2 + [False] * 2
        for websocket in (other, own, another):
            assert await allowed(websocket, 7) == [True] * 6 + [False]


async def test_a_trusted_proxy_names_who_comes() -> None:
    async with served(Few(), config=PROXY) as running:
        user = {"X-Auth-Request-User": "ann"}
        async with running.websocket(None, headers=user) as websocket:
            assert named(await receive(websocket)) == ["anns"]
            assert (await ask(websocket, type="hello", name="x"))["result"]["name"] == "user:ann"
        _, _, body = await running.request("/sessions", headers=user)
        assert [one["session"] for one in json.loads(body)] == ["anns"]
        for said in ("ann, bob", "", "a b", "x" * 65, "user:ann"):
            status, _, body = await running.request("/sessions", headers={"X-Auth-Request-User": said})
            assert (status, json.loads(body)["error"]["code"]) == (403, "bad_user")
        # a page of another origin rides on nobody's login
        evil = {**user, "Origin": "http://evil.example"}
        assert (await running.request("/sessions", headers=evil))[0] == 403


async def test_a_proxy_s_users_may_begin_sessions_each_in_a_place_of_its_own() -> None:
    host = house()
    asked: list[Frontend] = []

    async def create(_: AnyCommand, frontend: Frontend) -> JsonValue:
        asked.append(frontend)
        return {"session": "s"}

    host.execute = create  # type: ignore[method-assign, assignment]
    config = PROXY.model_copy(update={"proxy_user_sessions": ("own", "in:/home/{user}", "worker:{user}")})
    async with hub_harness(host=host, principals=Few(), config=config) as running:
        for name in ("ann", "bob"):
            headers = {"X-Auth-Request-User": name}
            async with running.websocket(None, headers=headers) as websocket:
                await receive(websocket)
                await ask(websocket, type="session.create")
    assert [(one.user, one.scope.places, one.scope.workers) for one in asked] == [
        ("ann", ("/home/ann",), ("ann",)),
        ("bob", ("/home/bob",), ("bob",)),
    ]


async def test_who_is_named_by_a_proxy_invites_no_browser_to_pass_it() -> None:
    async with (
        served(Few(), config=PROXY) as running,
        running.websocket(None, headers={"X-Auth-Request-User": "ann"}) as websocket,
    ):
        reply = await ask(websocket, type="access.invite")
        assert (reply["ok"], reply["error"]["code"]) == (False, "forbidden")
        assert "log in there" in reply["error"]["message"]


@pytest.mark.parametrize("path", ["/sessions", "/sessions/anns/events", "/metrics", "/login", "/ws", "/"])
async def test_the_header_of_a_proxy_is_refused_from_anybody_else(path: str) -> None:
    config = PROXY.model_copy(update={"trusted_proxies": ("192.0.2.7",)})
    async with served(Few(), config=config) as running:
        forged = {"x-auth-request-USER": "ann", "X-Forwarded-For": "192.0.2.7"}
        status, _, body = await running.request(path, headers=forged)
        assert (status, json.loads(body)["error"]["code"]) == (403, "not_by_proxy")


def test_a_proxy_that_nobody_trusts_names_nobody() -> None:
    with pytest.raises(AccessError, match="trusted_proxies"):
        Hub(MemoryJournal(), StubHost(), HubConfig(proxy_user_header="X-User"))


async def test_without_the_setting_the_header_is_a_header_like_any_other() -> None:
    async with served(Few()) as running:
        harness: HubHarness = running
        assert (await harness.request("/sessions", headers={"X-Auth-Request-User": "ann"}))[0] == 401


async def test_names_of_machines_and_servers_are_for_those_who_see_all_sessions() -> None:
    few = Few(ANN, BOSS)
    host = house()
    trouble = "The Redis at redis.example:6379 cannot be used."
    host.summaries = [summary("anns", owner="ann", worker="build-1", trouble=trouble)]

    async def away(command: AnyCommand) -> JsonValue:
        raise CommandRefused("unreachable", f"the worker 'build-1' has not answered {command.type}")

    host.handlers["prompt"] = away
    async with hub_harness(host=host, principals=few) as running:
        for name, seen in (("boss", True), ("ann", False)):
            async with running.websocket(f"twp-{name}") as websocket:
                welcome = await receive(websocket)
                (listed,) = welcome["sessions"]
                assert (listed.get("worker") == "build-1") is seen
                assert (listed["trouble"] == trouble) is seen
                if seen:
                    continue
                refused = await ask(websocket, type="prompt", session="anns", text="hi")
                assert refused["error"]["code"] == "unreachable"
                told = json.dumps([welcome, refused])
                host.summaries = [summary("anns", owner="ann", worker="build-2", trouble=trouble, title="t")]
                host.changed()
                told += json.dumps(await receive(websocket))
                assert "build-" not in told
                assert "redis.example" not in told


async def test_only_an_admin_leads_the_workers_of_a_fleet() -> None:
    ops, made = new_token("ops", "admin", Scope.parse(["all"]), now=0.0, lasts_s=None)
    admin = made.principal()
    assert ops.startswith("twp-")
    assert (admin.role, admin.admin, admin.as_viewer().admin) == ("control", True, False)
    lead = Principal("control", "lead", Scope.parse(["all"]), "id-lead")
    few = Few(admin, lead, BOSS, ANN)
    host = house()
    done: list[str] = []

    async def leads(command: AnyCommand) -> JsonValue:
        done.append(command.type)
        return None

    commands: list[dict[str, Any]] = [
        {"type": "fleet.list"},
        {"type": "fleet.lead", "worker": "w", "action": "drain"},
        {"type": "fleet.take", "session": "s", "worker": "w"},
    ]
    host.handlers.update({command["type"]: leads for command in commands})
    async with hub_harness(host=host, principals=few) as running:
        for token in ("twp-lead", "twp-boss", "twp-ann", running.token, "twp-ops"):
            async with running.websocket(token) as websocket:
                await receive(websocket)
                for command in commands:
                    reply = await ask(websocket, **command)
                    if token == "twp-ops":
                        assert reply["ok"], reply
                    else:
                        assert reply["error"]["code"] == "forbidden"
        assert done == [command["type"] for command in commands]

"""A hub that is mounted into an application with users of its own, behind a real uvicorn: the example, and attacks on it."""

import asyncio
import math
import runpy
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from msgspec import structs
from playwright.async_api import expect
from starlette.applications import Starlette
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

import turnwire
from agent_process import DEADLINE
from console_page import WAIT_MS, chromium
from live import Frontend
from recordings import ROOT
from turnwire.client import AccessRefused, Backoff, Client, CommandFailed
from turnwire.client import commands as ask
from turnwire.client import connect as connect_patiently
from turnwire.client.events import Complete, PermissionRequest, PermissionResolved

connect = partial(connect_patiently, backoff=Backoff(first=0.005, most=0.02))


@dataclass
class Mounted:
    base: str
    names: dict[str, Any]

    @property
    def agents(self) -> str:
        return f"{self.base}/agents"

    @property
    def websocket(self) -> str:
        return f"{self.agents.replace('http', 'ws', 1)}/ws"


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The address of an application that uvicorn serves."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(DEADLINE):
                while not server.started:
                    assert not serving.done(), "uvicorn has ended"
                    await asyncio.sleep(0.01)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


@asynccontextmanager
async def example(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mounted]:
    """An example, with an agent that asks before it runs a command."""
    monkeypatch.chdir(folder)
    for variable in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(folder))
    names = runpy.run_path(str(ROOT / "examples" / "library" / name))
    async with asyncio.timeout(DEADLINE), served(names["app"]) as base:
        yield Mounted(base, names)


@pytest.fixture
async def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Mounted]:
    """The example on Starlette."""
    async with example("mounted.py", tmp_path, monkeypatch) as mounted:
        yield mounted


async def code_of(client: Client, command: Any) -> str:
    with pytest.raises(CommandFailed) as caught:
        await client.command(command)
    return caught.value.code


async def test_the_applications_own_users_steer_watch_or_are_not_let_in(mounted: Mounted) -> None:
    async with connect(mounted.agents, "of-ann") as ann, connect(mounted.agents, "of-vera") as vera:
        assert [one.welcome.role for one in (ann, vera) if one.welcome] == ["control", "view"]
        mine = await Frontend(ann, await ann.create()).caught_up()
        assert [one.owner for one in await ann.sessions()] == ["ann"]
        await mine.prompt("Make it friendlier")
        request = await mine.until(PermissionRequest)
        allow = request.permission_options[0].option_id
        # whoever may only watch decides nothing
        for command in (
            ask.PermissionRespond(session=mine.session, pending_id=request.pending_id, option_id=allow),
            ask.Prompt(session=mine.session, text="x"),
            ask.SessionCreate(),
            ask.AccessInvite(role="control"),
        ):
            assert await code_of(vera, command) == "forbidden"
        assert [one.session for one in await vera.sessions()] == [mine.session]
        await mine.respond(request)
        assert (await mine.until(PermissionResolved)).by == "user:ann"
    for wrong in ("of-nobody", None):
        with pytest.raises(AccessRefused, match="does not let you in"):
            async with connect(mounted.agents, wrong):
                pass


@pytest.mark.long
async def test_in_a_fastapi_application_its_own_logins_decide_who_steers_and_who_watches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        example("fastapi_mounted.py", tmp_path, monkeypatch) as mounted,
        httpx2.AsyncClient(base_url=mounted.base) as http,
    ):
        assert (await http.get("/me")).status_code == 401
        assert (await http.post("/login", auth=("ann", "of-vera"))).status_code == 401
        assert "/me" in (await http.get("/openapi.json")).json()["paths"], (
            "the application's own routes go on"
        )
        tokens = {}
        for name, role in (("vera", "view"), ("ann", "control")):
            tokens[name] = (await http.post("/login", auth=(name, f"of-{name}"))).json()["token"]
            assert (await http.get("/me")).json() == {"name": name, "role": role}
        assert (await http.get("/agents/")).status_code == 200
        async with (
            connect(mounted.agents, tokens["ann"]) as ann,
            connect(mounted.agents, tokens["vera"]) as vera,
        ):
            mine = await Frontend(ann, await ann.create()).caught_up()
            await mine.prompt("Make it friendlier")
            request = await mine.until(PermissionRequest)
            allow = request.permission_options[0].option_id
            answer = ask.PermissionRespond(
                session=mine.session, pending_id=request.pending_id, option_id=allow
            )
            assert await code_of(vera, answer) == "forbidden"
            await mine.respond(request)
            assert (await mine.until(PermissionResolved)).by == "user:ann"
            assert await code_of(ann, answer) == "already_answered"
        # who is logged out is cut off
        cookie = {"Cookie": f"login={http.cookies['login']}"}
        async with open_websocket(mounted.websocket, additional_headers=cookie) as socket_:
            await socket_.recv()
            await http.post("/logout")
            await socket_.wait_closed()
            assert socket_.close_code == 4401
        for wrong in ("of-ann", tokens["ann"], None):
            with pytest.raises(AccessRefused, match="does not let you in"):
                async with connect(mounted.agents, wrong):
                    pass


async def test_pages_and_streams_are_served_below_the_path(mounted: Mounted) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer of-ann"}) as http:
        page = await http.get(f"{mounted.agents}/")
        assert (page.status_code, "<script" in page.text) == (200, True)
        assert "content-security-policy" in page.headers
        async with connect(mounted.agents, "of-ann") as ann:
            session = await ann.create()
            assert [one["session"] for one in (await http.get(f"{mounted.agents}/sessions")).json()] == [
                session
            ]
            async with http.stream("GET", f"{mounted.agents}/sessions/{session}/events") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                async for line in stream.aiter_lines():
                    if line.startswith("data:"):
                        break
        assert (await http.get(f"{mounted.agents}/metrics")).status_code == 403, "ann may not see all"
        posted = await http.post(f"{mounted.agents}/login", content=b"x" * 1000)
        assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD")
        assert "WebSocket at /ws" in posted.json()["error"]["message"]


async def test_other_hosts_and_origins_and_callers_without_a_login_are_refused(mounted: Mounted) -> None:
    bearer = {"Authorization": "Bearer of-ann"}
    async with httpx2.AsyncClient() as http:
        for headers, status in (
            ({}, 401),
            ({"Authorization": "Bearer of-nobody"}, 401),
            ({**bearer, "Host": "attacker.example"}, 403),
            ({**bearer, "Origin": "https://attacker.example"}, 403),
            ({**bearer, "Sec-Fetch-Site": "cross-site"}, 403),
            # the hub's own ways in are not passed on, and no token of the hub is known to the application
            ({"Cookie": "turnwire-1=x; login=x", "X-Turnwire-Key": "x"}, 401),
            ({"X-Forwarded-For": "10.0.0.1", "X-Remote-User": "ann"}, 401),
        ):
            answer = await http.get(f"{mounted.agents}/sessions", headers=headers)
            assert answer.status_code == status, headers
        assert (await http.get(f"{mounted.agents}/sessions?token=of-ann")).status_code == 401
        # a huge body is not read
        answer = await http.post(f"{mounted.agents}/sessions", headers=bearer, content=b"x" * (32 << 20))
        assert answer.status_code == 405
    for headers in (
        {},
        {**bearer, "Origin": "https://attacker.example"},
        {**bearer, "Host": "attacker.example"},
    ):
        with pytest.raises(InvalidStatus):
            async with open_websocket(mounted.websocket, additional_headers=headers):
                pass
    # a token of the hub's own changes nobody into somebody else
    other = f'{{"type":"hello","id":"1","token":"{"x" * 40}"}}'
    async with open_websocket(
        mounted.websocket, additional_headers=bearer, subprotocols=[Subprotocol("turnwire.v1")]
    ) as socket_:
        assert '"role":"control"' in str(await socket_.recv())
        await socket_.send(other)
        reply = str(await socket_.recv())
        assert '"unauthorized"' in reply


async def test_who_is_logged_out_is_cut_off(mounted: Mounted) -> None:
    async with httpx2.AsyncClient() as http:
        await http.post(f"{mounted.base}/login", content="of-ann")
        cookie = {"Cookie": f"login={http.cookies['login']}"}
        async with open_websocket(mounted.websocket, additional_headers=cookie) as socket_:
            await socket_.recv()
            await http.post(f"{mounted.base}/logout")
            await socket_.wait_closed()
            assert socket_.close_code == 4401


async def test_a_slow_reader_costs_no_memory_and_keeps_nobody_waiting(mounted: Mounted) -> None:
    async with (
        connect(mounted.agents, "of-ann") as ann,
        open_websocket(
            mounted.websocket,
            additional_headers={"Authorization": "Bearer of-ann"},
            max_queue=1,
            close_timeout=0.1,
        ) as slow,
    ):
        await slow.recv()
        mine = await Frontend(ann, await ann.create()).caught_up()
        await slow.send(f'{{"type":"subscribe","id":"1","session":"{mine.session}"}}')
        for _ in range(3):
            await mine.prompt("/help")
            await mine.until(Complete)


async def test_without_its_lifespan_it_says_what_is_missing() -> None:
    async def nobody(_: object) -> None:
        return None

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
        else:
            await turnwire.asgi(nobody)(scope, receive, send)

    async with served(app) as base, httpx2.AsyncClient() as http:
        answer = await http.get(base)
        assert (answer.status_code, "hub.lifespan" in answer.text) == (503, True)


async def test_a_refusal_of_the_hub_is_passed_on_and_a_wrong_answer_lets_nobody_in(tmp_path: Path) -> None:
    answer: Any = turnwire.user("ann", "control", "all")

    async def who(_: object) -> Any:
        return answer

    hub = turnwire.asgi(who, agent="demo", journal="memory", max_connections=1, state_dir=tmp_path)
    app = Starlette(lifespan=hub.lifespan)
    app.mount("/agents", hub)
    async with asyncio.timeout(DEADLINE), served(app) as base, httpx2.AsyncClient() as http:
        websocket = f"{base.replace('http', 'ws', 1)}/agents/ws"
        async with open_websocket(websocket):
            with pytest.raises(InvalidStatus) as caught:
                await open_websocket(websocket)
        assert (caught.value.response.status_code, b"connections" in caught.value.response.body) == (
            503,
            True,
        )
        answer = "ann"
        assert (await http.get(f"{base}/agents/sessions")).status_code == 500
        answer = None
        assert (await http.get(f"{base}/agents/sessions")).status_code == 401


WRONG_ROLES: list[Any] = [
    "viewer", "", "Control", "VIEW", " view", "view ", "control\n", "admin", "none", None, True, 0, b"view", ["view"],
]  # fmt: skip


@pytest.mark.parametrize("role", WRONG_ROLES, ids=repr)
def test_a_role_that_there_is_not_makes_no_user(role: Any) -> None:
    scope = turnwire.user("ann", "view", "all").scope
    ways: list[Callable[[], turnwire.User]] = [
        lambda: turnwire.user("ann", role, "all"),
        lambda: turnwire.User(role, "ann", scope),
        lambda: structs.replace(turnwire.user("ann"), role=role),
    ]
    for make in ways:
        with pytest.raises(turnwire.TurnwireError, match="is not a role: give 'control' or 'view'"):
            make()


@pytest.mark.parametrize("scope", ["all", None, ("all",)], ids=repr)
def test_sessions_that_are_no_scope_make_no_user(scope: Any) -> None:
    with pytest.raises(turnwire.TurnwireError, match="is not a scope"):
        turnwire.User("view", "ann", scope)


@pytest.mark.parametrize("words", [("viewer",), ("ALL",), ("",), ("own", "al"), ("folder:x",)], ids=repr)
def test_a_word_that_names_no_sessions_makes_no_user(words: tuple[str, ...]) -> None:
    with pytest.raises(turnwire.TurnwireError, match="is not a scope"):
        turnwire.user("ann", "view", *words)


async def test_who_names_a_role_that_there_is_not_lets_nobody_in(tmp_path: Path) -> None:
    role: Any = "viewer"

    def who(_: object) -> turnwire.User:
        return turnwire.user("ann", role, "all")

    hub = turnwire.asgi(who, agent="demo", journal="memory", state_dir=tmp_path)
    app = Starlette(lifespan=hub.lifespan)
    app.mount("/agents", hub)
    async with asyncio.timeout(DEADLINE), served(app) as base, httpx2.AsyncClient() as http:
        websocket = f"{base.replace('http', 'ws', 1)}/agents/ws"
        for wrong in ("viewer", "", "Control"):
            role = wrong
            assert (await http.get(f"{base}/agents/sessions")).status_code == 500
            with pytest.raises(InvalidStatus):
                await open_websocket(websocket)
        role = "view"
        async with connect(f"{base}/agents", None) as ann:
            assert ann.welcome is not None
            assert ann.welcome.role == "view"
            assert await code_of(ann, ask.SessionCreate()) == "forbidden"


class _Asked:
    """A callable object, as applications keep one with its database."""

    def __init__(self) -> None:
        self.threads = set[str]()

    async def __call__(self, _: object) -> turnwire.User:
        self.threads.add(threading.current_thread().name)
        return turnwire.user("ann", "control")


async def test_a_plain_function_says_who_asks_and_does_not_hold_the_loop(tmp_path: Path) -> None:
    here, threads = threading.current_thread().name, set[str]()

    def plain(_: object) -> turnwire.User:
        threads.add(threading.current_thread().name)
        return turnwire.user("ann", "control")

    asked = _Asked()

    def returns_a_coroutine(request: object) -> Awaitable[turnwire.User]:
        return asked(request)

    answers: list[Any] = [plain, partial(plain), returns_a_coroutine, asked]
    for who in answers:
        hub = turnwire.asgi(who, agent="demo", journal="memory", state_dir=tmp_path)
        app = Starlette(lifespan=hub.lifespan)
        app.mount("/agents", hub)
        async with asyncio.timeout(DEADLINE), served(app) as base, connect(f"{base}/agents", None) as ann:
            assert ann.welcome is not None
            assert ann.welcome.role == "control"
    assert asked.threads == {here}
    assert here not in threads


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf, "60", None, True], ids=repr)
def test_seconds_that_are_none_are_refused(seconds: Any) -> None:
    async def nobody(_: object) -> None:
        return None

    with pytest.raises(turnwire.TurnwireError, match=r"recheck_s: .* must be a number of seconds above 0"):
        turnwire.asgi(nobody, recheck_s=seconds)


def test_what_cannot_be_called_does_not_say_who_asks() -> None:
    with pytest.raises(turnwire.TurnwireError, match=r"who: .* cannot be called"):
        turnwire.asgi("ann")  # type: ignore[arg-type]  # as somebody without a type checker writes it


async def test_a_server_that_can_send_no_refusal_closes_the_websocket() -> None:
    async def nobody(_: object) -> None:
        return None

    sent = list[Any]()

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    scope = {"type": "websocket", "path": "/ws", "headers": [(b"host", b"localhost")], "query_string": b""}
    await turnwire.asgi(nobody)(scope, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.long
async def test_the_console_below_the_path_decides_as_the_user(mounted: Mounted) -> None:
    async with chromium() as browser:
        context = await browser.new_context(base_url=mounted.base)
        context.set_default_timeout(WAIT_MS)
        await context.request.post("/login", data="of-ann")
        page = await context.new_page()
        async with connect(mounted.agents, "of-ann") as ann:
            mine = await Frontend(ann, await ann.create()).caught_up()
            await page.goto(f"{mounted.agents}/#/s/{mine.session}")
            await mine.prompt("Make it friendlier")
            await mine.until(PermissionRequest)
            await page.get_by_role("button", name="Allow", exact=False).first.click()
            assert (await mine.until(PermissionResolved)).by == "user:ann"
            await expect(page.locator("body")).to_contain_text("Make it friendlier", timeout=WAIT_MS)

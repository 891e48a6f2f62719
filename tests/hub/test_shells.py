"""Shells over a hub: who may open one, whose frames they are, what waits, and what ends them."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from hub_harness import SESSION, HubHarness, ask, hub_harness, receive
from websockets.asyncio.client import ClientConnection

from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.principals import Principal, Scope
from turnwire.hub.server.shells import AHEAD, MOST_SHELLS
from turnwire.hub.wire import frames
from waiting import until

OWN = Principal("control", "ann", Scope.parse(["own"]), "id-ann")
ALL = Principal("control", "boss", Scope.parse(["all"]), "id-boss")


class Shell:
    """A shell that says what a test puts into it."""

    def __init__(self) -> None:
        self.said = asyncio.Queue[bytes]()
        self.typed = b""
        self.size = (0, 0)
        self.reads = 0
        self.closed = asyncio.Event()
        self.code: int | None = None

    async def read(self) -> bytes:
        self.reads += 1
        return await self.said.get()

    def write(self, typed: bytes) -> None:
        if typed == b"full":
            raise CommandRefused("rate_limited", "it is full", "text")
        self.typed += typed

    def resize(self, columns: int, rows: int) -> None:
        self.size = (columns, rows)

    async def close(self) -> None:
        self.code = 0 if self.code is None else self.code
        self.closed.set()
        self.said.put_nowait(b"")


class Shells:
    """Opens them."""

    def __init__(self) -> None:
        self.opened: list[Shell] = []
        self.asked: list[tuple[frames.ShellOpen, Frontend]] = []
        self.before: Callable[[], Awaitable[None]] | None = None

    async def open(self, command: frames.ShellOpen, frontend: Frontend) -> Shell:
        self.asked.append((command, frontend))
        if self.before is not None:
            await self.before()
        shell = Shell()
        self.opened.append(shell)
        return shell


class Few:
    """Two principals, whose tokens are their names."""

    def of_token(self, token: str) -> Principal | None:
        return {"twp-ann": OWN, "twp-boss": ALL}.get(token)

    def of_id(self, token_id: str) -> Principal | None:
        return next((one for one in (OWN, ALL) if one.id == token_id), None)

    def secret(self, token_id: str) -> bytes:
        return token_id.encode()

    def refresh(self) -> None:
        pass

    def watch(self, _: Callable[[], None]) -> Callable[[], None]:
        return lambda: None


def served(shells: Shells | None) -> AbstractAsyncContextManager[HubHarness]:
    return hub_harness(shells=shells, principals=Few())


async def opened(websocket: ClientConnection, **more: Any) -> str:
    reply = await ask(websocket, type="shell.open", session=SESSION, **more)
    assert reply["ok"], reply
    return str(reply["result"]["shell"])


async def test_what_a_shell_writes_reaches_the_connection_alone_that_opened_it() -> None:
    shells = Shells()
    async with served(shells) as hub, hub.websocket() as mine, hub.websocket() as other:
        assert (await receive(mine))["shell"] is True
        await receive(other)
        name = await opened(mine, columns=100, rows=30)
        (command, frontend), (shell,) = shells.asked[0], shells.opened
        assert (command.columns, command.rows, frontend.role) == (100, 30, "control")
        shell.said.put_nowait("grüß".encode()[:3])
        shell.said.put_nowait("grüß".encode()[3:])
        assert await receive(mine) == {
            "type": "shell_output", "session": SESSION, "shell": name, "number": 1, "text": "gr",
        }  # fmt: skip
        assert (await receive(mine))["text"] == "üß"
        act = {"session": SESSION, "shell": name}
        assert (await ask(mine, type="shell.write", text="ls\r", **act))["ok"]
        assert (await ask(mine, type="shell.resize", columns=132, rows=50, **act))["ok"]
        assert (shell.typed, shell.size) == (b"ls\r", (132, 50))
        full = await ask(mine, type="shell.write", text="full", **act)
        assert full["error"]["code"] == "rate_limited"
        for kind, more in {"shell.write": {"text": "x"}, "shell.close": {}}.items():
            refused = await ask(other, type=kind, **act, **more)
            assert refused["error"]["code"] == "no_shell"
        shell.code = 7
        shell.said.put_nowait(b"")
        assert await receive(mine) == {"type": "shell_exit", "session": SESSION, "shell": name, "code": 7}
        assert (await ask(mine, type="shell.close", **act))["error"]["code"] == "no_shell"
        assert (await ask(other, type="ping"))["ok"]  # the first thing that it hears


async def test_a_shell_is_read_only_while_its_output_is_acknowledged() -> None:
    shells = Shells()
    async with served(shells) as hub, hub.websocket() as websocket:
        await receive(websocket)
        name = await opened(websocket)
        (shell,) = shells.opened
        for number in range(2 * AHEAD):
            shell.said.put_nowait(b"%d " % number)
        last = [(await receive(websocket))["number"] for _ in range(AHEAD)][-1]
        assert last == AHEAD
        act = {"session": SESSION, "shell": name}
        assert (await ask(websocket, type="ping"))["ok"]
        assert shell.reads == AHEAD
        wrong = await ask(websocket, type="shell.ack", number=AHEAD + 1, **act)
        assert (wrong["error"]["code"], wrong["error"]["field"]) == ("invalid_params", "number")
        await websocket.send(frame("shell.ack", number=3, **act))
        more = [await receive(websocket) for _ in range(4)]
        assert sorted(one.get("number", 0) for one in more) == [0, AHEAD + 1, AHEAD + 2, AHEAD + 3]


async def test_who_may_only_watch_or_sees_only_some_sessions_opens_no_shell() -> None:
    shells = Shells()
    async with served(shells) as hub:
        for token in (hub.hub.tokens.view, "twp-ann"):
            async with hub.websocket(token) as websocket:
                assert "shell" not in await receive(websocket)
                for kind, more in {
                    "shell.open": {},
                    "shell.write": {"shell": "shell-1", "text": "x"},
                }.items():
                    reply = await ask(websocket, type=kind, session=SESSION, **more)
                    assert reply["error"]["code"] == "forbidden"
        async with hub.websocket("twp-boss") as websocket:
            assert (await receive(websocket))["shell"] is True
            await opened(websocket)
    assert [frontend.name for _, frontend in shells.asked] == ["user:boss"]


async def test_where_shells_are_off_the_refusal_names_the_setting() -> None:
    async with served(None) as hub, hub.websocket() as websocket:
        assert "shell" not in await receive(websocket)
        reply = await ask(websocket, type="shell.open", session=SESSION)
        assert reply["error"]["code"] == "no_shell"
        assert "`shell = " in reply["error"]["message"]
        assert hub.host.commands == []


async def test_shells_end_with_their_connection_also_one_that_is_being_opened() -> None:
    shells = Shells()
    async with served(shells) as hub:
        async with hub.websocket() as websocket:
            await receive(websocket)
            await opened(websocket)
            going, gone = asyncio.Event(), asyncio.Event()

            async def wait() -> None:
                going.set()
                await gone.wait()

            shells.before = wait
            await websocket.send(frame("shell.open", session=SESSION))
            async with asyncio.timeout(30):
                await going.wait()
        async with asyncio.timeout(30):
            await shells.opened[0].closed.wait()
            gone.set()
            await until(lambda: len(shells.opened) == 2)
            await shells.opened[1].closed.wait()


async def test_shells_end_once_their_connection_may_only_watch() -> None:
    shells = Shells()
    async with served(shells) as hub, hub.websocket() as websocket:
        await receive(websocket)
        await opened(websocket)
        assert (await ask(websocket, type="hello", token=hub.hub.tokens.view))["ok"]
        async with asyncio.timeout(30):
            await shells.opened[0].closed.wait()


async def test_a_connection_has_so_many_shells_and_closing_one_makes_room() -> None:
    shells = Shells()
    async with served(shells) as hub, hub.websocket() as websocket:
        await receive(websocket)
        names = [await opened(websocket) for _ in range(MOST_SHELLS)]
        reply = await ask(websocket, type="shell.open", session=SESSION)
        assert reply["error"]["code"] == "no_shell"
        assert "close one" in reply["error"]["message"]
        await websocket.send(frame("shell.close", session=SESSION, shell=names[0]))
        kinds = {(await receive(websocket))["type"] for _ in range(2)}
        assert kinds == {"reply", "shell_exit"}
        assert await opened(websocket) not in names


@pytest.mark.parametrize(
    ("command", "field"),
    [
        ({"type": "shell.open", "columns": 0}, "columns"),
        ({"type": "shell.write", "shell": "shell-1", "text": "x" * 20_000}, "text"),
        ({"type": "shell.resize", "shell": "shell-1", "columns": 10, "rows": 100_000}, "rows"),
        ({"type": "shell.ack", "shell": "shell-1", "number": -1}, "number"),
    ],
)
async def test_bad_values_are_refused_by_name(command: dict[str, Any], field: str) -> None:
    async with served(Shells()) as hub, hub.websocket() as websocket:
        await receive(websocket)
        reply = await ask(websocket, session=SESSION, **command)
        assert (reply["error"]["code"], reply["error"]["field"]) == ("invalid_params", field)


def frame(kind: str, **more: Any) -> str:
    return json.dumps({"type": kind, "id": "sent", **more})

"""`turnwire attach`: finds the session at the hubs that run, and shows it in the interface or in the line mode."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from turnwire.client import BEGINNING, Client, Cursor, SessionSummary, TurnwireError, connect
from turnwire.protocol.visible import visible

from .guard import Guard
from .problems import NotAttached

NAME = "terminal"
"""Shown as `by` in the decisions that are taken here."""

PAGE = 200
"""Events that the line mode tells of what was before."""

LOOK_S = 5.0
"""How long a hub on this machine has to answer."""


@dataclass(frozen=True, slots=True)
class Native:
    """The agent's own interface is wanted."""

    guard: Guard
    end_background: bool = False
    """Whether what the agent runs in the background may be ended."""
    arguments: Sequence[str] | None = None
    """Those of a new conversation."""
    environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What the configuration adds to the environment, by agent."""


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub that may run."""

    url: str
    token: str | None = None


async def attach(
    hubs: Sequence[Hub],
    session: str | None,
    *,
    folder: str,
    plain: bool,
    stays: bool = True,
    native: Native | None = None,
) -> int:
    """Attach to a session and return the exit code; raises NotAttached. `stays` says whether the hub outlives this terminal.

    Without a session it is the only one of the folder, else the one that the person chooses.
    """
    hub = await _having(hubs, session, folder)
    try:
        async with connect(hub.url, hub.token, name=NAME, timeout=LOOK_S) as client:
            chosen = session or client.named_session or _of_folder(client.known_sessions, folder)
            if chosen is None and (plain or native):
                raise NotAttached(f"name one of the sessions:\n{_listed(client.known_sessions)}")
            if chosen is not None and all(one.session != chosen for one in client.known_sessions):
                raise NotAttached(
                    f"there is no session {chosen!r}; there are:\n{_listed(client.known_sessions)}"
                )
            if native is not None:
                return await _native(client, chosen or "", native)
            return await (_plain(client, chosen or "") if plain else _interface(client, chosen, stays=stays))
    except TurnwireError as error:
        raise NotAttached(f"cannot attach: {error}") from error


async def _having(hubs: Sequence[Hub], session: str | None, folder: str) -> Hub:
    """Return the hub that has the session, else the only one with a session of the folder, else the only one that answers."""
    if len(hubs) == 1:
        return hubs[0]
    answering = [hub for hub in hubs if await _sessions(hub) is not None]
    if session is not None:
        for hub in answering:
            if any(one.session == session for one in await _sessions(hub) or ()):
                return hub
        raise NotAttached(
            f"no turnwire that runs here has a session {session!r}; `turnwire run` prints a URL to give"
        )
    here = [hub for hub in answering if _of_folder(await _sessions(hub) or (), folder, alone=False)]
    if len(here) == 1:
        return here[0]
    if len(answering) == 1:
        return answering[0]
    if not answering:
        raise NotAttached(
            "no turnwire runs here; start one with `turnwire run` or `turnwire serve`, or give its URL"
        )
    told = [f"{hub.url}\n{_listed(await _sessions(hub) or ())}" for hub in answering]
    raise NotAttached("several run here; name a session:\n" + "\n".join(told))


async def _sessions(hub: Hub) -> list[SessionSummary] | None:
    try:
        async with connect(hub.url, hub.token, timeout=LOOK_S) as client:
            return list(client.known_sessions)
    except TurnwireError:
        return None


def _of_folder(sessions: Sequence[SessionSummary], folder: str, *, alone: bool = True) -> str | None:
    """Return the one session that runs in a folder; with `alone` also the only one that there is."""
    here = [one for one in sessions if one.workspace == folder and one.state != "exited"]
    if len(here) == 1:
        return here[0].session
    return sessions[0].session if alone and len(sessions) == 1 else None


def _listed(sessions: Sequence[SessionSummary]) -> str:
    return (
        "\n".join(f"  {visible(f'{one.session}  {one.state}  {one.title or str()}')}" for one in sessions)
        or "  none"
    )


async def _interface(client: Client, session: str | None, *, stays: bool) -> int:
    from .app import Attached  # noqa: PLC0415 - the line mode needs no interface

    left = await Attached(client, session).run_async()
    if left is not None and stays:
        sys.stderr.write(
            visible(f"turnwire: left; the session goes on. Come back with: turnwire attach {left}\n")
        )
    return 0


async def _native(client: Client, session: str, wanted: Native) -> int:
    from .native import native  # noqa: PLC0415 - see above

    agent = next((one.agent for one in client.known_sessions if one.session == session), None)
    code = await native(
        client,
        session,
        wanted.guard,
        end_background=wanted.end_background,
        arguments=wanted.arguments,
        environment=wanted.environments.get(agent or ""),
    )
    if wanted.arguments is None:
        sys.stderr.write(
            visible(
                f"turnwire: left; frontends lead the session. Come back with: turnwire attach {session}\n"
            )
        )
    return code


async def _plain(client: Client, session: str) -> int:
    from .plain import Plain  # noqa: PLC0415 - see above

    welcome = await client.connected()
    last = next((one.last_seq for one in client.known_sessions if one.session == session), 0)
    after = Cursor(welcome.epoch, last - PAGE) if last > PAGE else BEGINNING
    return await Plain(client, session, _write).run(lines_of(), after)


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def lines_of(descriptor: int = 0) -> AsyncIterator[str]:
    """Yield the lines of an open descriptor, standard input by default; undecodable bytes become U+FFFD."""
    if not _can_be_waited_for(descriptor):
        with os.fdopen(os.dup(descriptor), "rb") as file:
            for line in file:
                yield _text(line)
        return
    reader = asyncio.StreamReader(limit=1 << 24)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(os.dup(descriptor), "rb", buffering=0)
    )
    try:
        while line := await reader.readline():
            yield _text(line)
    finally:
        transport.close()


def _can_be_waited_for(descriptor: int) -> bool:
    """Return whether an event loop can watch it. It cannot watch files and /dev/null, but these never block."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r\n")

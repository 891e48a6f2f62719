"""Run a hub with a host, from its start to a signal.

At the end sessions stop first, and then the hub, so that their last events are still delivered.
"""

import asyncio
import errno
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Protocol

from turnwire._runtime.task_owner import TaskOwner
from turnwire._runtime.version import VERSION
from turnwire.config.hub_settings import hub_config
from turnwire.config.settings import Settings
from turnwire.config.stored_access import StoredAccess
from turnwire.hub.host import Fleet, Host, ShellHost
from turnwire.hub.hub import Hub
from turnwire.hub.principals import Principals
from turnwire.hub.server.cookies import LoggedOut
from turnwire.hub.server.invitations import Invitations
from turnwire.hub.server.routes import Probes
from turnwire.journal.base import Journal, JournalError
from turnwire.protocol.errors import TurnwireError
from turnwire.sessions.metrics import Metrics
from turnwire.sidecar.principals.configured import principals_of
from turnwire.sidecar.process.signals import on_stop
from turnwire.sidecar.process.supervision import kept_up

PORTS = 100
"""How many ports are tried when none was given, before any free one is taken."""

Ready = Callable[[Hub], Awaitable[None]]
"""Called once everything is ready: to print the URL."""

Work = Callable[[Hub], Coroutine[None, None, None]]
"""A hub's purpose. When it is done, everything ends as after a signal."""


class Logins(Protocol):
    """The logins that several hubs share."""

    cookie: str
    """Name of the browsers' cookie."""

    @property
    def invitations(self) -> Invitations:
        """Codes that log in at any of these hubs."""
        ...

    def log_out(self, logged_out: LoggedOut) -> None:
        """Keep which are over."""
        ...

    def watch(self, watcher: Callable[[Mapping[str, int]], None]) -> None:
        """Tell the watcher which are over, now and whenever more are: when each began, by its id."""
        ...


DELIVER_S = 3.0
"""Seconds for frontends to get the last events. A slower frontend gets them after reconnecting."""


class PortError(TurnwireError):
    """The hub cannot listen. The message says where, why, and what to do."""


async def with_hub(
    settings: Settings,
    journal: Journal,
    host: Host,
    ready: Ready,
    *,
    start: Callable[[], Coroutine[None, None, None]],
    check: Callable[[], Coroutine[None, None, None]] | None = None,
    stop: Callable[[], Awaitable[None]],
    metrics: Metrics,
    new_tokens: bool = False,
    work: Work | None = None,
    signals: bool = True,
    trouble: Callable[[], str | None] | None = None,
    notes: Callable[[], Sequence[str]] = list,
    logins: Logins | None = None,
    fleet: Fleet | None = None,
    embedder: Principals | None = None,
    shells: ShellHost | None = None,
) -> None:
    """Run a hub until a signal, or until its work is done. Raises AccessError, PortError and the errors of `start`, `check` and
    `work`.

    `check` runs once everything is ready and announced: the started agent may need long to report success.
    `stop` ends the host's sessions, including one that `start` is about to begin. A second Ctrl-C ends the process at once, and
    so
    does the end of `stop_timeout_s`: the supervisors end the CLIs, and the next start closes open turns in the journal.
    `trouble` returns why the hub is not ready, apart from the journal, and `notes` what an operator should know. With `logins` a browser's login is valid at other
    hubs, too. `fleet` is for a hub in a fleet. Without `signals` the embedding program handles them.
    `embedder` are that program's principals, in place of the stored ones. `shells` opens shells; without it they are off.
    """
    probes = Probes(metrics=metrics.text, trouble=trouble or (lambda: journal.trouble), notes=notes)
    access = StoredAccess(settings.state_dir, keeps_tokens=settings.keep_tokens)
    if new_tokens:
        access.renew()
    async with (
        TaskOwner() as tasks,
        principals_of(settings, journal) if embedder is None else nullcontext(embedder) as principals,
    ):

        def hub_at(port: int) -> Hub:
            cookie = None if logins is None else logins.cookie
            config = hub_config(settings).model_copy(update={"port": port, "cookie": cookie})
            return Hub(
                journal,
                host,
                config,
                version=VERSION,
                probes=probes,
                kept=access.tokens,
                logged_out=access.logged_out,
                keep_logged_out=access.log_out if logins is None else logins.log_out,
                principals=principals,
                fleet=fleet,
                invitations=None if logins is None else logins.invitations,
                shells=shells,
            )

        hub = await listening(settings, access, hub_at, logins)
        access.keep(access.port if "port" in settings.model_fields_set else hub.port, hub.port)
        stopped = asyncio.Event()
        if signals:
            on_stop(partial(_stop, stopped), settings.stop_timeout_s, insists=True)
        watching = tasks.keep(
            "metrics",
            kept_up("metrics", partial(metrics.watch, hub, host, journal, has_sessions=fleet is None)),
        )
        starting = tasks.begin("start", start())
        stopping = tasks.begin("stop", stopped.wait())
        failing = tasks.begin("the hub's end", hub.failed())
        working: asyncio.Task[None] | None = None
        try:
            await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not stopped.is_set():
                await starting
                await ready(hub)
                until = [stopping, failing]
                if check is not None:
                    await _until(tasks.begin("check", check()), until)
                if work is not None:
                    working = tasks.begin("work", work(hub))
                    until.append(working)
                await asyncio.wait(until, return_when=asyncio.FIRST_COMPLETED)
                for done in (failing, working):
                    if done is not None and done.done():
                        await done
        finally:
            stopping.cancel()
            failing.cancel()
            if working is not None:
                working.cancel()
                await asyncio.wait((working,))
            try:
                await stop()
                await _delivered(hub, journal)
            finally:
                watching.cancel()
                await hub.stop()
                # what comes of a start that was stopped on its way interests nobody
                await asyncio.wait((starting,))


async def _until(checking: asyncio.Task[None], ends: Sequence[asyncio.Future[Any]]) -> None:
    """Wait for a check, and raise its errors. Stops waiting when one of the others is over."""
    try:
        await asyncio.wait((checking, *ends), return_when=asyncio.FIRST_COMPLETED)
        if checking.done():
            await checking
    finally:
        checking.cancel()
        await asyncio.wait((checking,))


async def _delivered(hub: Hub, journal: Journal) -> None:
    """Let frontends have the last events."""
    try:
        await journal.flush()
    except JournalError:
        return  # what is not journaled is never published
    await hub.delivered(DELIVER_S)


def _stop(stopped: asyncio.Event, number: signal.Signals) -> None:
    if number is signal.SIGINT:
        _say("turnwire is stopping; press Ctrl-C again to stop at once, whatever is open then")
    stopped.set()


def _say(message: str) -> None:
    try:
        print(message, file=sys.stderr, flush=True)  # noqa: T201 - for the human who pressed the keys
    except OSError:
        pass  # nobody is there to read it


def reason_of(error: OSError) -> str:
    """Return why listening at an address failed, in the system's words. The messages of asyncio and socket repeat the address."""
    known = error.errno in (errno.EADDRINUSE, errno.EADDRNOTAVAIL, errno.EACCES)
    return os.strerror(error.errno) if known and error.errno is not None else error.strerror or str(error)


async def listening(
    settings: Settings, access: StoredAccess, hub_at: Callable[[int], Hub], logins: Logins | None = None
) -> Hub:
    """Start a hub on the given port, else on that of the last time, else on a free one. Raises PortError."""
    ports = [settings.port]
    if "port" not in settings.model_fields_set:
        former = [] if access.port is None else [access.port]
        ports = [*former, *range(settings.port, settings.port + PORTS), 0]
    for port in ports:
        hub = hub_at(port)
        try:
            await hub.start()
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port != ports[-1]:
                if port == access.port:
                    # Open tabs show their token to whoever listens there now; and their address is lost anyway.
                    access.renew()
                continue
            where = f"{settings.host} port {port}"
            raise PortError(
                f"cannot listen on {where} ({reason_of(error)}); give another with --port, or 0 for any free one"
            ) from error
        if logins is not None:
            logins.watch(hub.log_out)
        return hub
    raise AssertionError("the last port ends in a hub or in an error")

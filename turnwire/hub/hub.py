"""The hub's life: its tokens, its port, its tasks, from `start` to `stop`."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from turnwire._runtime.task_owner import TaskOwner, first_of
from turnwire.hub.config import HubConfig
from turnwire.hub.delivery.feed import Feeds
from turnwire.hub.delivery.frontends import FrontendRegistry
from turnwire.hub.delivery.log import EventLog
from turnwire.hub.delivery.pages import Pages
from turnwire.hub.delivery.subscription import FrontendReader
from turnwire.hub.host import Fleet, Host, ShellHost
from turnwire.hub.principals import NoPrincipals, Principals
from turnwire.hub.server.access import AccessError, Allowance, Proxies, RoleTokens, TokenCheck
from turnwire.hub.server.connection_handler import HubContext
from turnwire.hub.server.connection_limit import ConnectionLimit
from turnwire.hub.server.cookies import Cookies, LoggedOut
from turnwire.hub.server.invitations import Invitations, OwnInvitations
from turnwire.hub.server.listener import Listener
from turnwire.hub.server.refusals import Refusals
from turnwire.hub.server.routes import Probes, Routes
from turnwire.hub.server.static_files import load
from turnwire.hub.server.unread import UnreadBudget
from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

HISTORIES = 1
"""Most answers from old conversations that are made at once, for all frontends of a role. Each may have many MiB."""

READINGS = 2
"""Most full events or pages of logs that are read at once, for all frontends. Each may have many MiB."""

log = logging.getLogger(__name__)

LOOK_S = 0.01
"""How often the end looks whether everything is delivered."""


class CertificateError(TurnwireError):
    """The hub cannot use TLS. The message names the setting, the file, and what to do."""


class _Stopped(Exception):
    pass


class _Contained(asyncio.TaskGroup):
    """A task group whose tasks fail alone: one frontend's failing command must not end the hub."""

    def create_task(self, work: Coroutine[None, None, None], **more: Any) -> asyncio.Task[None]:  # type: ignore[override]  # of all tasks, those of a hub
        return super().create_task(_contained(work), **more)


async def _contained(work: Coroutine[None, None, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("A task of the hub failed.")


class Hub:
    """Serves a log and a host to frontends."""

    def __init__(
        self,
        events: EventLog,
        host: Host,
        config: HubConfig | None = None,
        *,
        version: str = "0",
        probes: Probes | None = None,
        kept: RoleTokens | None = None,
        logged_out: LoggedOut | None = None,
        keep_logged_out: Callable[[LoggedOut], None] = lambda _: None,
        principals: Principals | None = None,
        fleet: Fleet | None = None,
        invitations: Invitations | None = None,
        shells: ShellHost | None = None,
    ) -> None:
        """Take the configuration and the tokens `kept` for roles without a configured one.

        `logged_out` are ids of logins that are over; the hub calls `keep_logged_out` with further ones. `principals` finds the
        principals with tokens of their own. `fleet` and `invitations` belong to a hub in a fleet. `shells` opens shells; without it
        they are off.

        Raises AccessError if the configuration would admit strangers.
        """
        self.config = config or HubConfig()
        self.tokens = RoleTokens.from_config(self.config, kept)
        """The tokens of the roles, for the sidecar that prints the URL. Not to be logged."""
        self.principals: Principals = principals or NoPrincipals()
        """The principals, which have their own tokens."""
        self._cookies = Cookies(self.tokens, logged_out, self.principals)
        self._keep_logged_out = keep_logged_out
        self.port = 0
        """The port that it listens on, once started."""
        self._events = events
        self._host = host
        self._fleet = fleet
        self._invitations = invitations
        self._shells = shells
        self._version = version
        self._probes = probes or Probes()
        self.refusals = Refusals()
        """Counts of refused and closed connections."""
        self._limit = ConnectionLimit(self.config.limits)
        self._proxies = Proxies(self.config.trusted_proxies)
        if self.config.proxy_user_header is not None and not self.config.trusted_proxies:
            raise AccessError(
                "proxy_user_header trusts the names that a reverse proxy sends: set trusted_proxies to the address of that proxy."
            )
        self._stop = asyncio.Event()
        self._tasks = TaskOwner()
        self._life: asyncio.Task[None] | None = None
        self._listener: Listener | None = None

    @property
    def connections(self) -> int:
        """How many there are, of any kind."""
        return len(self._limit)

    @property
    def frontends(self) -> int:
        """How many have shown a token and follow, or could follow, sessions."""
        return len(self._readers())

    @property
    def lag(self) -> int:
        """By how many events the slowest frontend is behind."""
        return max((reader.lag for reader in self._readers()), default=0)

    @property
    def unread(self) -> int:
        """Bytes that wait for frontends."""
        return sum(connection.unread for connection in self._listener.connections) if self._listener else 0

    async def start(self) -> str:
        """Listen, and return the console's URL with the control token in its fragment.

        Raises OSError when the port is taken, and CertificateError.
        """
        started = asyncio.get_running_loop().create_future()
        self._life = self._tasks.begin("hub", self._live(started))
        try:
            await asyncio.wait((self._life, started), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._tasks.close()
            raise
        if self._life.done():
            try:
                await self._life
            except BaseExceptionGroup as group:
                raise first_of(group) from None
        return self.url(self.tokens.control)

    async def delivered(self, limit_s: float) -> None:
        """Wait until all frontends have the whole log, but at most `limit_s` seconds. For the end, when no events follow.

        A frontend that does not read will reconnect with its cursor. The limit counts polls, not the clock: while the machine
        is
        suspended no frontend can read.
        """
        for _ in range(max(1, round(limit_s / LOOK_S))):
            if not self.lag:
                return
            # progress is each reader's own, and tells nobody; this happens once, at the end
            await asyncio.sleep(LOOK_S)

    async def failed(self) -> None:
        """Wait until the hub ends. Raises the error that ended it, unless it was `stop`."""
        assert self._life is not None, "it was started"
        try:
            await asyncio.shield(self._life)
        except BaseExceptionGroup as group:
            raise first_of(group) from None

    async def stop(self) -> None:
        """Close the port and all connections, and cancel running commands."""
        self._stop.set()
        if self._life is not None:
            await self._life

    def log_out(self, logins: Mapping[str, int]) -> None:
        """Let logins be over that ended at another hub: when each began, in seconds since 1970, by its id."""
        for login, began in logins.items():
            self._cookies.log_out_by_id(login, began)
            if self._listener is not None:
                self._listener.log_out(login)

    def invitation(self, role: Role, session: str | None = None) -> str:
        """Return the end of a sentence that says what to open for a role: a URL with a generated token, or one without a
        configured token.
        """
        is_control = role == "control"
        if (self.config.token if is_control else self.config.view_token) is not None:
            return f"open {self.url(None, session)} with the configured token, which is not shown"
        return f"open {self.url(self.tokens.control if is_control else self.tokens.view, session)}"

    def url(self, token: str | None, session: str | None = None) -> str:
        """Return the console's URL with the token and the session in its fragment. Browsers send the fragment to nobody."""
        scheme = "http" if self.config.certificate is None else "https"
        host = self.config.host
        if host in {"0.0.0.0", "::"}:
            host = "127.0.0.1"
        carried = [
            f"{name}={quote(value, safe='')}"
            for name, value in (("session", session), ("token", token))
            if value is not None
        ]
        fragment = f"#{'&'.join(carried)}" if carried else ""
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self.port}/{fragment}"

    def _readers(self) -> list[FrontendReader]:
        connections = () if self._listener is None else self._listener.connections
        return [connection.reader for connection in connections if connection.reader is not None]

    async def _live(self, started: asyncio.Future[None]) -> None:
        try:
            async with Feeds(self._events) as feeds, _Contained() as commands:
                await self._serve(feeds, commands, started)
                raise _Stopped
        except* _Stopped:
            pass

    async def _serve(self, feeds: Feeds, commands: asyncio.TaskGroup, started: asyncio.Future[None]) -> None:
        config, limits = self.config, self.config.limits
        fleet = self._fleet
        frontends = FrontendRegistry(self._host, None if fleet is None else fleet.tag)
        context = HubContext(
            config=config,
            events=self._events,
            pages=Pages(self._events),
            host=self._host,
            feeds=feeds,
            frontends=frontends,
            tokens=self.tokens,
            cookies=self._cookies,
            invitations=self._invitations or OwnInvitations(asyncio.get_running_loop().time),
            check=TokenCheck(
                self.tokens,
                Allowance(limits.failed_tokens, limits.failed_tokens_per_s),
                self.refusals.add,
                self.principals,
            ),
            refusals=self.refusals,
            rates=Allowance(limits.commands_burst, limits.commands_per_s),
            unread=UnreadBudget(limits.unread, limits.unread_s),
            readings=asyncio.Semaphore(READINGS),
            histories={"control": asyncio.Semaphore(HISTORIES), "view": asyncio.Semaphore(HISTORIES)},
            tasks=commands,
            version=self._version,
            principals=self.principals,
            fleet=fleet,
            shells=self._shells,
        )
        tls = self._tls()
        listener = self._listener = Listener(context, self._limit, self._proxies, tls)
        self.port = await listener.listen()
        # Cookies go to all ports of a host: the name tells the sidecars of one machine apart.
        cookie = config.cookie or f"turnwire-{self.port}"
        files = load(config.static)

        def logged_out(login: str) -> None:
            listener.log_out(login)
            self._keep_logged_out(self._cookies.logged_out)

        await listener.serve(
            Routes(context, files, self._probes, cookie, secure=tls is not None, logged_out=logged_out)
        )
        frontends.start()
        unwatch = self.principals.watch(listener.revoke)
        beats = commands.create_task(listener.beat())
        started.set_result(None)
        try:
            await self._stop.wait()
        finally:
            beats.cancel()
            unwatch()
            frontends.stop()
            await listener.close()

    def _tls(self) -> ssl.SSLContext | None:
        certificate, key = self.config.certificate, self.config.key
        if certificate is None:
            if key is not None:
                raise CertificateError(f"tls_key {key} needs tls_certificate, too; name both files")
            return None
        for setting, path in (("tls_certificate", certificate), ("tls_key", key)):
            if path is not None:
                _check_readable(setting, path)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise CertificateError(
                f"tls_certificate {certificate} and tls_key {key or certificate} cannot be used "
                f"({error.reason or error}); they must be PEM files that belong together"
            ) from error
        return context


def _check_readable(setting: str, path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise CertificateError(
            f"{setting} {path} cannot be read: {error.strerror}; correct the path or its permissions"
        ) from error

"""One WebSocket frontend after the opening handshake: its token, its commands, and one reply to each.

Commands start in the order of their arrival and run concurrently, so a slow one does not delay others. Commands of the host
continue when the frontend leaves; their replies are dropped. Commands that only read old conversations run one at a time,
wait until their answer can be written, and end when the frontend leaves.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace
from pydantic import JsonValue

from turnwire.hub.config import HubConfig
from turnwire.hub.delivery.feed import Feeds
from turnwire.hub.delivery.frontends import FrontendRegistry
from turnwire.hub.delivery.log import EventLog
from turnwire.hub.delivery.pages import LogUnreadable, Pages
from turnwire.hub.delivery.subscription import FrontendReader, FrontendWriter
from turnwire.hub.host import CommandRefused, Fleet, Frontend, Host, ShellHost
from turnwire.hub.principals import HIDDEN, NoPrincipals, Principal, Principals, shown
from turnwire.hub.server.access import Allowance, RoleTokens, TokenCheck, WrongToken
from turnwire.hub.server.cookies import Cookies
from turnwire.hub.server.invitations import LIFE_S, Invitations
from turnwire.hub.server.refusals import Refusals
from turnwire.hub.server.shells import ConnectionShells
from turnwire.hub.server.unread import UnreadBudget
from turnwire.hub.wire import frames
from turnwire.hub.wire.codes import CloseCode
from turnwire.hub.wire.commands import id_of, parse, refusal
from turnwire.hub.wire.frames_out import OutFrame, Reply, SessionSummary, Welcome, encode_page, encode_payload
from turnwire.normalize.common.deciders import USER
from turnwire.normalize.events.envelope import Cursor
from turnwire.normalize.vocabulary import Role

log = logging.getLogger(__name__)

NOT_A_TOKEN = "This is not a token of this hub."
TOO_MANY_WRONG = "This is not a token of this hub, nor were too many before from this address."

CHANGES_OF_THE_LIST = (
    frames.SessionCreate,
    frames.SessionResume,
    frames.SessionFork,
    frames.SessionRename,
    frames.SessionClose,
    frames.SessionMove,
    frames.SessionDelete,
    frames.LibraryOpen,
)
"""Commands that change the list of sessions. Their reply follows the list, so the sender need not wait for it."""

READS_HISTORY = (frames.LibraryExport, frames.LibrarySearch, frames.LibraryUsage)
"""Commands that may read all of a long conversation, or of many."""

LIVE = "live:"
"""Before a session's id, where a conversation of the library is named."""

REFUSALS_IN_A_ROW = 1000
"""Commands refused in a row for their rate before the connection is closed."""


READING_ROOM = 1 << 20
"""Bytes that must be free in the budget of unread bytes before a page of a log, or a full event, is read."""


class TextSink(FrontendWriter, Protocol):
    """The writing side of a WebSocket."""

    @property
    def address(self) -> str:
        """The peer's address."""
        ...

    def send_text(self, text: bytes) -> None:
        """Write an encoded frame."""
        ...

    def admitted(self, principal: Principal) -> bool:
        """Let it send frames as large as its role may; False when there are too many of that role."""
        ...

    async def replies_taken(self) -> None:
        """Wait while more replies are unread than the limit allows."""
        ...

    async def close(self, code: CloseCode, reason: str) -> None:
        """Close the connection."""
        ...


class HubContext(Struct, frozen=True):
    """What all connections of a hub share."""

    config: HubConfig
    events: EventLog
    pages: Pages
    host: Host
    feeds: Feeds
    frontends: FrontendRegistry
    tokens: RoleTokens
    cookies: Cookies
    invitations: Invitations
    check: TokenCheck
    refusals: Refusals
    rates: Allowance
    """Commands of each principal, by its name, over all its connections."""
    unread: UnreadBudget
    readings: asyncio.Semaphore
    """Limits how many full events or pages of logs are read at once."""
    histories: Mapping[Role, asyncio.Semaphore]
    """Limits how many answers from old conversations are made at once, per role."""
    tasks: asyncio.TaskGroup
    """Parent of the commands being done."""
    version: str
    principals: Principals = field(default_factory=NoPrincipals)
    fleet: Fleet | None = None
    """Set for a hub in a fleet."""
    shells: ShellHost | None = None
    """Opens shells; None where they are off."""

    def visible(self, principal: Principal) -> list[SessionSummary]:
        """Return the sessions that a principal may see."""
        sessions = self.host.sessions()
        return [shown(one, principal) for one in sessions if principal.sees(one)]

    def knows(self, principal: Principal, session: str) -> bool:
        """Return whether a principal may see a session. A session with a log that is not listed needs the right to see all."""
        if principal.sees_all and self.events.last(session) > 0:
            return True
        return self.frontends.knows(principal, session)


class ConnectionHandler:
    """The dialogue on one connection."""

    def __init__(self, context: HubContext, sink: TextSink, principal: Principal | None) -> None:
        limits = context.config.limits
        self.reader = FrontendReader(context.pages, context.feeds, sink)
        self._context = context
        self._sink = sink
        self._frontend: Frontend | None = None
        self._principal = principal
        self._rate = Allowance(limits.commands_burst, limits.commands_per_s)
        self._refused = 0
        self._answering = asyncio.Lock()
        """Held by the command whose reply is written next, once the frontend has read the earlier ones."""
        self._fetching = asyncio.Lock()
        """Held by the running `payload.get` or `events.get`."""
        self._reading = asyncio.Lock()
        """Held by the running command of READS_HISTORY."""
        self._readings = set[asyncio.Task[None]]()
        """Commands that run or wait. They end when the frontend leaves."""
        self._slots = asyncio.Semaphore(limits.commands_in_flight)
        self._left = False
        self._shells = ConnectionShells(context.shells, self._send, context.tasks.create_task)

    async def authenticate(self, receive: Callable[[], Awaitable[str | bytes]]) -> bool:
        """Welcome a frontend, after it has shown its token; False when it did not and was closed."""
        if self._principal is not None:
            return await self._enter(self._principal, None)
        try:
            async with asyncio.timeout(self._context.config.limits.hello_s):
                first = await receive()
        except TimeoutError:
            now = asyncio.get_running_loop().time()
            self._context.refusals.add("no_hello", self._sink.address, now)
            await self._sink.close(CloseCode.NO_HELLO, "no token was shown in time")
            return False
        command = parse(first, None)
        if isinstance(command, frames.Hello):
            return await self._admit(command)
        assert isinstance(command, Reply), "without a role there is no other command"
        self._sink.send_frame(command)
        await self._sink.close(
            CloseCode.UNAUTHORIZED, "no token was shown, or not in a frame that can be read"
        )
        return False

    async def handle_frame(self, frame: str | bytes) -> None:
        """Handle a frame. Returns when the next one may be read."""
        frontend = self._frontend
        assert frontend is not None, "nothing is heard before the welcome"
        now = asyncio.get_running_loop().time()
        rate = self._rate if frontend.user is None else self._context.rates
        if rate.wait(frontend.user or "", now) > 0:
            await self._refuse_for_rate(id_of(frame))
        else:
            rate.spend(frontend.user or "", now)
            command = parse(frame, frontend.role)
            if isinstance(command, Reply):
                self._sink.send_frame(command)
            else:
                self._refused = 0
                await self._start(command, frontend)
        await self._sink.replies_taken()

    def leave(self) -> None:
        """End: send nothing more, and stop reading for the frontend."""
        if self._left:
            return
        self._left = True
        for reading in tuple(self._readings):
            reading.cancel()
        self._shells.close()
        self.reader.close()
        self._context.frontends.leave(self._sink)
        if self._frontend is not None and self._frontend.user is None:
            self._context.frontends.free_name(self._frontend.name)

    async def _admit(self, hello: frames.Hello) -> bool:
        try:
            principal = None if hello.token is None else self._principal_of(hello.token)
        except WrongToken as wrong:
            if wrong.retry_after_s is not None:
                await asyncio.sleep(self._context.config.limits.wrong_token_s)
                self._sink.send_frame(refusal(hello.id, "unauthorized", TOO_MANY_WRONG, "token"))
                await self._sink.close(CloseCode.TOO_MANY, "too many wrong tokens")
                return False
            principal = None
        if principal is None:
            self._sink.send_frame(refusal(hello.id, "unauthorized", NOT_A_TOKEN, "token"))
            await self._sink.close(CloseCode.UNAUTHORIZED, "the token is wrong, or there was none")
            return False
        if not await self._enter(principal, hello.name):
            return False
        assert self._frontend is not None, "it was welcomed"
        self._reply(hello, {"name": self._frontend.name, "role": principal.role})
        return True

    def _principal_of(self, token: str) -> Principal:
        """Return the principal of a token. Raises WrongToken."""
        return self._context.check.principal(token, self._sink.address, asyncio.get_running_loop().time())

    async def _enter(self, principal: Principal, name: str | None) -> bool:
        """Welcome it; False when there are too many of its role, and it was closed."""
        if self._sink.admitted(principal):
            self._welcome(principal, name)
            return True
        await self._sink.close(CloseCode.TOO_MANY, "too many connections")
        return False

    def _welcome(self, principal: Principal, name: str | None) -> None:
        context = self._context
        agents = context.host.agents()
        self._principal = principal
        self.reader.hides_faults = not principal.sees_all
        self._frontend = self._as_frontend(principal, name)
        self._sink.send_frame(
            Welcome(
                protocol="turnwire.v1",
                version=context.version,
                epoch=context.events.epoch,
                role=principal.role,
                sessions=context.visible(principal),
                trace_url=context.config.trace_url,
                agents=None if agents is None else list(agents),
                workers=list(context.fleet.workers())
                if context.fleet is not None and principal.sees_all
                else None,
                shell=True if context.shells is not None and _may_use_shells(principal) else None,
            )
        )
        context.frontends.join(self._sink, principal)

    def _as_frontend(self, principal: Principal, wish: str | None) -> Frontend:
        """Return under which name it acts: a principal under its own, whatever it calls itself."""
        name = (
            self._context.frontends.take_name(wish) if principal.name is None else f"{USER}{principal.name}"
        )
        return Frontend(name, principal.role, principal.name, principal.scope, principal.id)

    async def _refuse_for_rate(self, command_id: str | None) -> None:
        self._refused += 1
        self._sink.send_frame(
            refusal(command_id, "rate_limited", "Too many commands; wait, then send it again.")
        )
        if self._refused > REFUSALS_IN_A_ROW:
            await self._sink.close(CloseCode.TOO_MANY, "too many commands")

    async def _start(self, command: frames.AnyCommand, frontend: Frontend) -> None:
        principal = self._principal
        assert principal is not None, "it was welcomed"
        try:
            self._check_scope(command)
            match command:
                case frames.Hello():
                    await self._rename(command, frontend)
                case frames.Ping():
                    self._reply(command, None)
                case frames.Subscribe():
                    self._subscribe(command)
                case frames.Unsubscribe():
                    self._reply(command, {"subscribed": self.reader.unsubscribe(command.session)})
                case frames.SessionList():
                    self._reply(
                        command,
                        [to_builtins(session) for session in self._context.visible(principal)],
                    )
                case frames.LibraryExport() | frames.LibrarySearch() | frames.LibraryUsage():
                    self._start_reading(command, frontend)
                case _:
                    await self._slots.acquire()
                    doing = self._context.tasks.create_task(self._do(command, frontend))
                    doing.add_done_callback(lambda _: self._slots.release())
        except CommandRefused as refused:
            self._send(
                refusal(command.id, refused.code, self._said(refused.code, refused.message), refused.field)
            )

    def _start_reading(self, command: frames.AnyCommand, frontend: Frontend) -> None:
        """Start a command that waits for its turn. Other frames are read meanwhile: only they show that the frontend has left."""
        if len(self._readings) >= self._context.config.limits.commands_in_flight:
            raise CommandRefused(
                "rate_limited", "Too many of these commands wait; send it again once some are answered."
            )
        reading = self._context.tasks.create_task(self._do(command, frontend))
        self._readings.add(reading)
        reading.add_done_callback(self._readings.discard)

    async def _do(self, command: frames.AnyCommand, frontend: Frontend) -> None:
        try:
            if isinstance(command, frames.PayloadGet | frames.EventsGet):
                await self._answer_from_log(command)
            elif isinstance(command, frames.AccessInvite):
                await self._invite(command)
            elif isinstance(command, frames.ShellCommand):
                self._reply(command, await self._shells.execute(command, frontend))
            elif isinstance(command, READS_HISTORY):
                await self._answer_from_history(command, frontend)
            else:
                result = await self._context.host.execute(command, frontend)
                async with self._answering:
                    await self._sink.replies_taken()
                    if isinstance(command, CHANGES_OF_THE_LIST):
                        self._context.frontends.tell(self._sink)
                    self._reply(command, result)
        except CommandRefused as refused:
            self._send(
                refusal(command.id, refused.code, self._said(refused.code, refused.message), refused.field)
            )
        except LogUnreadable as fault:
            self._send(
                refusal(command.id, "journal_unavailable", self._said("journal_unavailable", str(fault)))
            )
        except Exception:
            log.exception("A command failed.", extra={"command": command.type})
            self._send(
                refusal(command.id, "internal", "The sidecar failed at this command; its log says why.")
            )

    def _said(self, code: str, message: str) -> str:
        """Return what a frontend reads of a refusal: without names of machines, unless it may see them."""
        principal = self._principal
        return message if principal is None or principal.sees_all else HIDDEN.get(code, message)

    async def _invite(self, command: frames.AccessInvite) -> None:
        principal = self._principal
        assert principal is not None, "it was welcomed"
        if principal.name is not None and principal.id is None:
            raise CommandRefused("forbidden", "The proxy logs you in; log in there.", "type")
        invited = principal if command.role == "control" else principal.as_viewer()
        code = await self._context.invitations.give(invited)
        self._reply(command, {"code": code, "seconds": LIFE_S})

    async def _rename(self, hello: frames.Hello, frontend: Frontend) -> None:
        before = self._principal
        assert before is not None, "it was welcomed"
        principal = before
        if hello.token is not None:
            try:
                principal = self._principal_of(hello.token)
            except WrongToken as wrong:
                if wrong.retry_after_s is not None:
                    await asyncio.sleep(self._context.config.limits.wrong_token_s)
                message = NOT_A_TOKEN if wrong.retry_after_s is None else TOO_MANY_WRONG
                raise CommandRefused("unauthorized", message, "token") from None
            if (principal.name, principal.id) != (before.name, before.id):
                message = "This connection is somebody else's; open another with this token."
                raise CommandRefused("forbidden", message, "token")
            if not self._sink.admitted(principal):
                raise CommandRefused(
                    "forbidden", "There are too many connections with the role view; close one.", "token"
                )
        name = frontend.name
        if principal.name is None and hello.name is not None and hello.name != name:
            self._context.frontends.free_name(name)
            name = self._context.frontends.take_name(hello.name)
        self._principal = principal
        if not _may_use_shells(principal):
            self._shells.end()
        self.reader.hides_faults = not principal.sees_all
        self._frontend = replace(frontend, name=name, role=principal.role)
        self._reply(hello, {"name": name, "role": principal.role})

    def _check_scope(self, command: frames.AnyCommand) -> None:
        """Refuse a command about a session that the principal may not see, with the error for an unknown session."""
        principal = self._principal
        assert principal is not None, "it was welcomed"
        if isinstance(command, frames.FleetCommand):
            if not principal.admin:
                raise CommandRefused(
                    "forbidden",
                    f"{command.type} needs a token of the role admin: `turnwire token create NAME --role admin`.",
                    "type",
                )
            return
        if principal.sees_all:
            return
        match command:
            case frames.ShellCommand():
                raise CommandRefused(
                    "forbidden", "A shell is only for principals that may see all sessions.", "type"
                )
            case frames.SessionCommand():
                self._check_seen(principal, command.session, "session")
            case frames.LibraryExport() if command.conversation.startswith(LIVE):
                self._check_seen(principal, command.conversation.removeprefix(LIVE), "conversation")
            case (
                frames.Hello()
                | frames.Ping()
                | frames.SessionList()
                | frames.SessionCreate()
                | frames.LibraryCommand()
                | frames.PushCommand()
                | frames.AccessInvite()
            ):
                pass  # the host holds these to the scope
            case _:
                raise CommandRefused(
                    "forbidden", f"{command.type} is only for principals that may see all sessions.", "type"
                )

    def _check_seen(self, principal: Principal, session: str, field: str) -> None:
        if not self._context.knows(principal, session):
            raise CommandRefused("unknown_session", f"There is no session {session!r}.", field)

    def _subscribe(self, command: frames.Subscribe) -> None:
        cursor, events = self._cursor(command), self._context.events
        self._reply(command, {"epoch": events.epoch, "last": events.last(command.session)})
        self.reader.subscribe(command.session, cursor)

    def _cursor(self, command: frames.Subscribe | frames.EventsGet) -> Cursor:
        """Return the position in a log that a command names. Refuses an unknown session."""
        assert self._principal is not None, "it was welcomed"
        if not self._context.knows(self._principal, command.session):
            raise CommandRefused("unknown_session", f"There is no session {command.session!r}.", "session")
        if command.after > 0 and command.epoch is None:
            raise CommandRefused(
                "invalid_params", "`epoch` is needed when `after` is not 0: take it from `welcome`.", "epoch"
            )
        return Cursor(command.epoch or "", command.after)

    async def _answer_from_log(self, command: frames.PayloadGet | frames.EventsGet) -> None:
        """Answer from a log, one command at a time. The log is read once the reply can be written."""
        async with self._fetching:
            while not self._left:
                await self._sink.replies_taken()
                if not await self._sink.room(READING_ROOM):
                    return
                async with self._context.readings:
                    if self._sink.has_room(READING_ROOM):
                        reply = await self._read(command)
                        if not self._left:
                            self._sink.send_text(reply)
                        return

    async def _answer_from_history(self, command: frames.AnyCommand, frontend: Frontend) -> None:
        """Answer from old conversations: one command at a time, few at once, each only when its answer can be written."""
        async with self._reading:
            await self._sink.replies_taken()
            if not await self._sink.room(READING_ROOM):
                return
            async with self._context.histories[frontend.role]:
                result = await self._context.host.execute(command, frontend)
                content = result.get("content") if isinstance(result, dict) else None
                # of the text's length, as what it takes in bytes is known once it is written
                if not isinstance(content, str) or await self._sink.room(len(content)):
                    self._reply(command, result)

    async def _read(self, command: frames.PayloadGet | frames.EventsGet) -> bytes:
        if isinstance(command, frames.EventsGet):
            page = await self._context.pages.between(command.session, self._cursor(command), command.before)
            bodies = [envelope.frame for envelope in page.envelopes]
            return encode_page(command.id, bodies, page.gap, page.cursor, page.last)
        whole = await self._context.pages.whole(command.session, command.seq)
        if whole is None:
            raise CommandRefused(
                "unknown_event", f"The log of {command.session!r} has no event {command.seq}.", "seq"
            )
        return encode_payload(command.id, whole.event, whole.raw)

    def _reply(self, command: frames.AnyCommand, result: JsonValue) -> None:
        self._send(Reply(id=command.id, ok=True, result=result))

    def _send(self, frame: OutFrame) -> None:
        if not self._left:
            self._sink.send_frame(frame)


def _may_use_shells(principal: Principal) -> bool:
    """Tell whether somebody may open shells: a shell sees more than the sessions of a scope."""
    return principal.role == "control" and principal.sees_all

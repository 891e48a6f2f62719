"""A run on a hub: catches up with the session, answers and prompts, and tells what happens until the run is over.

Each run has a connection of its own, opened with the token that its client showed: the hub decides who may do what, and a run
that is read slowly delays nobody. What a session amounted to at the end of a run is kept for the next one, so that not each begins
with the first event.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from ag_ui.core import BaseEvent, ResumeEntry
from ag_ui.encoder import EventEncoder

from turnwire.client import (
    BEGINNING,
    AccessRefused,
    CaughtUp,
    Client,
    CommandFailed,
    Cursor,
    EventFrame,
    Following,
    Gap,
    Received,
    TurnwireError,
)
from turnwire.frontends.agui.encoder import Run
from turnwire.frontends.agui.question_answers import InvalidAnswer, command_of
from turnwire.frontends.agui.run_request import RunRequest
from turnwire.frontends.agui.thread import PromptIds, Thread
from turnwire.frontends.web.bodies import LIMIT, WITHIN_S
from turnwire.frontends.web.streams import ENDS_LINES, prompt

log = logging.getLogger("turnwire.frontends.agui")

OVERTAKEN = frozenset({"already_answered", "cancelled"})
"""Codes of an answer that came too late, after another answer or the end of the turn."""

Tell = Callable[[bytes], Awaitable[None]]
"""Sends bytes of the stream; waits while the client does not read."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds, and times in seconds."""

    body: int = LIMIT
    """Bytes of a request's body: the client sends the whole conversation with each run."""
    body_s: float = WITHIN_S
    """How long a body may take to come."""
    runs: int = 64
    """Runs at a time; one more is answered 503."""
    connect_s: float = 10.0
    """How long the hub may take to answer."""
    catch_up_s: float = 60.0
    """How long the session's past may take to be read."""
    gather_s: float = 0.1
    """How long a run that must ask waits for more to ask: calls side by side ask one after the other."""
    ping_s: float = 15.0
    """How often a silent stream says that it is alive."""
    held: int = 256
    """Events of a session that wait for a client that reads slowly; then the hub is asked again later."""
    threads: int = 32
    """Sessions whose conversation is kept between runs."""


class RunStore:
    """What is kept between runs: conversations and where they were read up to, and which messages were sent."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: OrderedDict[str, tuple[Thread, Cursor]] = OrderedDict()
        self._prompts: OrderedDict[str, PromptIds] = OrderedDict()
        self._creating: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def claim(self, session: str) -> tuple[Thread, Cursor]:
        """Take a session's conversation for a run; a second run at the same time begins at the first event."""
        prompts = self._prompts.setdefault(session, PromptIds())
        self._prompts.move_to_end(session)
        while len(self._prompts) > 16 * self._most:
            self._prompts.popitem(last=False)
        return self._threads.pop(session, None) or (Thread(session, prompts), BEGINNING)

    def put(self, session: str, thread: Thread, cursor: Cursor) -> None:
        """Keep it for the next run, unless another run has got further."""
        kept = self._threads.get(session)
        if kept is not None and kept[1].epoch == cursor.epoch and kept[1].seq > cursor.seq:
            return
        self._threads[session] = thread, cursor
        self._threads.move_to_end(session)
        while len(self._threads) > self._most:
            self._threads.popitem(last=False)

    def prompts(self, session: str) -> PromptIds:
        """Return which messages were sent to a session."""
        return self._prompts.setdefault(session, PromptIds())

    def creating(self, thread_id: str) -> asyncio.Lock:
        """Return the lock under which a threadId gets its session: two runs at once make one."""
        lock = self._creating.get(thread_id)
        if lock is None:
            lock = self._creating[thread_id] = asyncio.Lock()
        return lock


async def session_of(client: Client, asked: RunRequest, kept: RunStore) -> str:
    """Return the session of a threadId: the session of that name, the one made for it before, or a new one.

    Raises BadRequest and TurnwireError.
    """
    thread_id = asked.input.thread_id
    title = f"AG-UI {thread_id}"
    options = asked.options
    async with kept.creating(thread_id):
        for summary in await client.sessions():
            if thread_id == summary.session or title == summary.title:
                return summary.session
        return await client.create(title=title, **options)


class SessionRun:
    """One run of a session."""

    def __init__(
        self, client: Client, session: str, asked: RunRequest, kept: RunStore, limits: Limits
    ) -> None:
        self._client = client
        self._session = session
        self._asked = asked
        self._kept = kept
        self._limits = limits
        self._prompts = kept.prompts(session)
        self._thread, self._cursor = kept.claim(session)
        self._following: Following = client.follow(session, self._cursor)
        self._encode = EventEncoder().encode
        given = asked.input
        self._run = Run(
            self._thread,
            thread_id=given.thread_id,
            run_id=given.run_id,
            version=given.protocol_version,
            parent_run_id=given.parent_run_id,
        )

    @property
    def finished(self) -> bool:
        """Whether the run is over, as the client sees it."""
        return self._run.finished

    async def catch_up(self) -> None:
        """Read the session up to now; raises TurnwireError and TimeoutError."""
        async with asyncio.timeout(self._limits.catch_up_s):
            async for received in self._following:
                match received:
                    case EventFrame():
                        self._thread.handle(received.seq, received.event)
                    case Gap(restarted=True):
                        self._thread.clear()
                    case Gap():
                        self._thread.lose(received.last - received.first + 1)
                    case CaughtUp():
                        return
                    case _:
                        pass

    def close(self) -> None:
        """Keep what was read for the next run."""
        self._kept.put(self._session, self._thread, self._following.cursor)
        self._following.close()

    async def stream(self, tell: Tell) -> None:
        """Tell the run from its first event to its last."""
        # from here on it is the client that sets the pace
        self._following.held = self._limits.held
        asked, run = self._asked, self._run
        said = asked.said
        if said is not None and not self._prompts.begin(said.id):
            said = None
        await self._tell(tell, run.start(asked.known_without(said), asked.input.state, said))
        try:
            await self._tell(tell, await self._answer(asked.input.resume or ()))
            if said is not None and not run.finished:
                run.await_prompt(await self._prompt(said.id))
            else:
                run.await_turn()
                await self._tell(tell, run.rest())
            while not run.finished:
                await self._tell(tell, await self._next() or None)
        except CommandFailed as refused:
            await self._tell(tell, run.fail(refused.code, refused.message))
        except AccessRefused as refused:
            await self._tell(tell, run.fail("unauthorized", str(refused)))
        except TurnwireError as lost:
            await self._tell(tell, run.fail("connection_lost", str(lost)))
        except OSError:
            raise  # the client has gone
        except Exception:
            log.exception("a run failed", extra={"session": self._session})
            await self._tell(
                tell, run.fail("internal", "turnwire agui failed at this run; its log says why.")
            )

    async def _next(self) -> list[BaseEvent]:
        """Return what the next event is, or what must be said when none comes; raises TurnwireError."""
        wait = self._limits.gather_s if self._thread.pending else self._limits.ping_s
        try:
            async with asyncio.timeout(wait):
                received = await anext(self._following, None)
        except TimeoutError:
            if all(each.session != self._session for each in self._client.known_sessions):
                return self._run.fail("unknown_session", "The session was deleted.")
            return self._run.rest()
        return self._received(received)

    def _received(self, received: Received | None) -> list[BaseEvent]:
        match received:
            case None:
                return self._run.fail("connection_lost", "The connection to the hub was closed.")
            case EventFrame():
                return self._run.handle(received.seq, received.event)
            case Gap(restarted=True):
                return self._run.begin_anew()
            case Gap():
                return self._run.lose(received.last - received.first + 1)
            case _:
                return []

    async def _prompt(self, message: str) -> str:
        """Send the new message, to a CLI that is started again where it has ended, and return the prompt's UUID."""
        asked = self._asked
        try:
            sent = await prompt(self._client, self._session, asked.text, asked.attachments)
        except CommandFailed:
            self._prompts.failed(message)
            raise
        self._prompts.on_sent(message, sent)
        return sent

    async def _answer(self, entries: Iterable[ResumeEntry]) -> list[BaseEvent]:
        """Give the answers that came; all are looked at before one is given."""
        told: list[BaseEvent] = []
        answers = []
        for entry in entries:
            pending = entry.interrupt_id
            request = self._thread.pending.get(pending)
            if request is None:
                if entry.status != "cancelled" and not self._thread.is_closed(pending):
                    return self._run.fail(
                        "unknown_request", f"There is no interrupt {pending!r} in this session."
                    )
                told.append(self._passed_over(pending, "cancelled", "It waits no more."))
                continue
            try:
                answers.append((pending, command_of(self._session, request, entry)))
            except InvalidAnswer as error:
                return self._run.fail("invalid_answer", str(error))
        for pending, command in answers:
            try:
                await self._client.command(command)
            except CommandFailed as refused:
                if refused.code not in OVERTAKEN:
                    raise
                told.append(self._passed_over(pending, refused.code, refused.message))
            self._thread.on_answer(pending)
        return told

    def _passed_over(self, pending: str, code: str, message: str) -> BaseEvent:
        return self._run.note("resume_ignored", {"interruptId": pending, "code": code, "message": message})

    async def _tell(self, tell: Tell, told: list[BaseEvent] | None) -> None:
        if told:
            await tell("".join(map(self._encode, told)).translate(ENDS_LINES).encode())
        elif told is None:
            # a comment: it keeps proxies from closing a silent stream, and shows whether the client is there
            await tell(b":\n\n")

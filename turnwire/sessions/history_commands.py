"""Conversations of the history as sessions, and the commands about the history.

Threads read the files. The event loop waits only a moment for the first scan of the folders, and then answers with
what is known so far.
"""

import asyncio
import json
import logging
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

from msgspec import Struct, to_builtins
from pydantic import JsonValue

from turnwire._runtime.task_owner import set_within
from turnwire.config.agents import can_continue
from turnwire.config.settings import Settings
from turnwire.history.following import Follower
from turnwire.history.visibility import VisibleConversations
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire import frames
from turnwire.journal.base import Journal, JournalError
from turnwire.normalize import events as ev
from turnwire.normalize.common.endings import asked_model, is_output
from turnwire.normalize.events import AgentEvent, from_json
from turnwire.normalize.events.envelope import Cursor, Envelope
from turnwire.sessions.claims import conversation_of
from turnwire.sessions.hosted import refuse
from turnwire.sessions.live import LiveSession

if TYPE_CHECKING:
    from turnwire.history.history import History
    from turnwire.history.index import ListedConversation

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 3
"""Threads that read conversations and their index. A hub makes one answer for each of two roles at a time; the third is for short looks."""

PAGE = 128
"""Files that were changed last, and that a list of the newest conversations waits for."""

PIECE = 512
"""Texts of a log that are taken into the index at a time."""


class HistoryTimes(Struct, frozen=True, kw_only=True):
    """How often the folders are scanned, and what waits for a scan. Seconds."""

    patience_s: float = 2.0
    """How long an answer waits for a look."""
    fresh_s: float = 1.0
    """A scan no older than this is not repeated."""
    every_s: float = 2.0
    """Time between scans while someone waits for a new list."""
    share: float = 0.05
    """Largest share of the time for such scans. If a scan takes long, scans are rarer."""
    wait_s: float = 25.0
    """How long an answer waits for another list."""
    most_waiting: int = 256
    """Answers that wait for another list at a time; one more is refused."""

    def pause(self, took: float) -> float:
        """Return the pause between two scans that take so long, in seconds."""
        return max(self.every_s, took / self.share)


_PACE = HistoryTimes()

Seen: TypeAlias = tuple[Sequence[LiveSession], VisibleConversations | None]
"""The sessions and conversations that a principal may see; None for all."""


class HistoryCommands:
    """The history of a host, opened on first use."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        spawn: Callable[[str, Coroutine[None, None, None]], asyncio.Task[None]],
        pace: HistoryTimes = _PACE,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._spawn = spawn
        self._pace = pace
        self._waiting = 0
        self._closed = asyncio.Event()
        self._library: History | None = None
        self._looking: asyncio.Task[None] | None = None
        self._page_read = asyncio.Event()
        """Set once the last look has read the newest files."""
        self._looked: float | None = None
        self._took = 0.0
        self._running: frozenset[str] = frozenset()
        """Conversations that other CLIs had open at the last look."""
        self._indexing = asyncio.Lock()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="turnwire-library")

    def close(self) -> None:
        """Close the index. Commands that wait for a new list are answered."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._library is not None:
            self._library.close()
            self._library = None

    def library(self) -> "History":
        """Return the library; refuses where there is none."""
        from turnwire.history.history import History  # noqa: PLC0415 - as above
        from turnwire.history.index import HistoryError  # noqa: PLC0415 - only who asks for it waits for it

        if self._closed.is_set():
            refuse("no_library", "the sidecar is stopping")
        if self._library is None:
            try:
                self._library = History(self._settings)
            except HistoryError as error:
                refuse("no_library", str(error))
        return self._library

    async def _in_pool(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking function in a thread of the history's own pool, so that it delays nothing else."""
        call = partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def find(self, name: str, within: VisibleConversations | None = None) -> "ListedConversation":
        """Return a conversation. Refuses a missing and an invisible one with the same words."""
        from turnwire.history.index import HistoryError  # noqa: PLC0415 - as above

        library = self.library()
        found = await self._in_pool(library.index.find, name)
        if within is not None:
            if found is None:
                await self._look()
                found = await self._in_pool(library.index.find, name)
            if found is None or not within.has(found.id, found.folder):
                refuse("unknown_conversation", f"there is no conversation {name!r}", "conversation")
        if found is not None:
            return found
        await self._look()
        try:
            return await self._in_pool(library.find, name)
        except HistoryError as error:
            refuse("unknown_conversation", str(error), "conversation")

    async def follower(self, listed: "ListedConversation", leaf: str | None = None) -> Follower:
        """Return a reader of a conversation's file, or of its part up to a message. Raises CommandRefused if it cannot be read."""
        from turnwire.history.index import HistoryError  # noqa: PLC0415 - as above

        try:
            return await self._in_pool(self.library().follower, listed, leaf)
        except HistoryError as error:
            refuse("unknown_conversation", str(error), "conversation")

    async def remembered(
        self, agent: str, folder: str | None, resume: str | None
    ) -> "ListedConversation | None":
        """Return the named conversation of an agent, or without a name the newest of a folder.

        None if there is no file of it, or if nothing is listed.
        """
        if not self._settings.history:
            return None
        try:
            library = self.library()
            if resume is not None:
                found = [await self.find(resume)]
            else:
                await self._look()
                found = await self._in_pool(library.index.newest, limit=100, folder=folder)
        except CommandRefused:
            return None
        for one in found:
            known = one.id == resume if resume is not None else one.folder == folder
            if known and can_continue(agent, one.agent, self._settings.agents):
                return one
        return None

    async def opened_by(self, pid: int) -> "ListedConversation | None":
        """Return the conversation that a process has open; None if none is known, and where nothing is listed."""
        if not self._settings.history:
            return None
        return await self._in_pool(self.library().opened_by, pid)

    async def is_running(self, conversation: str) -> bool:
        """Tell whether another CLI has a conversation open."""
        if not self._settings.history:
            return False
        return conversation in await self._in_pool(self.library().running)

    async def known(self, conversation: str) -> "ListedConversation | None":
        """Return a conversation. None if it has no file, or if nothing is listed.

        Raises CommandRefused during the first scan of the folders: whether there is a file is not known yet.
        """
        if not self._settings.history:
            return None
        library, complete = self.library(), await self._look()
        listed = await self._in_pool(library.index.find, conversation)
        if listed is None and not complete:
            refuse("no_library", "the conversations of agents are still being read; try again in a moment")
        return listed

    async def times(self, conversation: str) -> tuple[float | None, float | None]:
        """Return when a conversation began and ended, as far as that is known. Raises CommandRefused as `known` does."""
        listed = await self.known(conversation)
        return (None, None) if listed is None else (listed.began, listed.ended)

    async def has_message(self, conversation: str | None, message: str) -> bool | None:
        """Return whether an agent's own file has a message. None if there is no such file, or if none may be read."""
        from turnwire.history.index import HistoryError  # noqa: PLC0415 - as above

        if not self._settings.history or conversation is None:
            return None
        try:
            return await self._in_pool(self.library().has_message, conversation, message)
        except (HistoryError, CommandRefused):
            return None

    async def take_in(self, session: LiveSession) -> None:
        """Add a session's journaled usage and texts to the index."""
        from turnwire.history.index import HistoryError  # noqa: PLC0415 - as above

        try:
            await self._journal.flush(session.session)
            await self._index([session])
        except (HistoryError, CommandRefused, JournalError):
            log.debug(
                "the index did not take in a session", exc_info=True, extra={"session": session.session}
            )
        except RuntimeError:
            if not self._closed.is_set():  # the threads have ended
                raise

    async def forget(self, session: str) -> None:
        """A session of turnwire's own is no more."""
        if self._library is not None:
            await self._in_pool(self._library.index.forget_log, session)

    async def _look(self, *, newest: bool = False) -> bool:
        """Scan for changes. Returns whether the scan is complete; a slow scan continues.

        `newest`: the PAGE files that were changed last are enough.
        """
        library = self.library()
        now = time.monotonic()
        if self._looking is None or self._looking.done():
            if self._looked is not None and now - self._looked < self._pace.fresh_s:
                return True

            loop, page_read = asyncio.get_running_loop(), asyncio.Event()

            def tell(done: int, _: int) -> None:
                if done >= PAGE:
                    loop.call_soon_threadsafe(page_read.set)

            async def look() -> None:
                try:
                    await self._in_pool(library.look, tell=tell)
                    self._running = frozenset(await self._in_pool(library.running))
                    self._looked = time.monotonic()
                    self._took = self._looked - now
                finally:
                    page_read.set()

            self._page_read = page_read
            self._looking = self._spawn("library", look())
        # this one: another look may have begun when it is over
        looking, page_read = self._looking, self._page_read
        if newest:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace.patience_s):
                    await page_read.wait()
        else:
            await asyncio.wait([looking], timeout=self._pace.patience_s)
        return looking.done()

    async def execute(self, command: frames.LibraryCommand, seen: Callable[[], Seen]) -> JsonValue:
        """Run a command, except opening. Raises CommandRefused. The answer covers only the given sessions and conversations."""
        from turnwire.history.index import HistoryError  # noqa: PLC0415 - as above

        try:
            return await self._execute(command, seen)
        except HistoryError as error:
            refuse("no_library" if self._closed.is_set() else "unknown_conversation", str(error))

    async def _execute(  # noqa: RET503 - the last case refuses
        self, command: frames.LibraryCommand, seen: Callable[[], Seen]
    ) -> JsonValue:
        if isinstance(command, frames.LibraryList):
            if command.known is not None:
                return await self._other_list(command, seen)
            return await self._list(command, *seen())
        sessions, within = seen()
        match command:
            case frames.LibrarySearch():
                return await self._search(command, sessions, within)
            case frames.LibraryUsage():
                return await self._usage(command, sessions, within)
            case frames.LibraryRename():
                listed = await self.find(command.conversation, within)
                await self._in_pool(self.library().index.rename, listed.id, command.title)
                return None
            case frames.LibraryExport():
                return await self._export(command, sessions, within)
            case _:
                refuse("invalid_params", "this is not a command about the history", "type")

    async def _other_list(self, command: frames.LibraryList, seen: Callable[[], Seen]) -> JsonValue:
        """Answer once the list differs from the known one, or when the time is over."""
        if self._waiting >= self._pace.most_waiting:
            refuse("rate_limited", "too many wait for another list; ask without `known`", "known")
        self._waiting += 1
        try:
            ends = time.monotonic() + self._pace.wait_s
            while True:
                stamp = await self._stamp(seen)
                answer = await self._list(command, *seen())
                if answer["version"] != command.known:
                    return answer
                is_same = True
                while is_same:
                    left = ends - time.monotonic()
                    if left <= 0 or not await self._pause(min(left, self._pace.pause(self._took))):
                        return answer
                    await self._look()
                    is_same = stamp == await self._stamp(seen)
        finally:
            self._waiting -= 1

    async def _pause(self, seconds: float) -> bool:
        """Wait, and tell whether the library is still there."""
        return not await set_within(self._closed, seconds)

    async def _stamp(self, seen: Callable[[], Seen]) -> Hashable:
        """Return a value that differs whenever the list may differ. It is cheaper than the list."""
        changes = await self._in_pool(self.library().index.changes)
        own = tuple(_certain(session) for session in seen()[0])
        return changes, self._running, own, self._looked is not None

    async def _list(
        self,
        command: frames.LibraryList,
        sessions: Sequence[LiveSession],
        within: VisibleConversations | None,
    ) -> dict[str, JsonValue]:
        from turnwire.history.show import conversation  # noqa: PLC0415 - as above

        # the newest are read first
        is_page = command.before is command.conversation is command.agent is command.folder is None
        library = self.library()
        complete = await self._look(newest=is_page and command.limit <= PAGE)
        before = _cursor(command.before)
        if command.conversation is not None:
            found = [await self.find(command.conversation, within)]
        else:
            found = await self._in_pool(
                library.index.newest,
                limit=command.limit,
                agent=command.agent,
                folder=command.folder,
                before=before,
                within=within,
            )
        running = await self._in_pool(library.running)
        own = {_certain(session): session.session for session in sessions}
        listed: list[JsonValue] = [
            {**conversation(one, running), "session": own.get(one.id), "cursor": _place(one)} for one in found
        ]
        has_more = command.conversation is None and len(found) == command.limit
        after = _place(found[-1]) if has_more else None
        # not whether a look that takes its time is under way: that is no other list
        told = json.dumps([listed, after, self._looked is not None]).encode()
        version = blake2b(told, digest_size=12).hexdigest()
        return {"conversations": listed, "next": after, "complete": complete, "version": version}

    async def _search(
        self,
        command: frames.LibrarySearch,
        sessions: Sequence[LiveSession],
        within: VisibleConversations | None,
    ) -> JsonValue:
        from turnwire.history.index import query_of  # noqa: PLC0415 - as above
        from turnwire.history.show import hit  # noqa: PLC0415 - as above

        if not query_of(command.text):
            refuse("invalid_params", "the search has no word; give letters or digits", "text")
        library, complete = self.library(), await self._look()
        await self._index(sessions)
        found = await self._in_pool(
            library.index.search,
            command.text,
            limit=command.limit,
            agent=command.agent,
            folder=command.folder,
            within=within,
        )
        hits: list[JsonValue] = [hit(one) for one in found]
        return {"hits": hits, "complete": complete}

    async def _usage(
        self,
        command: frames.LibraryUsage,
        sessions: Sequence[LiveSession],
        within: VisibleConversations | None,
    ) -> JsonValue:
        from turnwire.history.show import time_of  # noqa: PLC0415 - as above

        since, until = time_of(command.since, 0), time_of(command.until, 1)
        if (command.since and since is None) or (command.until and until is None):
            refuse(
                "invalid_params",
                "a day is one of the calendar, as YYYY-MM-DD",
                "since" if since is None else "until",
            )
        library, complete = self.library(), await self._look()
        await self._index(sessions)
        found = await self._in_pool(
            library.index.usage,
            list(dict.fromkeys(["day"] if command.by is None else command.by)),
            since=since,
            until=until,
            folder=command.folder,
            within=within,
        )
        return {"usage": to_builtins(found), "complete": complete}

    async def _export(
        self,
        command: frames.LibraryExport,
        sessions: Sequence[LiveSession],
        within: VisibleConversations | None,
    ) -> JsonValue:
        from turnwire.history.history import document, shown_title  # noqa: PLC0415 - as above

        library = self.library()
        kind, _, name = command.conversation.partition(":")
        if kind == "live" and name:
            session = next((one for one in sessions if one.session == name), None)
            if session is None:
                refuse(
                    "unknown_session",
                    f"there is no session {name!r}; session.list names them",
                    "conversation",
                )
            await self._index([session])
            listed = await self._in_pool(library.find, command.conversation)
            events = [event async for _, event in self._events(name, 0)]
            write = partial(document, listed, iter(events))
        else:
            listed = await self.find(command.conversation, within)
            write = partial(library.export, listed)
        stopped = threading.Event()
        try:
            text = await self._in_pool(
                write, command.format, redact=command.redact, is_stopped=stopped.is_set
            )
        finally:
            # nobody waits any more, and a thread ends by itself alone
            stopped.set()
        stem = re.sub(r"[^\w-]+", "-", shown_title(listed))[:60].strip("-") or "conversation"
        ending = "html" if command.format == "html" else "md"
        return {"name": f"{stem}.{ending}", "content": text.encode("utf-8", "replace").decode()}

    async def _events(self, session: str, after: int) -> AsyncIterator[tuple[Envelope, AgentEvent]]:
        cursor = Cursor(self._journal.epoch, after)
        while True:
            page = await self._journal.read_after(session, cursor)
            for envelope in page.envelopes:
                try:
                    yield envelope, from_json(envelope.event)
                except ValueError:
                    continue
            if page.cursor.seq >= page.last or page.cursor.seq <= cursor.seq:
                return
            cursor = page.cursor

    async def _index(self, sessions: Sequence[LiveSession]) -> None:
        """Add what turnwire's own sessions have journaled since, up to the last turn's end."""
        index = self.library().index
        async with self._indexing:
            for session in sessions:
                known = await self._in_pool(index.logged, session.session, self._journal.epoch)
                if self._journal.last(session.session) > known:
                    await self._index_one(session, known)

    async def _index_one(self, session: LiveSession, known: int) -> None:
        from turnwire.history.conversation_text import Conversation, searched  # noqa: PLC0415 - as above
        from turnwire.history.index import LogPiece  # noqa: PLC0415 - as above
        from turnwire.history.live import answer_of, listed_of  # noqa: PLC0415 - as above

        folded, shown, imported, has_output = Conversation(), session.summary(), False, False
        about_it = listed_of(session.record, shown, _certain(session))
        piece = LogPiece(self._journal.epoch, known, [], [], about_it, after=known)
        began: float | None = (
            None  # of the first turn behind what is known: the index has when the last one ended
        )
        async for envelope, event in self._events(session.session, known):
            folded.handle(event, envelope.seq)
            has_output = has_output or is_output(event)
            match event:
                case ev.ProcessStatus(state="started"):
                    began = datetime.fromisoformat(envelope.ts).timestamp()
                case ev.History(state="began"):
                    imported = True
                case ev.History(state="ended") if imported:
                    imported = has_output = False
                    piece.said.extend(searched(folded.parts))
                    folded = Conversation()
                    piece = replace(piece, seq=envelope.seq)
                case ev.Complete() if not imported:
                    piece.said.extend(searched(folded.parts))
                    answer = answer_of(session.session, shown.model, envelope.ts, event)
                    if asked_model(event.data, has_output=has_output):
                        piece.answers.append(answer._replace(began=began))
                    began, has_output = answer.at, False
                    folded = Conversation()
                    piece = replace(piece, seq=envelope.seq)
                    if len(piece.said) >= PIECE:
                        await self._in_pool(self.library().index.log, session.session, piece)
                        piece = replace(piece, said=[], answers=[], after=piece.seq)
                case _:
                    pass
        await self._in_pool(self.library().index.log, session.session, piece)


def _certain(session: LiveSession) -> str | None:
    return conversation_of(session.record, session.summary().cli_session_id)


def about(listed: "ListedConversation") -> ev.History:
    """Return the event that begins an old conversation in a log."""
    from turnwire.history.history import moment  # noqa: PLC0415 - as above

    return ev.History(
        state="began",
        text="What follows was said before turnwire had this conversation.",
        conversation=listed.id,
        turns=listed.turns,
        began=moment(listed.began),
        ended=moment(listed.ended),
    )


def listed_title(listed: "ListedConversation") -> str:
    """Return a conversation's title."""
    from turnwire.history.history import shown_title  # noqa: PLC0415 - as above

    return shown_title(listed)


def _place(listed: "ListedConversation") -> str:
    """Return the text that `_cursor` parses."""
    return f"{listed.ended or 0!r}:{listed.id}"


def _cursor(text: str | None) -> tuple[float, str] | None:
    if text is None:
        return None
    at, _, identity = text.partition(":")
    try:
        return float(at), identity
    except ValueError:
        refuse("invalid_params", "`before` is not what a page named as `next`", "before")

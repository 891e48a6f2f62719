"""A worker: holds a lease, takes the commands that hubs send it, each with one effect, and keeps its sessions in the directory.

What it was told and could not answer before it ended is answered by its next life: with what came of it, or that this is not
known. As long as Redis is away its sessions go on; what they say waits in the journal, and commands wait for their answers.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
from msgspec import structs
from redis.exceptions import RedisError, ResponseError

from turnwire._runtime.task_owner import TaskOwner, heed_cancellation
from turnwire.fleet import messages
from turnwire.fleet.errors import NameTaken
from turnwire.fleet.store import DirectoryEntry, FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.host import CommandRefused, Frontend, Host
from turnwire.hub.principals import EVERYTHING, Scope
from turnwire.hub.wire import frames
from turnwire.hub.wire.commands import parse
from turnwire.hub.wire.frames_out import Reply, SessionSummary
from turnwire.journal.ages import steadily
from turnwire.journal.base import JournalError

log = logging.getLogger(__name__)

AT_ONCE = 256
"""Commands that are being done; no more are begun meanwhile."""

TAKEN = 64
"""Commands that are taken in one request."""

LISTED = (
    frames.LibraryOpen,
    frames.SessionCreate,
    frames.SessionDelete,
    frames.SessionFork,
    frames.SessionMove,
)
"""Commands after which there are other sessions."""

READS = (
    frames.LibraryExport,
    frames.LibraryList,
    frames.LibrarySearch,
    frames.LibraryUsage,
    frames.WorkspaceCommand,
)
"""Commands that change nothing: what came of them need not be known, and may be large."""

NOTHING_BEGUN = frozenset({"journal_unavailable"})
"""Refusals after which a repetition may do what the first attempt did not."""

BEGINS = (
    frames.LibraryOpen,
    frames.Prompt,
    frames.SessionCreate,
    frames.SessionFork,
    frames.SessionResume,
    frames.SessionRetry,
)
"""Commands that a worker which is about to end does not begin."""

OPEN = frozenset({"running", "starting", "waiting"})
"""States of a session that has something to end yet."""

TOO_LATE = "the worker did not come to it in time, so it was not done; send it again"
LIVE = "live:"
"""Before the id of a session, where a command of the library names one."""


class WorkerHost(Host, Protocol):
    """The sessions of this machine."""

    def owns(self, session: str) -> bool:
        """Tell whether a session is here."""
        ...

    def fence(self, session: str) -> int:
        """Return the number of the session's owner and life (turnwire/journal/redis)."""
        ...

    def record(self, session: str) -> bytes | None:
        """Return what another worker needs to go on with a session; None where it cannot be gone on with."""
        ...

    async def adopt(self, session: str, record: bytes, worker: str, fence: int) -> bool:
        """Take a session whose worker is gone; False where it has another owner by now. Raises CommandRefused."""
        ...

    async def still_owns(self, session: str) -> bool:
        """Ask Redis whether a session is this worker's; raises JournalError."""
        ...

    async def journaled(self) -> None:
        """Wait until the events of a command are in the journal, however long that takes."""
        ...

    async def lost(self, session: str) -> bool:
        """Tell whether a session's log has refused what was said here, because it is another worker's by now."""
        ...

    async def abandon(self, session: str) -> None:
        """End what runs of a session that has another owner by now, and forget it here."""
        ...


@dataclass(slots=True)
class _RunningCommand:
    """A command that this worker is executing."""

    digest: str
    waiting: list[tuple[str, str]] = field(default_factory=list)
    """Hubs that wait for its answer, and the places of the entries by which they asked."""


class Worker:
    """The fleet's side of a sidecar; `running` is its life."""

    def __init__(
        self,
        store: FleetStore,
        host: WorkerHost,
        about: Callable[[], messages.WorkerSummary],
        place: str,
        timing: Timing | None = None,
    ) -> None:
        """`about` says what the worker is now. `place` is the id of its state directory, where its next life will be."""
        self._store = store
        self._host = host
        self._about = about
        self._place = place
        self._timing = timing or Timing()
        self._name = about().name
        self._instance = uuid.uuid4().hex
        self._shown: dict[str, tuple[int, bytes]] = {}
        """The fence and the summary that the directory has of each session."""
        self._showing = asyncio.Lock()
        self._changed = asyncio.Event()
        self._doing: dict[str, _RunningCommand] = {}
        self._held: set[str] = set()
        """Places of the entries that were taken and not answered to the end."""
        self._tasks = TaskOwner()
        """The worker's parts, and the commands that are being done; all are over when `running` is left."""
        self._adopting = asyncio.Lock()
        """Held while a session is taken: by one command, though several want it."""
        self._abandoning = asyncio.Lock()
        """Held while a session is ended that another worker has; several parts may notice that at once."""
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._clock_ms = 0.0
        """Redis's clock less ours, which also runs while the machine is suspended."""
        self.renewed_at = 0.0
        """When the lease was renewed last, by the event loop's clock."""
        self.round_trip_s = 0.0
        """How long Redis took for that."""
        self.orders = 0
        """Commands that had no answer then."""
        self._holds = False
        """Whether the lease is this worker's."""
        self._state = "serving"
        self._wished = asyncio.Event()
        """Set when an operator wants the worker to end."""
        self._moving: dict[str, asyncio.Event] = {}
        """Sessions that go to another worker; each is set when that is over."""
        self._failing: dict[Callable[[], Coroutine[None, None, None]], bool] = {}
        """Parts that cannot use Redis at present, and whether it refuses them or is away."""
        self._was_away = False
        """Whether others may have taken sessions, or deleted them, which is not looked into yet."""

    async def register(self) -> None:
        """Take the lease; raises NameTaken, RedisError, and JournalUnavailable for a fleet of a newer release."""
        await self._store.check_schema()
        if not await self._renew(begins=True):
            other = (await self._store.leases()).get(self._name)
            host = "" if other is None else messages.decode(other.about, messages.WorkerSummary).host
            raise NameTaken(
                f"A worker named {self._name!r} is already running{f' on {host!r}' if host else ''} with another state directory: "
                "give this one another --worker NAME, or wait until the lease of the other has ended."
            )
        await self._store.join(self._name)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Callable[[], None]]:
        """Hold the lease as long as the context lasts, and serve once the function it gives is called; `register` comes before."""
        serving = asyncio.Event()
        unwatch = self._host.watch_sessions(self._changed.set)

        async def once_serving(part: Callable[[], Coroutine[None, None, None]]) -> None:
            await serving.wait()
            self._changed.set()
            await self._again(part)

        try:
            async with self._tasks as tasks:
                tasks.keep("worker's lease", self._again(self._beat))
                tasks.keep("worker's sessions", once_serving(self._show))
                tasks.keep("worker's commands", once_serving(self._take))
                yield serving.set
        finally:
            unwatch()

    async def wished(self) -> None:
        """Wait until an operator wants the worker to end."""
        await self._wished.wait()

    async def drain(self, seconds: float) -> None:
        """Begin nothing more, let turns end for so many seconds, and hand sessions to other workers of the group."""
        self._state = "draining"
        changed = asyncio.Event()
        unwatch = self._host.watch_sessions(changed.set)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            async with asyncio.timeout_at(deadline):
                try:
                    await self._tell_state()
                except (RedisError, OSError) as error:
                    log.warning(
                        "the fleet could not be told that this worker ends", extra={"error": str(error)}
                    )
                stays: set[str] = set()
                while True:
                    changed.clear()
                    there = {one.session: one.state in OPEN for one in self._host.sessions()}
                    for session in [
                        one for one, is_open in there.items() if not is_open and one not in stays
                    ]:
                        if await self._hand_over(session) is None:
                            stays.add(session)
                    if not any(there.values()):
                        return
                    # What hands a session over may lose the one cancellation of the timeout around this.
                    try:
                        async with asyncio.timeout_at(min(deadline, loop.time() + self._timing.beat_s)):
                            await changed.wait()
                    except TimeoutError:
                        if loop.time() >= deadline:
                            raise
                        # An agent that says nothing does not notice that its session was taken.
                        await self._let_go_of_what_moved()
        except TimeoutError:
            log.warning("turns were still open when the time to drain was over", extra={"seconds": seconds})
        except (RedisError, OSError, JournalError) as error:
            log.warning("sessions could not be handed over", extra={"error": str(error)})
        finally:
            unwatch()

    async def _tell_state(self) -> None:
        await self._renew()
        await self._store.tell_worker(self._name)

    async def _hand_over(
        self, session: str, wish: str | None = None, scope: Scope = EVERYTHING
    ) -> str | None:
        """Have another worker of the group take a session without an open turn; return its name, None where none does. `scope`: whose wish it is.

        Raises RedisError and JournalError.
        """
        heir = await self._heir(wish, scope)
        if heir is None or session in self._moving or not self._host.owns(session):
            return None
        over = self._moving[session] = asyncio.Event()
        mine = Frontend(name=self._name, role="control")
        try:
            try:
                await self._host.execute(
                    frames.SessionClose(type="session.close", id="", session=session), mine
                )
            except CommandRefused:
                return None
            await self._host.journaled()
            await self._show_all()
            adopt = messages.PreviousOwner(worker=self._name, fence=self._host.fence(session))
            command = frames.SessionMove(type="session.move", id="", session=session)
            order = messages.WorkerCommand(
                id=f"move-{uuid.uuid4().hex}",
                hub=f"{self._instance}-moves",
                command=msgspec.Raw(command.model_dump_json(exclude_unset=True).encode()),
                frontend=mine,
                adopt=adopt,
            )
            place = await self._store.send(heir, messages.encode(order))
            try:
                async with asyncio.timeout(self._timing.lease_s):
                    while await self._host.still_owns(session):
                        heed_cancellation()
                        await asyncio.sleep(self._timing.pause_s)
            except TimeoutError:
                await self._store.withdraw(heir, place)
                return None
            log.info("a session went to another worker", extra={"session": session, "to": heir})
            await self._abandon(session, adopt.fence)
            return heir
        finally:
            del self._moving[session]
            over.set()

    async def _heir(self, wish: str | None, scope: Scope) -> str | None:
        """Return the worker of the group with most room, of those with the wished name or label; None where there is none."""
        if (group := self._about().group) is None:
            return None
        found: list[tuple[int, str]] = []
        for name, lease in (await self._store.leases()).items():
            if lease is None or name == self._name:
                continue
            try:
                known = messages.worker_of(lease.about, lease.wish)
            except msgspec.DecodeError:
                continue
            fits = (wish is None or wish == name or wish in known.labels) and known.takes_from(scope)
            if fits and known.group == group and known.takes_sessions and known.room > 0:
                found.append((-known.room, name))
        return min(found)[1] if found else None

    async def leave(self) -> None:
        """Let go of the lease, once all sessions have ended."""
        try:
            async with asyncio.timeout(self._timing.lease_s):
                await self._show_all()
                if self._wished.is_set():
                    # Whatever starts it again does not undo what the operator wanted.
                    await self._store.wish(self._name, "cordon")
                await self._store.release(self._name, self._instance)
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("the fleet could not be informed that this worker ends", extra={"error": str(error)})

    async def _again(self, part: Callable[[], Coroutine[None, None, None]]) -> None:
        """Do one of the parts for ever; what Redis cannot do now it can later."""
        while True:
            heed_cancellation()
            try:
                await part()
                self._works(part)
            except (RedisError, OSError, JournalError) as error:
                self._fails(part, error)
                if isinstance(error, ResponseError) and "NOGROUP" in str(error):
                    await self._rejoin()
                await asyncio.sleep(self._timing.pause_s)
            except Exception:
                log.exception("a task of the fleet's worker failed and is restarted")
                await asyncio.sleep(self._timing.pause_s)

    def _fails(self, part: Callable[[], Coroutine[None, None, None]], error: Exception) -> None:
        """Log a fault once, however many parts notice it."""
        is_refusal = isinstance(error, ResponseError)
        if part not in self._failing and is_refusal not in self._failing.values():
            log.warning("the fleet's Redis cannot be used at present", extra={"error": str(error)})
        self._failing[part] = is_refusal

    def _works(self, part: Callable[[], Coroutine[None, None, None]]) -> None:
        if self._failing.pop(part, None) is not None and not self._failing:
            log.info("the fleet's Redis can be used again")

    async def _rejoin(self) -> None:
        """Redis has lost what it knew of this worker."""
        try:
            self._show_anew()
            await self._store.join(self._name)
        except (RedisError, OSError):
            pass  # it is tried again

    def _show_anew(self) -> None:
        """Put all entries into the directory again, which may have lost them with the lease."""
        self._shown.update(dict.fromkeys(self._shown, (0, b"")))
        self._changed.set()

    async def _beat(self) -> None:
        held = self._holds
        if not await self._renew() and held:
            log.error(
                "another worker of this name has the lease; this one takes no commands. Was its state directory copied?",
                extra={"worker": self._name},
            )
        await asyncio.sleep(self._timing.beat_s)

    async def _renew(self, *, begins: bool = False) -> bool:
        loop = asyncio.get_running_loop()
        began = loop.time()
        renewal = await self._store.renew(
            self._name,
            self._instance,
            self._place,
            messages.encode(structs.replace(self._about(), state=self._state)),
            self._timing.key_ms,
            begins=begins,
        )
        held, self._holds = self._holds, renewal.is_ours
        if not renewal.is_ours:
            if held:
                await self._let_go_of_what_moved()
            return False
        self.renewed_at = loop.time()
        self.round_trip_s = self.renewed_at - began
        self.orders = await self._store.waiting(self._name)
        self._heed(renewal.wish)
        self._was_away |= renewal.had_lapsed and bool(self._shown)
        self._clock_ms = renewal.now_ms - steadily() / 1000
        if self._was_away:
            await self._let_go_of_what_moved()
            await self._store.join(self._name)
            self._show_anew()
            self._was_away = False
        return True

    def _heed(self, wish: str) -> None:
        if wish == "drain":
            self._wished.set()
        if (state := messages.state_of(self._state, wish)) != self._state:
            log.info("an operator has changed what the worker takes", extra={"state": state})
            self._state = state

    async def _let_go_of_what_moved(self) -> None:
        for session in tuple(self._shown):
            await self._let_go_if_moved(session)

    async def _let_go_if_moved(self, session: str) -> None:
        fence = self._host.fence(session)
        if self._host.owns(session) and not await self._host.still_owns(session):
            log.warning("another worker owns the session now; it ends here", extra={"session": session})
            await self._abandon(session, fence)

    async def _abandon(self, session: str, fence: int) -> None:
        """End a session here that another worker has; not a later life of it, which was taken back meanwhile."""
        async with self._abandoning:
            if self._host.owns(session) and self._host.fence(session) == fence:
                await self._host.abandon(session)

    async def _show(self) -> None:
        """Bring the directory up to date once something has changed."""
        await self._changed.wait()
        self._changed.clear()
        try:
            await self._show_all()
        except BaseException:
            self._changed.set()
            raise
        await asyncio.sleep(self._timing.pause_s)

    async def _show_all(self) -> None:
        async with self._showing:
            there = {summary.session: summary for summary in self._host.sessions()}
            for summary in there.values():
                await self._show_one(summary)
            for session in [one for one in self._shown if one not in there]:
                # What is not here any more was deleted, or is another's, or could not be taken back to the end.
                if await self._host.still_owns(session):
                    await self._store.remove(session, self._host.fence(session))
                del self._shown[session]

    async def _show_one(self, summary: SessionSummary) -> None:
        session = summary.session
        fence = self._host.fence(session)
        shown = messages.encode(structs.replace(summary, last_seq=0, worker=self._name))
        if self._shown.get(session) == (fence, shown):
            return
        group = self._about().group
        record = None if group is None else self._host.record(session)
        entry = DirectoryEntry(session, self._name, fence, shown, group, record)
        if await self._store.put(entry):
            self._shown[session] = fence, shown
        else:
            await self._abandon(session, fence)

    async def _take(self) -> None:
        left = "0"
        while rows := await self._store.left(self._name, left, TAKEN):
            for place, data in rows:
                await self._begin(place, data)
            left = rows[-1][0]
        while True:
            if not self._holds:
                await asyncio.sleep(self._timing.beat_s)
                continue
            for place, data in await self._store.next_commands(self._name, self._timing.block_ms, TAKEN):
                await self._begin(place, data)
            self._works(self._take)

    async def _begin(self, place: str, data: bytes) -> None:
        """Begin a command, or answer it with what is known of it; one that is seen again meanwhile is skipped."""
        if place in self._held:
            return
        self._held.add(place)
        try:
            await self._begin_held(place, data)
        except BaseException:
            self._held.discard(place)
            raise

    async def _begin_held(self, place: str, data: bytes) -> None:
        try:
            order = messages.decode(data, messages.WorkerCommand)
        except msgspec.DecodeError as error:
            if data:
                log.warning(
                    "the worker's stream has an entry that is not a command",
                    extra={"place": place, "error": str(error)},
                )
            await self._done(place)
            return
        digest = messages.digest_of(bytes(order.command), order.frontend.user)
        if (doing := self._doing.get(order.id)) is not None and doing.digest == digest:
            doing.waiting.append((order.hub, place))
            return
        now_ms = steadily() / 1000 + self._clock_ms
        command = parse(bytes(order.command).decode())
        if isinstance(command, Reply):
            assert command.error is not None
            await self._answer(order, place, messages.Answer(error=command.error))
            return
        session = _session_of(command)
        moved = session is not None and order.adopt is None and not self._host.owns(session)
        outcome = messages.CommandOutcome(
            digest=digest, begun=messages.CommandStart(worker=self._name, instance=self._instance)
        )
        if moved or now_ms - int(place.partition("-")[0]) > self._timing.fresh_ms:
            # What was begun before has its answer all the same.
            noted = await self._store.outcome(order.id)
        else:
            noted = None
            if not isinstance(command, READS):
                noted = await self._store.begin(order.id, messages.encode(outcome), self._timing.repeat_ms)
            # Its own note, of a request whose answer was lost, or of a session that had moved: nothing was done.
            if noted is None or noted == messages.encode(outcome):
                begun = self._doing[order.id] = _RunningCommand(digest, [(order.hub, place)])
                await self._slots.acquire()
                self._tasks.keep("a worker's command", self._do(order, command, outcome, begun))
                return
        if noted is None:
            answer = messages.Answer(moved=True) if moved else messages.refused("unreachable", TOO_LATE)
        else:
            answer = messages.answer_of(noted, digest)
        await self._answer(order, place, answer)

    async def _do(
        self,
        order: messages.WorkerCommand,
        command: frames.AnyCommand,
        outcome: messages.CommandOutcome,
        doing: _RunningCommand,
    ) -> None:
        try:
            answer = await self._result(order, command)
            await self._host.journaled()
            session = _session_of(command)
            if session is not None and isinstance(command, BEGINS) and await self._host.lost(session):
                # Taken by force meanwhile: nothing of this is in its log, so its owner does it.
                answer = messages.Answer(moved=True)
            if isinstance(command, LISTED):
                # Whoever hears of a new session finds it in the directory, and one that was deleted no more.
                await self._until_redis_takes_it(self._show_all)
            if answer.moved or (answer.error is not None and answer.error.code in NOTHING_BEGUN):
                await self._until_redis_takes_it(lambda: self._store.forget(order.id))
                # Who has heard this answer and sends the command again has it begun again.
                del self._doing[order.id]
            elif not isinstance(command, READS):
                noted = messages.encode(structs.replace(outcome, answer=answer))
                await self._until_redis_takes_it(
                    lambda: self._store.note(order.id, noted, self._timing.repeat_ms)
                )
            await self._until_redis_takes_it(lambda: self._tell_all(order, doing, answer))
        finally:
            if self._doing.get(order.id) is doing:
                del self._doing[order.id]
            self._slots.release()

    async def _result(self, order: messages.WorkerCommand, command: frames.AnyCommand) -> messages.Answer:
        session = _session_of(command)
        try:
            try:
                is_here = session is None or await self._has(session, order)
            except (RedisError, OSError, JournalError) as error:
                return messages.refused("journal_unavailable", f"the session could not be taken: {error}")
            if not is_here:
                return messages.Answer(moved=True)
            if isinstance(command, frames.SessionMove):
                return await self._move(command, order.frontend.scope, is_taken=order.adopt is not None)
            if self._state == "draining" and isinstance(command, BEGINS):
                return await self._put_off(command, session)
            result = await self._host.execute(command, order.frontend)
        except CommandRefused as refusal:
            if session is not None and refusal.code == "unknown_session" and not self._host.owns(session):
                # It was taken between the look and the command, so nothing was done.
                return messages.Answer(moved=True)
            return messages.refused(refusal.code, refusal.message, refusal.field)
        except Exception:
            log.exception("A command failed.", extra={"command": command.type})
            return messages.refused("internal", "The worker failed at this command; its log says why.")
        return messages.Answer(result=result)

    async def _move(self, command: frames.SessionMove, scope: Scope, *, is_taken: bool) -> messages.Answer:
        if is_taken or command.worker == self._name:
            return messages.Answer(result={"worker": self._name})
        if self._is_open(command.session):
            return messages.refused(
                "running", "the session's turn is open; interrupt it or wait for its end, then send it again"
            )
        if self._about().group is None:
            return messages.refused(
                "not_supported",
                "the session's worker is in no group of workers that share a disk (worker_group)",
            )
        try:
            heir = await self._hand_over(command.session, command.worker, scope)
        except (RedisError, OSError, JournalError) as error:
            return messages.refused("journal_unavailable", f"the session could not be handed over: {error}")
        if heir is None:
            return messages.refused(
                "no_worker", "no other worker of the group that fits has room for the session", "worker"
            )
        return messages.Answer(result={"worker": heir})

    async def _put_off(self, command: frames.AnyCommand, session: str | None) -> messages.Answer:
        """Answer what is not begun any more: elsewhere, where that can be, and else later."""
        if session is None:
            # as one that is full: the hub asks the next one
            return messages.refused(
                "limit_sessions", f"the worker {self._name!r} is being drained; send it again"
            )
        if not self._is_open(session):
            try:
                if await self._hand_over(session) is not None:
                    return messages.Answer(moved=True)
            except (RedisError, OSError, JournalError) as error:
                log.warning(
                    "a session could not be handed over", extra={"session": session, "error": str(error)}
                )
        if not self._host.owns(session):
            return messages.Answer(moved=True)
        return messages.refused(
            "unreachable",
            f"the worker {self._name!r} is being drained, so {command.type} was not begun; send it again in a moment",
            "session",
        )

    def _is_open(self, session: str) -> bool:
        return any(one.session == session and one.state in OPEN for one in self._host.sessions())

    async def _has(self, session: str, order: messages.WorkerCommand) -> bool:
        """Tell whether a session is here, or can be taken, or is this worker's by its log and was not taken to the end."""
        former = order.adopt
        if (moving := self._moving.get(session)) is not None:
            await moving.wait()
        async with self._adopting:
            if former is not None:
                # It may have been taken from here by force. An idle session writes nothing, so no refusal has told of that.
                await self._let_go_if_moved(session)
            if former is None or self._host.owns(session):
                return self._host.owns(session) and not await self._host.lost(session)
            entry = (await self._store.entries([session])).get(session)
            if entry is None or entry.record is None:
                return False
            return await self._host.adopt(session, entry.record, former.worker, former.fence)

    async def _tell_all(
        self, order: messages.WorkerCommand, doing: _RunningCommand, answer: messages.Answer
    ) -> None:
        while doing.waiting:
            hub, place = doing.waiting[0]
            await self._answer(structs.replace(order, hub=hub), place, answer)
            del doing.waiting[0]

    async def _answer(self, order: messages.WorkerCommand, place: str, answer: messages.Answer) -> None:
        await self._store.answer(
            order.hub, order.id, messages.encode(answer), int(self._timing.done_s * 1000)
        )
        await self._done(place)

    async def _done(self, place: str) -> None:
        await self._store.done(self._name, place)
        self._held.discard(place)

    async def _until_redis_takes_it(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        while True:
            heed_cancellation()
            try:
                await work()
            except (RedisError, OSError):
                await asyncio.sleep(self._timing.pause_s)
            else:
                return


def _session_of(command: frames.AnyCommand) -> str | None:
    """Return the session that a command is about, which has to be here."""
    if isinstance(command, frames.SessionCommand):
        return command.session
    if isinstance(command, frames.LibraryExport) and command.conversation.startswith(LIVE):
        return command.conversation.removeprefix(LIVE)
    return None

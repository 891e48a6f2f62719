"""The fleet as a hub sees it: a Host whose sessions live in workers. It keeps nothing that another hub has not.

A command goes into the stream of the worker that has the session, and its reply comes back by this hub's own stream. A frontend
hears `unreachable` as soon as the worker is known to be gone.
"""

import asyncio
import logging
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import msgspec
from msgspec import to_builtins
from pydantic import JsonValue
from redis.exceptions import RedisError

from turnwire._runtime.task_owner import TaskOwner, heed_cancellation
from turnwire.config.settings import Quota
from turnwire.fleet import messages
from turnwire.fleet.choice import candidates, listed
from turnwire.fleet.directory import Directory, KnownSession, KnownWorker
from turnwire.fleet.errors import OperationRefused
from turnwire.fleet.history import asked, holder, merged
from turnwire.fleet.operating import Operator
from turnwire.fleet.spending import FleetSpending
from turnwire.fleet.store import FleetStore
from turnwire.fleet.timing import Timing
from turnwire.hub.host import CommandRefused, Frontend
from turnwire.hub.wire import frames
from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary, WorkerChoice
from turnwire.journal.base import JournalUnavailable
from turnwire.journal.redis.server import NOBODY, Ownership
from turnwire.normalize.model import JsonObject
from turnwire.sessions.quotas import Quotas

log = logging.getLogger(__name__)

IN_FLIGHT = 4096
"""Commands that wait for workers; more are refused."""

TRIES = 4
"""How often a command follows its session to another worker."""

TAKES_UP = (frames.Prompt, frames.SessionResume, frames.SessionMove)
"""Commands for which another worker takes a session whose worker is gone."""

LIVE = "live:"
"""Before the id of a session, where a command of the library names one."""

FULL = frozenset({"limit_sessions", "limit_processes"})
"""Refusals after which another worker may begin the session."""

UNREACHABLE = "unreachable"

TAG = 8
"""Hexadecimal digits of a hub's tag: of a hundred hubs two have the same once in a million times."""

NOT_HERE = frozenset({"no_library", "unknown_conversation"})
"""Refusals after which another worker may have a conversation all the same."""


class Log(Protocol):
    """What is asked of the journal: every turnwire.journal.redis.journal.RedisJournal is one."""

    def last(self, session: str) -> int:
        """Return the newest number of a session's log."""
        ...

    def size(self, session: str) -> int:
        """Return how many bytes a session's log has."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why events are not read as they are written; None when they are."""
        ...

    def watch_trouble(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call the watcher when `trouble` changes."""
        ...

    async def ownership(self, session: str) -> Ownership | None:
        """Return whose a log is; None where it is nobody's. Raises JournalUnavailable."""
        ...

    async def delete_from(self, session: str, former: Ownership) -> int:
        """Delete the log of an owner that is gone; return its fence from then on, 0 where it is another's. Raises JournalUnavailable."""
        ...


@dataclass(slots=True, eq=False)
class _PendingReply:
    worker: str
    answer: asyncio.Future[messages.Answer]


class FleetHost:
    """Implements `turnwire.hub.host.Host`; lives inside `running`."""

    def __init__(
        self,
        store: FleetStore,
        log: Log,
        timing: Timing | None = None,
        quotas: Mapping[str, Quota] | None = None,
        operator: Operator | None = None,
    ) -> None:
        """`log` is the fleet's journal. `quotas`: what principals may use at all workers together. `operator` does what an admin wants."""
        self._operator = operator
        self._quotas = Quotas(quotas or {}, FleetSpending(store))
        self._store = store
        self._log = log
        self._timing = timing or Timing()
        self._name = f"hub-{uuid.uuid4().hex}"
        self._sent = self._in_flight = 0
        self._waiting: defaultdict[str, list[_PendingReply]] = defaultdict(list)
        self._directory = Directory(store, self._timing)
        self._directory.watch_gone(self._worker_is_gone)
        self._measured: Callable[[str, float], None] = lambda _outcome, _seconds: None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Know the fleet, and hear its answers, as long as the context lasts.

        Raises RedisError when it cannot begin, and JournalUnavailable for a fleet of a newer release.
        """
        await self._store.check_schema()
        await self._directory.load()
        unwatch = self._log.watch_trouble(self._directory.tell)
        try:
            async with TaskOwner() as tasks:
                tasks.keep("fleet's leases", self._directory.look_again())
                tasks.keep("fleet's changes", self._directory.follow())
                tasks.keep("fleet's answers", self._hear())
                yield
        finally:
            unwatch()

    @property
    def trouble(self) -> str | None:
        """Why the fleet or its events are not seen as they are; None when they are."""
        return self._log.trouble or self._directory.trouble

    def apart(self, archive: str) -> list[str]:
        """Return of which workers' quiet sessions old events cannot be read here, as sentences. `archive`: id of this hub's archive_dir."""
        return [
            f"Old events of the worker {name!r} on {known.about.host!r} cannot be read here: its archive_dir is another one. All workers and "
            "hubs must share it."
            for name, known in sorted(self._directory.workers.items())
            if known.about.archive not in {"", archive}
        ]

    @property
    def tag(self) -> str:
        """What no other hub is called."""
        return self._name.removeprefix("hub-")[:TAG]

    def workers(self) -> Sequence[WorkerChoice]:
        """Return the workers that are there."""
        return [
            WorkerChoice(
                worker=name, labels=known.about.labels, agents=[choice.agent for choice in known.about.agents]
            )
            for name, known in sorted(self._directory.workers.items())
            if known.about.takes_sessions
        ]

    @property
    def round_trip_s(self) -> float:
        """Seconds that Redis took for the last look at all leases."""
        return self._directory.round_trip_s

    def watch_commands(self, watcher: Callable[[str, float], None]) -> None:
        """Tell the watcher how each command ended, `ok` or the code of its refusal, and after how many seconds."""
        self._measured = watcher

    def watch_logins(self, watcher: Callable[[Mapping[str, int]], None]) -> None:
        """Tell the watcher which logins are over at any hub, now and whenever more are."""
        self._directory.watch_logins(watcher)

    def sessions(self) -> Sequence[SessionSummary]:
        """Return all sessions as they are now."""
        return self._directory.summaries(self._log.last, self.trouble)

    def agents(self) -> Sequence[AgentChoice]:
        """Return what agents the workers have, each once."""
        found: dict[str, AgentChoice] = {}
        for _, known in sorted(self._directory.workers.items()):
            for choice in known.about.agents:
                found.setdefault(choice.agent, choice)
        return list(found.values())

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Tell the watcher when the list has changed."""
        return self._directory.watch(watcher)

    async def execute(self, command: frames.AnyCommand, frontend: Frontend) -> JsonValue:
        """Have a command done; raises CommandRefused."""
        began, outcome = time.monotonic(), "ok"
        try:
            return await self._reported(command, frontend)
        except CommandRefused as refusal:
            outcome = refusal.code
            raise
        finally:
            self._measured(outcome, time.monotonic() - began)

    async def _reported(self, command: frames.AnyCommand, frontend: Frontend) -> JsonValue:
        try:
            return await self._quotas.keep(
                command,
                frontend.user,
                self.sessions,
                self._log.size,
                lambda: self._execute(command, frontend),
            )
        except (RedisError, OSError, JournalUnavailable) as error:
            raise CommandRefused(
                "journal_unavailable",
                f"the fleet's Redis cannot be used: {error}; the session's events show whether the command was carried out",
            ) from error

    async def _execute(self, command: frames.AnyCommand, frontend: Frontend) -> JsonValue:
        match command:
            case frames.SessionList():
                return [to_builtins(summary) for summary in self.sessions()]
            case frames.Hello() | frames.Ping():
                raise CommandRefused("invalid_params", f"{command.type} is only for the hub", "type")
            case frames.SessionCreate():
                return await self._create(command, frontend)
            case frames.LibraryExport() if command.conversation.startswith(LIVE):
                return await self._route(command, command.conversation.removeprefix(LIVE), frontend)
            case frames.PortCommand():
                raise CommandRefused(
                    "no_port",
                    "the servers of a sandbox are reached at the worker itself, not over the hub of a fleet",
                )
            case frames.SessionCommand():
                return await self._route(command, command.session, frontend)
            case frames.LibraryList() | frames.LibrarySearch() | frames.LibraryUsage():
                answers, missing = await self._ask(
                    command, asked(command, self._workers_of(frontend)), frontend
                )
                result: JsonValue = to_builtins(merged(command, answers, missing))
                return result
            case frames.LibraryOpen() | frames.LibraryRename() | frames.LibraryExport():
                return await self._of_conversation(command, frontend)
            case frames.FleetCommand() if self._operator is not None:
                return await self._operate(command, self._operator)
            case frames.PushCommand():
                raise CommandRefused(
                    "no_push",
                    "each worker notifies browsers itself, with its own key; subscribe at the hub of a worker",
                )
            case _:
                raise CommandRefused(
                    "not_supported",
                    f"{command.type} is about one machine, but this is the hub of a fleet; ask the hub of a worker",
                    "type",
                )

    async def _operate(self, command: frames.FleetCommand, operator: Operator) -> JsonValue:
        try:
            match command:
                case frames.FleetLead(worker=worker, action=action):
                    await operator.wish(worker, None if action == "uncordon" else action)
                    await self._directory.look()
                case frames.FleetTake(session=session, worker=worker):
                    await operator.take(session, worker, self._timing.lease_s)
                    await self._directory.refresh(session)
                case _:
                    result: JsonValue = to_builtins(await operator.status())
                    return result
        except OperationRefused as refusal:
            raise CommandRefused("no_worker", str(refusal)) from refusal
        return None

    async def _create(self, command: frames.SessionCreate, frontend: Frontend) -> JsonValue:
        order, repeats = self._order_id(command)
        if command.resume is not None:
            names = [await self._holder(command, command.resume, frontend)]
        else:
            names = candidates(command, self._workers_of(frontend))
        if repeats:
            # A repetition goes where the command went before, whoever has most room by now.
            names = [await self._store.route(order, names[0], self._timing.repeat_ms)]
        answer = messages.Answer()
        for index, name in enumerate(names):
            if (known := self._directory.workers.get(name)) is not None:
                known.given += 1
            answer = await self._send(order if index == 0 else f"{order}-{index}", name, command, frontend)
            if answer.error is None or answer.error.code not in FULL:
                break
        result = _result(answer)
        if isinstance(result, dict):
            # The same frontend will ask for it at once.
            await self._directory.refresh(str(result.get("session")))
        return result

    async def _of_conversation(
        self, command: frames.LibraryOpen | frames.LibraryRename | frames.LibraryExport, frontend: Frontend
    ) -> JsonValue:
        """Have the worker do a command that has the conversation."""
        order, repeats = self._order_id(command)
        name = await self._holder(command, command.conversation, frontend)
        if repeats:
            name = await self._store.route(order, name, self._timing.repeat_ms)
        result = _result(await self._send(order, name, command, frontend))
        if isinstance(command, frames.LibraryOpen) and isinstance(result, dict):
            await self._directory.refresh(str(result.get("session")))
        return result

    async def _holder(
        self, command: frames.LibraryCommand | frames.SessionCreate, conversation: str, frontend: Frontend
    ) -> str:
        """Return the worker that has a conversation; raises CommandRefused where nobody who answers has it."""
        names = asked(command, self._workers_of(frontend))
        if len(names) == 1:
            return names[0]
        which = frames.LibraryList(type="library.list", id="", conversation=conversation)
        answers, _ = await self._ask(which, names, frontend)
        if (name := holder(answers)) is None:
            raise CommandRefused(
                "unknown_conversation",
                f"no running worker has a conversation {conversation!r}",
                "conversation",
            )
        return name

    async def _ask(
        self,
        command: frames.LibraryList | frames.LibrarySearch | frames.LibraryUsage,
        names: Sequence[str],
        frontend: Frontend,
    ) -> tuple[dict[str, JsonObject], list[str]]:
        """Ask workers side by side; return what they answer, and who has not in time. Refuses where none of them does it."""
        self._sent += 1
        order = f"{self._name}-{self._sent}"

        async def one(name: str) -> messages.Answer | None:
            try:
                async with asyncio.timeout(self._timing.ask_s):
                    return await self._send(f"{order}-{name}", name, command, frontend)
            except TimeoutError:
                return None
            except CommandRefused as refusal:
                if refusal.code in {UNREACHABLE, "timeout"}:
                    return None
                return messages.refused(refusal.code, refusal.message, refusal.field)

        told = await asyncio.gather(*map(one, names), return_exceptions=True)
        answers: dict[str, JsonObject] = {}
        missing: list[str] = []
        refusals: list[messages.Answer] = []
        for name, answer in zip(names, told, strict=True):
            match answer:
                case BaseException():
                    raise answer
                case messages.Answer(error=None, result=dict() as result):
                    answers[name] = result
                case messages.Answer():
                    refusals.append(answer)
                case None:
                    missing.append(name)
        if not answers:
            plain = [one for one in refusals if one.error is not None and one.error.code not in NOT_HERE]
            if missing and not plain:
                raise CommandRefused(
                    UNREACHABLE,
                    f"{listed(missing)} did not answer in time, and no other worker has it; send the command again",
                )
            _result(
                min(plain or refusals, key=lambda one: one.error is None or one.error.code == "no_library")
            )
        return answers, missing

    async def _route(self, command: frames.AnyCommand, session: str, frontend: Frontend) -> JsonValue:
        order, repeats = self._order_id(command)
        known = self._directory.sessions.get(session)
        if known is None and (known := await self._directory.refresh(session)) is None:
            if repeats and (noted := await self._store.outcome(order)) is not None:
                return _result(messages.answer_of(noted, messages.digest_of(_text(command), frontend.user)))
            raise _unknown(session)
        worker, adopt, has_moved = known.worker, None, False
        for _ in range(TRIES):
            if has_moved or worker not in self._directory.workers:
                # The directory is told after the log, and not where a worker ended in between: the log knows.
                known = await self._directory.refresh(session) or known
                owner = await self._log.ownership(session)
                worker = known.worker if owner is None else owner.owner
                adopt = (
                    None if owner is None else messages.PreviousOwner(worker=owner.owner, fence=owner.fence)
                )
                if worker not in self._directory.workers:
                    if isinstance(command, frames.SessionDelete):
                        if await self._delete_from(owner or Ownership(worker, known.fence), session):
                            await self._note(order, command, frontend)
                            return None
                        has_moved = True
                        continue
                    if worker == NOBODY:
                        raise _unknown(session)
                    worker = self._heir(command, known, worker, frontend)
            answer = await self._send(order, worker, command, frontend, adopt)
            if not answer.moved:
                result = _result(answer)
                if isinstance(command, frames.SessionFork) and isinstance(result, dict):
                    await self._directory.refresh(str(result.get("session")))
                elif isinstance(command, (frames.SessionDelete, frames.SessionMove)):
                    await self._directory.refresh(session)
                return result
            await asyncio.sleep(self._timing.pause_s)
            has_moved = True
        raise CommandRefused(
            UNREACHABLE,
            "the session has no worker at present, or moves to another one; send the command again",
            "session",
        )

    async def _delete_from(self, owner: Ownership, session: str) -> bool:
        """Delete a session whose worker is gone; False where it has another one, or this one is there again."""
        await self._directory.look()
        if owner.owner in self._directory.workers:
            return False
        fence = await self._log.delete_from(session, owner)
        if not fence:
            return False
        await self._store.remove(session, fence)
        await self._directory.refresh(session)
        log.warning(
            "a session was deleted whose worker is gone", extra={"session": session, "worker": owner.owner}
        )
        return True

    async def _note(self, order: str, command: frames.AnyCommand, frontend: Frontend) -> None:
        """Record that a command was done here. A sender that repeats it gets the same answer."""
        outcome = messages.CommandOutcome(
            digest=messages.digest_of(_text(command), frontend.user),
            begun=messages.CommandStart(worker=self._name, instance=self._name),
            answer=messages.Answer(),
        )
        await self._store.note(order, messages.encode(outcome), self._timing.repeat_ms)

    def _workers_of(self, frontend: Frontend) -> dict[str, KnownWorker]:
        """Return the workers on which a frontend may begin sessions; raises CommandRefused where there are others alone."""
        found = {
            name: known
            for name, known in self._directory.workers.items()
            if known.about.takes_from(frontend.scope)
        }
        if self._directory.workers and not found:
            allowed = listed(frontend.scope.workers)
            raise CommandRefused(
                "no_worker", f"you may begin sessions on {allowed} alone, and no such worker runs", "worker"
            )
        return found

    def _heir(self, command: frames.AnyCommand, known: KnownSession, owner: str, frontend: Frontend) -> str:
        """Return who can take a session whose worker is gone; refuses where nobody can."""
        gone = f"the worker {owner!r}, which has this session, has not been heard of for {self._timing.lease_s:g} s"
        if (group := known.group) is None:
            raise CommandRefused(
                UNREACHABLE, f"{gone}; the session goes on when that worker is back", "session"
            )
        if not isinstance(command, TAKES_UP):
            raise CommandRefused(
                UNREACHABLE,
                f"{gone}; send a prompt or session.resume, and another worker of its group takes it",
                "session",
            )
        wish = command.worker if isinstance(command, frames.SessionMove) else None
        heirs = [
            (-worker.room, name)
            for name, worker in self._directory.workers.items()
            if worker.about.group == group
            and worker.about.takes_from(frontend.scope)
            and worker.about.takes_sessions
            and worker.room > 0
            and (wish is None or wish == name or wish in worker.about.labels)
        ]
        if not heirs:
            raise CommandRefused(
                UNREACHABLE,
                f"{gone}, and no other worker of the group {group!r} has room for the session",
                "session",
            )
        return min(heirs)[1]

    async def _send(
        self,
        order: str,
        worker: str,
        command: frames.AnyCommand,
        frontend: Frontend,
        adopt: messages.PreviousOwner | None = None,
    ) -> messages.Answer:
        if self._in_flight >= IN_FLIGHT:
            raise CommandRefused(
                "rate_limited", "too many commands wait for workers; send the command again later"
            )
        text = _text(command)
        waiting = _PendingReply(worker, asyncio.get_running_loop().create_future())
        self._waiting[order].append(waiting)
        self._in_flight += 1
        place: str | None = None
        try:
            place = await self._store.send(
                worker,
                messages.encode(
                    messages.WorkerCommand(
                        id=order, hub=self._name, command=msgspec.Raw(text), frontend=frontend, adopt=adopt
                    )
                ),
            )
            async with asyncio.timeout(self._timing.done_s):
                return await waiting.answer
        except TimeoutError:
            await self._withdraw(worker, place)
            raise CommandRefused(
                "timeout",
                f"the worker {worker!r} has not answered for {self._timing.done_s:g} s; the events show whether the command was carried out",
            ) from None
        except CommandRefused:
            await self._withdraw(worker, place)
            raise
        finally:
            self._in_flight -= 1
            if not waiting.answer.cancel() and not waiting.answer.cancelled():
                waiting.answer.exception()  # seen, also where Redis failed first
            self._waiting[order].remove(waiting)
            if not self._waiting[order]:
                del self._waiting[order]

    async def _withdraw(self, worker: str, place: str | None) -> None:
        try:
            if place is not None:
                await self._store.withdraw(worker, place)
        except (RedisError, OSError):
            pass  # the worker looks at its age

    def _worker_is_gone(self, worker: str) -> None:
        for waiting in [one for some in self._waiting.values() for one in some if one.worker == worker]:
            if not waiting.answer.done():
                waiting.answer.set_exception(
                    CommandRefused(
                        UNREACHABLE,
                        f"the worker {worker!r} has not been heard of for {self._timing.lease_s:g} s. If it had begun this command "
                        "it shows in the session's events; if not, it will not",
                    )
                )

    async def _hear(self) -> None:
        """Hear answers until cancelled."""
        place = "0-0"
        while True:
            heed_cancellation()
            try:
                place, answers = await self._store.replies(self._name, place, self._timing.block_ms)
                for order, answer in answers:
                    self._heard(order, answer)
            except (RedisError, OSError):
                # the directory tells of it
                await asyncio.sleep(self._timing.pause_s)
            except Exception:
                log.exception("the fleet's answers could not be read; the hub tries again")
                await asyncio.sleep(self._timing.pause_s)

    def _heard(self, order: str, data: bytes) -> None:
        try:
            answer = messages.decode(data, messages.Answer)
        except msgspec.DecodeError as error:
            log.warning("an answer of a worker cannot be read", extra={"error": str(error)})
            return
        for waiting in self._waiting.get(order, ()):
            if not waiting.answer.done():
                waiting.answer.set_result(answer)

    def _order_id(self, command: frames.AnyCommand) -> tuple[str, bool]:
        """Return the order's id, and whether the frontend may repeat it: its own one, where that is a UUID."""
        try:
            if len(command.id) == 36:
                return str(uuid.UUID(command.id)), True
        except ValueError:
            pass
        self._sent += 1
        return f"{self._name}-{self._sent}", False


def _text(command: frames.AnyCommand) -> bytes:
    """Return a command as workers get it."""
    return command.model_dump_json(exclude_unset=True).encode()


def _unknown(session: str) -> CommandRefused:
    return CommandRefused(
        "unknown_session", f"there is no session {session!r}; session.list names them", "session"
    )


def _result(answer: messages.Answer) -> JsonValue:
    """Return what came of a command; raises CommandRefused."""
    if answer.error is not None:
        raise CommandRefused(answer.error.code, answer.error.message, answer.error.field)
    result: JsonValue = to_builtins(answer.result)
    return result

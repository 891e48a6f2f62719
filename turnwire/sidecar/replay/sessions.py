"""Recordings as sessions: the same core, journal and hub as for a live CLI.

Going back in a replay starts it again as a new session, played up to that point at once: what a frontend has
seen stays true, and no cursor is ever turned back.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path

from msgspec import to_builtins
from pydantic import JsonValue

from turnwire.hub.host import Frontend
from turnwire.hub.wire.frames import AnyCommand, ReplayControl, SessionCommand, SessionList
from turnwire.hub.wire.frames_out import SessionSummary
from turnwire.journal.base import Journal
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.families import recorded_core
from turnwire.normalize.inputs import SessionInput
from turnwire.recordings.reading import length, read
from turnwire.sessions.hosted import Changed, refuse, timestamp
from turnwire.sessions.pipeline import Pipeline
from turnwire.sessions.registry import SessionRegistry
from turnwire.sessions.state import ObservedState, short
from turnwire.sidecar.replay.player import Player


class ReplaySession:
    """One recording being played to the hub."""

    def __init__(
        self,
        session: str,
        recording: Path,
        journal: Journal,
        changed: Changed,
        *,
        speed: float | None,
        field_limit: int,
        position: float = 0.0,
        family: str | None = None,
    ) -> None:
        self.session = session
        self.recording = recording
        self._journal = journal
        self._changed = changed
        self._trouble: str | None = None
        """Why it is not played to its end."""
        self._created = timestamp()
        self._state = ObservedState()
        self._pipeline = Pipeline(
            session,
            journal,
            field_limit=field_limit,
            observers=[self._observe],
            core=recorded_core(family),
        )
        self._player = Player(
            read(recording, family), length(recording), self._feed, speed=speed, position=position
        )

    async def run(self) -> None:
        """Play to the end. If the recording cannot be played, the session ends, and its entry in the list says so."""
        try:
            await self._player.run()
            await self._journal.flush()
        except Exception as error:
            self._trouble = (
                f"the recording cannot be played any further: {str(error) or type(error).__name__}"
            )
            raise
        finally:
            self._changed()

    def summary(self) -> SessionSummary:
        """Return the session's entry in the list."""
        return SessionSummary(
            session=self.session,
            title=short(self.recording.name),
            state="replaying" if self._player.position < 1 and self._trouble is None else "exited",
            agent="replay",
            model=self._state.model,
            permission_mode=self._state.permission_mode,
            cli_session_id=self._state.cli_session_id,
            pending=0,
            last_seq=self._journal.last(self.session),
            total_cost_usd=self._state.total_cost_usd,
            created=self._created,
            position=self._player.position,
            trouble=self._trouble,
            speed=self._player.speed,
        )

    async def execute(self, command: SessionCommand, frontend: Frontend) -> JsonValue:  # noqa: ARG002 - HostedSession
        """Control the replay. Refuses every command that needs a live session."""
        if not isinstance(command, ReplayControl):
            refuse(
                "not_live",
                f"session {self.session} plays a recording; it takes replay.control only",
                "session",
            )
        match command.action:
            case "play":
                self._player.play(command.speed)
            case "pause":
                self._player.pause()
            case "seek":
                if command.position is None:
                    refuse("invalid_params", "seek needs a position between 0 and 1", "position")
                self._player.seek(command.position)
        self._changed()
        return {"session": self.session}

    def reaches(self, position: float | None) -> bool:
        """Return whether a position is still to come."""
        return position is None or position >= self._player.position

    @property
    def speed(self) -> float | None:
        """The pace it plays at, paused or not."""
        return self._player.pace

    @property
    def position(self) -> float:
        """Share of the recording that was played."""
        return self._player.position

    async def _feed(self, batch: Sequence[SessionInput]) -> None:
        await self._pipeline.feed(batch)
        self._changed()

    def _observe(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:  # noqa: ARG002 - a tap
        if self._state.observe(events):
            self._changed()


class ReplayHost:
    """The sidecar as the hub sees it while it plays recordings: each file is a session."""

    def __init__(
        self,
        files: Sequence[Path],
        journal: Journal,
        spawn: Callable[[str, Coroutine[None, None, None]], asyncio.Task[None]],
        *,
        speed: float | None,
        field_limit: int,
        family: str | None = None,
    ) -> None:
        self._family = family
        self._journal = journal
        self._spawn = spawn
        self._speed = speed
        self._field_limit = field_limit
        self._registry: SessionRegistry[ReplaySession] = SessionRegistry()
        self._playing: set[asyncio.Task[None]] = set()
        for number, file in enumerate(files, 1):
            self._start(f"replay-{number}", file, speed, 0.0)

    async def stop(self) -> None:
        """Play no further."""
        for task in self._playing:
            task.cancel()

    def sessions(self) -> Sequence[SessionSummary]:
        """Return all sessions as they are now."""
        return self._registry.summaries()

    def replays(self) -> Sequence[ReplaySession]:
        """Return all replays."""
        return list(self._registry.sessions.values())

    def agents(self) -> None:
        """Return None: a replay has no agents to choose from."""
        return

    def watch_sessions(self, watcher: Changed) -> Callable[[], None]:
        """Tell the watcher when the list has changed."""
        return self._registry.watch(watcher)

    async def execute(self, command: AnyCommand, frontend: Frontend) -> JsonValue:
        """Do a command; raises CommandRefused."""
        if isinstance(command, SessionList):
            return [to_builtins(summary) for summary in self.sessions()]
        if not isinstance(command, SessionCommand):
            refuse(
                "not_live", "this sidecar plays recordings; start `turnwire serve` for live sessions", "type"
            )
        session = self._registry.find(command.session)
        if (
            isinstance(command, ReplayControl)
            and command.action == "seek"
            and not session.reaches(command.position)
        ):
            return {"session": self._again(session, command.position or 0.0).session}
        return await session.execute(command, frontend)

    def _again(self, session: ReplaySession, position: float) -> ReplaySession:
        number = sum(other.recording == session.recording for other in self._registry.sessions.values()) + 1
        return self._start(
            f"{session.session.partition('@')[0]}@{number}", session.recording, session.speed, position
        )

    def _start(self, name: str, file: Path, speed: float | None, position: float) -> ReplaySession:
        session = ReplaySession(
            name,
            file,
            self._journal,
            self._registry.changed,
            speed=speed,
            field_limit=self._field_limit,
            position=position,
            family=self._family,
        )
        self._registry.sessions[name] = session
        self._playing.add(self._spawn(name, session.run()))
        self._registry.changed()
        return session

"""Recordings as sessions: the same translator, the same journal, the same hub as a live CLI.

Going back in a replay starts it again as a new session, played up to that point at once: what a frontend has
seen stays true, and no cursor is ever turned back.
"""

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from hub.frames import ReplayControl, SessionCommand
from hub.frames_out import SessionSummary
from hub.host import Frontend
from journal.base import Journal
from normalize.events import AgentEvent
from normalize.inputs import SessionInput
from sidecar.hosted import Changed, refuse, timestamp
from sidecar.pipeline import Pipeline
from sidecar.player import Player
from sidecar.session_state import SessionState
from tracing.recording import read


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
    ) -> None:
        self.session = session
        self.recording = recording
        self._journal = journal
        self._changed = changed
        self._created = timestamp()
        self._state = SessionState()
        self._pipeline = Pipeline(session, journal, field_limit=field_limit, taps=[self._observe])
        self._player = Player(read(recording), self._pipeline.feed, speed=speed, position=position)

    async def run(self) -> None:
        """Play to the end."""
        await self._player.run()
        await self._journal.flush()
        self._changed()

    def summary(self) -> SessionSummary:
        """Return what a list of sessions shows."""
        return SessionSummary(
            session=self.session,
            title=self.recording.name,
            state="replaying" if self._player.position < 1 else "exited",
            agent="replay",
            model=self._state.model,
            permission_mode=self._state.permission_mode,
            cli_session_id=self._state.cli_session_id,
            last_seq=self._journal.last(self.session),
            total_cost_usd=self._state.total_cost_usd,
            created=self._created,
            position=self._player.position,
            speed=self._player.speed,
        )

    async def execute(self, command: SessionCommand, frontend: Frontend) -> JsonValue:  # noqa: ARG002 - HostedSession
        """Steer the replay; everything else needs a live session."""
        if not isinstance(command, ReplayControl):
            refuse("not_live", f"session {self.session} plays a recording; it takes replay.control only", "session")
        match command.action:
            case "play":
                self._player.play(command.speed)
            case "pause":
                self._player.pause()
            case "seek":
                if command.position is None:
                    refuse("invalid_params", "seek needs a position between 0 and 1", "position")
                if not self._player.seek(command.position):
                    refuse("behind", "that part was played; the host starts it again", "position")
        self._changed()
        return {"session": self.session}

    async def stop(self) -> None:
        """Nothing to let go of: the task that plays is the host's."""

    def _observe(self, item: SessionInput, events: Sequence[AgentEvent]) -> None:  # noqa: ARG002 - a tap
        if self._state.observe(events):
            self._changed()


class ReplayHost:
    """The sidecar as the hub sees it while it plays recordings: each file is a session."""

    def __init__(self, files: Sequence[Path], journal: Journal, *, speed: float | None, field_limit: int) -> None:
        self._files = list(files)
        self._journal = journal
        self._speed = speed
        self._field_limit = field_limit
        self._sessions: dict[str, ReplaySession] = {}
        self._watchers: list[Changed] = []
        self._numbers = itertools.count(2)
        self._tasks: asyncio.TaskGroup | None = None

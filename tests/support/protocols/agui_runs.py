"""A session's events as the runs that an AG-UI client would see: one for each turn, one more for each answer, a last look."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ag_ui.core import BaseEvent, RunFinishedEvent, RunFinishedInterruptOutcome

from turnwire.client import events
from turnwire.frontends.agui.encoder import Run
from turnwire.frontends.agui.thread import Thread


@dataclass
class Told:
    """One run."""

    resume: list[dict[str, str]]
    events: list[BaseEvent]
    ids: list[str] = field(default_factory=list)
    """The messages that the client must have when it is over."""
    messages: list[Any] = field(default_factory=list)

    @property
    def interrupts(self) -> list[str]:
        last = self.events[-1]
        if isinstance(last, RunFinishedEvent) and isinstance(last.outcome, RunFinishedInterruptOutcome):
            return [interrupt.id for interrupt in last.outcome.interrupts]
        return []


class Player:
    """Feeds events to runs, as the shell does."""

    def __init__(self, version: str | None = "1.0", thread: Thread | None = None) -> None:
        self.thread = thread or Thread("s1")
        self.runs: list[Told] = []
        self._version = version
        self._client: list[str] = []
        self._run: Run | None = None
        self._seq = 0
        self._owed: list[str] = []
        """Interrupts that the client has not seen the end of: it asks for an answer until a run is finished without an error."""

    def play(self, everything: Iterable[events.AgentEvent]) -> list[Told]:
        """Play all of a session; return the runs."""
        for event in everything:
            self.handle(event)
        if self._run is not None:
            self._say(self._run.rest())
        if self._run is not None:
            self._say(self._run.fail("ended", "the recording ends"))
        self.begin()
        if self._run is not None:
            self._say(self._run.fail("ended", "its turn has no end"))
        return self.runs

    def handle(self, event: events.AgentEvent) -> None:
        self._seq += 1
        asks = isinstance(event, events.PermissionRequest | events.QuestionRequest)
        if self._run is not None and not asks:
            # nothing more is asked at once
            self._say(self._run.rest())
        if self._run is None and self.thread.turn is not None and not isinstance(event, events.Complete):
            self.begin()
        if self._run is None:
            self.thread.handle(self._seq, event)
            if isinstance(event, events.TurnStarted):
                self.begin()
        else:
            self._say(self._run.handle(self._seq, event))

    def begin(self) -> None:
        """Start a run that waits for the turn; it is over at once when there is none."""
        run = Run(self.thread, thread_id="t1", run_id=f"run-{len(self.runs)}", version=self._version)
        resume = [{"interruptId": each, "status": "cancelled"} for each in self._owed]
        self._run = run
        self.runs.append(Told(resume, []))
        self._say(run.start(self._client))
        run.await_turn()
        if self.thread.turn is None:
            self._say(run.rest())

    def _say(self, told: list[BaseEvent]) -> None:
        assert self._run is not None
        self.runs[-1].events += told
        if self._run.finished:
            self._client = self.runs[-1].ids = self.thread.ids
            self.runs[-1].messages = self.thread.messages()
            if isinstance(told[-1], RunFinishedEvent):
                self._owed = self.runs[-1].interrupts
            self._run = None

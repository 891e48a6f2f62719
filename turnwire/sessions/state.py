"""What a session's events say about its state: a pure fold, so that a list of sessions costs no second truth."""

from collections.abc import Sequence

from msgspec import Struct, field

from turnwire.hub.wire.frames import NAME_LENGTH
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.vocabulary import SessionState
from turnwire.protocol.visible import visible

NAME_LIMIT = 1000
"""Characters of a model's name, an id or the like; a longer one that a CLI says is none, and would go to every frontend again and again."""


def short(title: str) -> str:
    """Return a title for lists: hidden characters are spelt out, a long title is cut."""
    title = visible(title)
    return title if len(title) <= NAME_LENGTH else f"{title[: NAME_LENGTH - 1]}…"


def _name(said: str | None) -> str | None:
    return None if said is None or len(said) > NAME_LIMIT else said


class ObservedState(Struct):
    """The running summary of one session."""

    state: SessionState = "starting"
    model: str | None = None
    permission_mode: str | None = None
    cli_session_id: str | None = None
    cli_version: str | None = None
    total_cost_usd: float | None = None
    """Cost of the turns over all CLI processes, where each turn's share is known."""
    last_message_uuid: str | None = None
    resume_token: str | None = None
    pending: set[str] = field(default_factory=set)
    """Requests that wait for a human."""
    _running: bool = False

    def observe(self, events: Sequence[AgentEvent]) -> bool:
        """Take the events in; tell whether anything that a list of sessions shows has changed."""
        before = self._shown()
        for event in events:
            self._take(event)
        return before != self._shown()

    def _shown(self) -> tuple[object, ...]:
        return (
            self.state,
            self.model,
            self.permission_mode,
            self.cli_session_id,
            self.total_cost_usd,
            len(self.pending),
        )

    def _take(self, event: AgentEvent) -> None:
        self.cli_session_id = _name(event.session_id) or self.cli_session_id
        match event:
            case ev.SessionInfo():
                self.model = _name(event.model) or self.model
                self.permission_mode = _name(event.permission_mode) or self.permission_mode
                self.cli_version = _name(event.version) or self.cli_version
            case ev.SessionMode():
                self.permission_mode = _name(event.current_mode_id) or self.permission_mode
            case ev.TurnStarted():
                self._running = True
            case ev.Complete():
                self._complete(event)
            case ev.PermissionRequest() | ev.QuestionRequest():
                self.pending.add(event.pending_id)
            case ev.PermissionResolved() | ev.PermissionCancelled():
                self.pending.discard(event.pending_id)
            case ev.ProcessStatus(state="started"):
                self.state = "idle"
                return
            case ev.ProcessStatus(state="exited"):
                self.state, self._running = "exited", False
                return
            case _:
                return
        if self.state not in ("stopping", "exited"):
            self.state = "waiting" if self.pending else "running" if self._running else "idle"

    def _complete(self, event: ev.Complete) -> None:
        self._running = False
        data = event.data
        # The process's total is no help: it starts over with /clear, and with or without the past after a resume.
        if data.cost_usd is not None:
            self.total_cost_usd = round((self.total_cost_usd or 0.0) + data.cost_usd, 10)
        self.last_message_uuid = _name(data.last_message_uuid) or self.last_message_uuid
        self.resume_token = _name(data.resume_token) or self.resume_token

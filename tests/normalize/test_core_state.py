"""What a core says of itself is what it has published."""

from cases import for_each
from recordings import Recording, recordings
from turnwire.normalize import events as ev
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.events import AgentEvent
from turnwire.recordings.reading import read


def observed(busy: bool, pending: set[str], event: AgentEvent) -> bool:
    match event:
        case ev.TurnStarted():
            return True
        case ev.Complete():
            return False
        case ev.PermissionRequest() | ev.QuestionRequest():
            pending.add(event.pending_id)
        case ev.PermissionResolved() | ev.PermissionCancelled():
            pending.discard(event.pending_id)
        case _:
            pass
    return busy


@for_each("recording", recordings(), by=lambda recording: recording.version)
def test_busy_and_pending_are_what_the_events_say(recording: Recording) -> None:
    core, busy, pending = ClaudeCore(), False, set[str]()
    for timed in read(recording.folder):
        for event in core.handle(timed.input):
            busy = observed(busy, pending, event)
        assert core.busy is busy
        assert set(core.pending) == pending

"""The state machine of a live session: its agent's process, who reads the agent, and who goes on with the conversation.

Pure, as adapter/permissions/machine.py is: an input goes in, the next state and the effects come out. turnwire/sessions/live.py
holds the process and carries the effects out.

    idle -> starting -> running -> exited -> idle
               |           |          |
               |           +-> stopped <-> (its last words wait for the journal) -> idle
               +-> idle (it could not be started)
"""

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from turnwire.normalize.events import ProcessStatus

Effect: TypeAlias = Literal["log_pause", "log_resume", "stop_agent", "announce"]
"""What to do: `announce` a change to those who list sessions, `stop_agent` without waiting for it."""


class SessionState(Struct, frozen=True):
    """Everything that is known; replaced, never changed."""

    process: Literal["idle", "starting", "running", "stopped", "exited"] = "idle"
    """`stopped` and `exited`: the process is over, and is cleared away."""
    reading: Literal["agent", "journaling", "paused"] = "agent"
    """`journaling`: a batch is written. `paused`: the journal has no room, so nothing is read of the agent."""
    conversation: Literal["ours", "importing", "theirs", "open_elsewhere"] = "ours"
    """`theirs`: others may add to it until we go on with it. `open_elsewhere`: a CLI of theirs has it open."""
    core_is_new: bool = True
    """The core knows nothing yet of what was before."""
    was_stopped: bool = False
    """The last process did not end by itself."""
    exit: ProcessStatus | None = None
    """How the last process ended."""
    failure: str | None = None
    """What went wrong in turnwire itself and ended the last process."""

    @property
    def has_agent(self) -> bool:
        """Whether an agent takes commands."""
        return self.process == "running"

    @property
    def is_clearing(self) -> bool:
        """Whether a process that is over is still cleared away."""
        return self.process in {"stopped", "exited"}

    @property
    def is_followed(self) -> bool:
        """Whether events come from lines that others' CLI wrote."""
        return self.conversation != "ours"


class Starting(Struct, frozen=True):
    """A process is about to be started."""


class Started(Struct, frozen=True):
    """The process runs."""


class Introduced(Struct, frozen=True):
    """The log tells of the process, and of what the core does not know."""


class Stopped(Struct, frozen=True):
    """The process was stopped by us."""


class Exited(Struct, frozen=True):
    """The end of a process is published."""

    status: ProcessStatus | None


class Failed(Struct, frozen=True):
    """A part of turnwire failed."""

    why: str


class Cleared(Struct, frozen=True):
    """Nothing is left of the process."""


class BatchRead(Struct, frozen=True):
    """A batch of the agent's lines was read. Its events must be journaled."""


class BatchJournaled(Struct, frozen=True):
    """The journal has stored the batch."""


class JournalFull(Struct, frozen=True):
    """The journal cannot store events at present."""


class JournalRefuses(Struct, frozen=True):
    """The journal takes nothing more of this session."""


class CoreMade(Struct, frozen=True):
    """There is another core."""


class ImportBegins(Struct, frozen=True):
    """Another's conversation is being read."""


class ImportEnds(Struct, frozen=True):
    """It was read, or cannot be."""

    succeeded: bool


class OpenElsewhere(Struct, frozen=True):
    """It was looked whether another's CLI has the conversation open."""

    is_open: bool


class TakenOver(Struct, frozen=True):
    """We go on with the conversation."""


Input: TypeAlias = (
    Starting
    | Started
    | Introduced
    | Stopped
    | Exited
    | Failed
    | Cleared
    | BatchRead
    | BatchJournaled
    | JournalFull
    | JournalRefuses
    | CoreMade
    | ImportBegins
    | ImportEnds
    | OpenElsewhere
    | TakenOver
)
Step: TypeAlias = tuple[SessionState, list[Effect]]


def step(state: SessionState, happened: Input) -> Step:
    """Return what follows from an input."""
    match happened:
        case Starting():
            return replace(state, process="starting", was_stopped=False, failure=None), []
        case Started():
            return replace(state, process="running", exit=None), []
        case Introduced():
            return replace(state, core_is_new=False), []
        case Stopped():
            process = state.process if state.process in {"idle", "starting"} else "stopped"
            return replace(state, process=process, was_stopped=True), []
        case Exited(status):
            is_first = state.process == "running" and status is not None
            return replace(state, process="exited" if is_first else state.process, exit=status), []
        case Failed(why):
            return replace(state, failure=why), []
        case Cleared():
            return replace(state, process="idle", reading="agent"), ["announce"]
        case BatchRead():
            return replace(state, reading="journaling"), []
        case BatchJournaled():
            effects: list[Effect] = ["log_resume", "announce"] if state.reading == "paused" else []
            return replace(state, reading="agent"), effects
        case JournalFull():
            if state.reading != "journaling":
                return state, []
            return replace(state, reading="paused"), ["log_pause", "announce"]
        case JournalRefuses():
            if state.process not in {"running", "exited"}:
                return state, []
            # what the agent says in the end meets the refusal
            return replace(state, process="stopped", was_stopped=True), ["stop_agent"]
        case CoreMade():
            return replace(state, core_is_new=True), []
        case ImportBegins():
            return replace(state, conversation="importing"), []
        case ImportEnds(succeeded):
            return replace(state, conversation="theirs" if succeeded else "ours"), []
        case OpenElsewhere(is_open):
            after = replace(state, conversation="open_elsewhere" if is_open else "theirs")
            if not state.is_followed or after == state:
                return state, []
            return after, ["announce"]
        case TakenOver():
            return replace(state, conversation="ours"), []
    assert_never(happened)

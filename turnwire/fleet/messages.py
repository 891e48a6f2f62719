"""What workers and hubs keep in Redis for each other, as JSON.

Their releases may differ while a fleet is upgraded: a field that is new has a default, and one that is not known is skipped.
"""

import hashlib
from typing import TypeVar

import msgspec
from msgspec import structs

from turnwire.hub.host import Frontend
from turnwire.hub.principals import Scope
from turnwire.hub.wire.frames_out import AgentChoice, ReplyError
from turnwire.normalize.model import JsonValue

Kind = TypeVar("Kind")


class WorkerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A worker as hubs know it."""

    name: str
    """Unique in the fleet."""
    version: str
    """turnwire's."""
    state: str = "serving"
    """`serving`; `cordoned`: it gets no new sessions; `draining`: it is about to end, and begins nothing."""
    host: str = ""
    """What its machine calls itself."""
    labels: list[str] = []
    """By what a frontend may choose it."""
    workspaces: list[str]
    """Absolute directories that sessions may work in, and what is below them."""
    agents: list[AgentChoice]
    """What sessions may be created with, the default one first."""
    group: str | None = None
    """Workers of one group see the same files: any of them may take a session whose worker is gone."""
    archive: str = ""
    """Id of the directory with the events of its quiet sessions (`archive_dir`); empty where it moves none."""
    sessions: int = 0
    """How many it has."""
    max_sessions: int
    """How many it may have."""
    processes: int = 0
    """How many CLIs run."""
    max_processes: int
    """How many may."""

    @property
    def takes_sessions(self) -> bool:
        """Whether sessions may be given to it."""
        return self.state == "serving"

    @property
    def room(self) -> int:
        """How many sessions more it can begin."""
        return max(0, min(self.max_sessions - self.sessions, self.max_processes - self.processes))

    def takes_from(self, scope: Scope) -> bool:
        """Tell whether a principal of this scope may begin sessions here."""
        return scope.check_worker(self.name, self.labels, self.group)


def state_of(told: str, wish: str) -> str:
    """Return a worker's state: what it told of itself, and what an operator wants of it since then."""
    if told not in {"serving", "cordoned"}:
        return told
    return "cordoned" if wish else "serving"


def worker_of(about: bytes, wish: str) -> WorkerSummary:
    """Return a worker as its lease and an operator's wish say; raises msgspec.DecodeError."""
    told = decode(about, WorkerSummary)
    return structs.replace(told, state=state_of(told.state, wish))


class PreviousOwner(msgspec.Struct, frozen=True, kw_only=True):
    """Whose session is taken, as the hub knew it when it asked."""

    worker: str
    fence: int


class WorkerCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A command on its way to a worker."""

    id: str
    """Of all repetitions of one command the same; of no other."""
    hub: str
    """Who waits for the reply."""
    command: msgspec.Raw
    """The frontend's command."""
    frontend: Frontend
    """Who sends it."""
    adopt: PreviousOwner | None = None
    """Take the session from a worker that is gone before."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A worker's reply; which order's it is stands beside it."""

    result: JsonValue = None
    error: ReplyError | None = None
    moved: bool = False
    """The session is not this worker's; nothing was done."""


class CommandStart(msgspec.Struct, frozen=True, kw_only=True):
    """What stands in the place of an answer until there is one."""

    worker: str
    instance: str
    """The worker's life in which it was begun."""


class CommandOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an order."""

    digest: str
    """Of the command, so that an id is not used for two."""
    begun: CommandStart
    answer: Answer | None = None


NOT_KNOWN = "the worker that began this command ended before it had answered; whether it was done shows in the session's events"

encode = msgspec.json.Encoder().encode


def digest_of(command: bytes, user: str | None) -> str:
    """Return what tells two commands of one id apart: nobody gets the answer to another's, whatever id they name."""
    return hashlib.sha256(command + (user or "").encode()).hexdigest()


def refused(code: str, message: str, field: str | None = None) -> Answer:
    """Return an answer that refuses."""
    return Answer(error=ReplyError(code=code, message=message, field=field))


def answer_of(noted: bytes, digest: str) -> Answer:
    """Return the answer to a repetition, from what is known of the command."""
    try:
        known = decode(noted, CommandOutcome)
    except msgspec.DecodeError:
        return refused("unreachable", NOT_KNOWN)
    if known.digest != digest:
        return refused(
            "invalid_params", "another command had this id; give each its own, and repeat one as it was", "id"
        )
    return known.answer or refused("unreachable", NOT_KNOWN)


def decode(data: bytes, kind: type[Kind]) -> Kind:
    """Read what `encode` wrote; raises msgspec.DecodeError."""
    return msgspec.json.decode(data, type=kind)

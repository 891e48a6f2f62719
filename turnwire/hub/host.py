"""What the hub needs from the rest of the sidecar. It gets a `Host` and knows nothing else."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from pydantic import JsonValue

from turnwire.hub.principals import EVERYTHING, Scope, sees
from turnwire.normalize.vocabulary import Role
from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from turnwire.hub.wire.frames import AnyCommand, ShellOpen
    from turnwire.hub.wire.frames_out import AgentChoice, SessionSummary, WorkerChoice


class Frontend(Struct, frozen=True):
    """The sender of a command."""

    name: str
    """Used in decisions as `by`: `user:NAME` for a principal, which no frontend can choose, otherwise unique among the connected
    frontends."""
    role: Role
    user: str | None = None
    """The principal that it acts for, and who owns the sessions that it starts. None with one of the two simple tokens."""
    scope: Scope = EVERYTHING
    """Which sessions it may see; the hub has looked that a command's session is one of them."""

    token: str | None = None
    """The id of that principal's token; None where it has none."""

    def sees(self, session: "SessionSummary") -> bool:
        """Tell whether it may see a session."""
        return sees(self.scope, self.user, session)


class CommandRefused(TurnwireError):
    """A command failed. Its reply carries the error; nothing else is affected."""

    def __init__(self, code: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


class Fleet(Protocol):
    """What a hub in a fleet knows about the other hubs and the workers."""

    @property
    def tag(self) -> str:
        """A tag that no other hub has. Names of frontends end with it, so they are unique across hubs."""
        ...

    def workers(self) -> "Sequence[WorkerChoice]":
        """Return the workers that are there."""
        ...


class Shell(Protocol):
    """A shell that runs for one frontend."""

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        ...

    async def read(self) -> bytes:
        """Return what it wrote, at least one byte; b"" at its end. Nothing is read ahead."""
        ...

    def write(self, typed: bytes) -> None:
        """Give it input; raises CommandRefused while too much waits."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of its terminal."""
        ...

    async def close(self) -> None:
        """End it and all that it has started."""
        ...


class ShellHost(Protocol):
    """What opens shells."""

    async def open(self, command: "ShellOpen", frontend: Frontend) -> Shell:
        """Open a shell where a session works; raises CommandRefused."""
        ...


class Host(Protocol):
    """The sidecar as the hub sees it."""

    async def execute(self, command: "AnyCommand", frontend: Frontend) -> JsonValue:
        """Do a command and return the reply's result; raises CommandRefused."""
        ...

    def sessions(self) -> "Sequence[SessionSummary]":
        """Return all sessions as they are now."""
        ...

    def agents(self) -> "Sequence[AgentChoice] | None":
        """Return the agents for new sessions, the default one first; None where no session can be created."""
        ...

    def watch_sessions(self, watcher: Callable[[], None]) -> Callable[[], None]:
        """Call the watcher whenever the list has changed, until the returned function is called."""
        ...

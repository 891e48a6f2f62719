"""A family of agents, for running them: its core, their abilities, and the function that opens a session."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.options import CommandError, SessionOptions, check_executable
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import Notify
from turnwire.normalize.core import Core, CoreFactory

if TYPE_CHECKING:  # few conversations are ever in a terminal
    from turnwire.adapter.interface import InterfaceHooks


class Opener(Protocol):
    """Runs an agent while the context is open; leaving it stops the agent and all that it started."""

    def __call__(
        self,
        options: SessionOptions,
        *,
        core: Core | None = None,
        watchdog: Watchdog | None = None,
        audit: AuditTrail | None = None,
        grants: GrantStore | None = None,
        notify: Notify = ...,
    ) -> AbstractAsyncContextManager[AgentSession]:
        """Open a session.

        Args:
            options: what to run, and how.
            core: the family's core; a new one for a session without a past.
            watchdog: ends the agent if the sidecar dies.
            audit: the trail of decisions.
            grants: "always" answers beyond the session, for the policy `supervised`.
            notify: called for facts that no line contains.

        Raises:
            CommandError: the options cannot be fulfilled.
            ProgramNotFound: the program or the workspace does not exist.
        """
        ...


class KeptConversation(Struct, frozen=True, kw_only=True):
    """A conversation that an agent lists itself."""

    id: str
    """The agent's name for it."""
    folder: str | None
    """Where it works."""
    title: str | None
    """Its title."""
    updated: str | None
    """When it was last continued, as the agent reports it: ISO 8601."""


class AgentFamily(Struct, frozen=True):
    """Agents that share a wire, and are run alike."""

    name: str
    """Its name, as the configuration spells it."""
    core: CoreFactory
    """Makes the state machine of one session."""
    capabilities: Callable[[str | None], Capabilities]
    """Version -> an agent's abilities. None for an agent that does not run yet or reports no version."""
    open: Opener
    """Runs one."""
    check_resume_at: Callable[[str, str | None], None]
    """Raises CommandError for a message that a version cannot go back to, named like this."""
    never_asks: Callable[[str], Sequence[str]] = lambda _: ()
    """Returns what a program's agent does without asking, in its strictest mode. Empty for an agent that was never tried."""
    list_conversations: Callable[[SessionOptions, int], Awaitable[Sequence[KeptConversation]]] | None = None
    """Starts an agent to list its conversations, at most so many. None if the family's agents cannot list them.

    Raises the errors of an Opener, RequestFailed, RequestTimeout and ProcessGone.
    """
    is_unknown: Callable[[str], bool] = lambda _: False
    """Whether an agent's last words on stderr say that it does not know the conversation that it should go on with."""
    interface_hooks: Callable[[], "InterfaceHooks"] | None = None
    """Loads how the agent's own interface tells what it asks; None where it does not."""


def check_resumes_by_id(name: str, options: SessionOptions) -> None:
    """Raise CommandError for what agents have no place for that resume a conversation by its id alone."""
    check_executable(options.executable)
    if options.command.resume_at is not None:
        resume_at_unsupported(name, options.command.resume_at, None)
    if options.command.continue_latest:
        raise CommandError(
            "continue_latest",
            f"an agent that speaks {name} resumes a conversation by its id only; give the id",
        )


def resume_at_unsupported(name: str, message: str, version: str | None) -> None:  # noqa: ARG001 - whatever the message
    """Raise CommandError: agents of this family cannot go back to a message."""
    raise CommandError(
        "resume_at", f"an agent that speaks {name} cannot go back to a message; resume without it"
    )

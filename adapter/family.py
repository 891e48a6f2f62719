"""What a family of agents is to those who run one: its core, what its agents can do, and what opens a session."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import Notify
from turnwire.normalize.core import Core, CoreFactory


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
            core: what the family makes of what happens; a new one for a session that has no past.
            watchdog: ends the agent should the sidecar die.
            audit: the trail of decisions.
            grants: always-answers beyond the session, for the policy `supervised`.
            notify: is told what no line tells.

        Raises:
            CommandError: the options ask for what cannot be done.
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
    """What it is called."""
    updated: str | None
    """When it was gone on with last, as the agent says it: ISO 8601."""


class AgentFamily(Struct, frozen=True):
    """Agents that share a wire, and are run alike."""

    name: str
    """Its name, as the configuration spells it."""
    core: CoreFactory
    """Makes the state machine of one session."""
    capabilities: Callable[[str | None], Capabilities]
    """What an agent can do, by the version that it says; before one runs, or where it says none."""
    open: Opener
    """Runs one."""
    check_resume_at: Callable[[str, str | None], None]
    """Raises CommandError for a message that a version cannot go back to, named like this."""
    never_asks: Callable[[str], Sequence[str]] = lambda _: ()
    """What a program's agent does without asking, in the mode in which it asks most; empty for one that nobody has tried."""
    list_conversations: Callable[[SessionOptions, int], Awaitable[Sequence[KeptConversation]]] | None = None
    """Starts an agent to ask for the conversations it keeps, at most so many; None where agents of the family list none.

    Raises what an Opener does, RequestFailed, RequestTimeout and ProcessGone.
    """


def resume_at_unsupported(name: str, message: str, version: str | None) -> None:  # noqa: ARG001 - whatever the message
    """Raise CommandError: agents of this family cannot go back to a message."""
    raise CommandError(
        "resume_at", f"an agent that speaks {name} cannot go back to a message; resume without it"
    )

"""The families of agents, and how each is run. A new one is its folders, its core (normalize/families.py) and one entry here."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from adapter.acp.handshake import BEFORE as ACP_BEFORE
from adapter.acp.opening import open_acp_session
from adapter.capabilities import Capabilities, impossible
from adapter.claude import opening as claude
from adapter.claude import qwen
from adapter.claude.version import FOREIGN, capabilities, check_resume_at, parse_version
from adapter.options import CommandError, SessionOptions
from adapter.permissions.audit import AuditTrail
from adapter.permissions.grants import GrantStore
from adapter.process.watchdog import Watchdog
from adapter.session.agent import AgentSession
from adapter.session.notices import Notify
from normalize.core import Core, CoreFactory
from normalize.families import FAMILIES as CORES
from protocol.dialects import AUTOMATIC, CLAUDE, JSON_RPC, MIRIAD, Dialect


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


@dataclass(frozen=True, slots=True)
class AgentFamily:
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


def _of_claude(dialect: Dialect) -> AgentFamily:
    return AgentFamily(
        dialect.name,
        CORES["claude"].core,
        lambda version: capabilities(parse_version(version or "")),
        partial(claude.open_session, dialect=dialect),
        lambda message, version: check_resume_at(message, parse_version(version or "")),
    )


def _foreign(dialect: Dialect) -> AgentFamily:
    return AgentFamily(
        dialect.name,
        CORES[dialect.name].core,
        lambda _: FOREIGN,
        partial(claude.open_foreign, dialect=dialect),
        partial(_no_way_back, dialect.name),
    )


def _no_way_back(name: str, message: str, version: str | None) -> None:  # noqa: ARG001 - whatever the message
    raise CommandError(
        "resume_at", f"an agent that speaks {name} cannot go back to a message; resume without it"
    )


_ACP = AgentFamily(
    "acp", CORES["acp"].core, lambda _: ACP_BEFORE, open_acp_session, partial(_no_way_back, "acp")
)


def _of_qwen() -> AgentFamily:
    return AgentFamily(
        "qwen",
        CORES["claude"].core,
        lambda _: qwen.CAPABILITIES,
        partial(claude.open_session, flavour=qwen.QWEN),
        partial(_no_way_back, "qwen"),
    )


FAMILIES: dict[str, AgentFamily] = {
    family.name: family
    for family in (
        _of_claude(CLAUDE),
        _of_claude(AUTOMATIC),
        _of_qwen(),
        _foreign(MIRIAD),
        _foreign(JSON_RPC),
        _ACP,
    )
}
"""Every family by its name; `auto` is a CLI whose dialect is heard."""


def open_session(
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AbstractAsyncContextManager[AgentSession]:
    """Run an agent of the family that its options name, as its Opener does; raises CommandError for what it cannot do."""
    family = FAMILIES[options.family]
    for option in impossible(options, family.capabilities(options.version)):
        raise CommandError(option, f"an agent that speaks {family.name} cannot do this; leave it out")
    return family.open(options, core=core, watchdog=watchdog, audit=audit, grants=grants, notify=notify)

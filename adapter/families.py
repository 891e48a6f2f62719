"""The runners of agents, by family. Each is imported on first use."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache, partial
from importlib import import_module
from pathlib import Path

from msgspec import structs

from turnwire.adapter.capabilities import impossible
from turnwire.adapter.family import AgentFamily
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.process.cli import find_program
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import Notify, SessionNotice
from turnwire.normalize.core import Core
from turnwire.normalize.families import FAMILIES as CORES
from turnwire.normalize.families import named

_MORE: dict[str, str] = {
    "auto": "turnwire.adapter.claude.family:AUTOMATIC_AGENTS",
    "qwen": "turnwire.adapter.claude.family:QWEN",
}
"""Agents of Claude's family with a runner of their own -> its location."""


class _Families(Mapping[str, AgentFamily]):
    def __getitem__(self, name: str) -> AgentFamily:
        reference = _MORE.get(name) or named(name).agents
        if reference is None:
            raise CommandError(
                "family", f"agents of {named(name).title} cannot be run; turnwire only reads their output"
            )
        return _load(reference)

    def __iter__(self) -> Iterator[str]:
        return iter((*_MORE, *(name for name, family in CORES.items() if family.agents is not None)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _load(reference: str) -> AgentFamily:
    module, _, attribute = reference.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, AgentFamily):
        raise CommandError("family", f"{reference} is not an AgentFamily")
    return found


FAMILIES: Mapping[str, AgentFamily] = _Families()
"""Every family whose agents can be run, by name. CommandError for one that is only read, UnknownFamily for an unknown one."""


def open_session(
    options: SessionOptions,
    *,
    core: Core | None = None,
    watchdog: Watchdog | None = None,
    audit: AuditTrail | None = None,
    grants: GrantStore | None = None,
    notify: Notify = lambda _: None,
) -> AbstractAsyncContextManager[AgentSession]:
    """Run an agent of the family in its options, as its Opener does. Raises CommandError for options that it cannot fulfil."""
    family = FAMILIES[options.family]
    for option in impossible(options, family.capabilities(options.version)):
        raise CommandError(option, f"an agent that speaks {family.name} cannot do this; leave it out")
    if options.sandbox.level == "off" and not _has_notes(options):
        return family.open(options, core=core, watchdog=watchdog, audit=audit, grants=grants, notify=notify)
    return _in_sandbox(
        options,
        notify,
        partial(family.open, core=core, watchdog=watchdog, audit=audit, grants=grants, notify=notify),
    )


def _has_notes(options: SessionOptions) -> bool:
    """Tell whether sandboxes run, or were killed and have left files in workspaces."""
    notes = options.sandbox.notes
    return notes is not None and Path(notes).is_dir() and any(Path(notes).iterdir())


def added_folders(options: SessionOptions) -> list[str]:
    """Return the folders besides the workspace that a session was given, as far as they are there."""
    folders = (options.workspace / Path(one).expanduser() for one in options.command.add_dirs or ())
    return [str(one) for one in folders if one.is_dir()]


@asynccontextmanager
async def _in_sandbox(
    options: SessionOptions,
    notify: Notify,
    run: Callable[[SessionOptions], AbstractAsyncContextManager[AgentSession]],
) -> AsyncIterator[AgentSession]:
    """Run an agent in its sandbox, if it has one, after files of killed ones are set aside; raises SandboxUnavailable where there can be none."""
    from turnwire.adapter.sandbox.sandbox import open_sandbox  # noqa: PLC0415 - few sessions have one

    program = find_program(options.executable[0], options.environment) if options.executable else ""
    async with (
        open_sandbox(
            structs.replace(options.sandbox, writable=(*options.sandbox.writable, *added_folders(options))),
            workspace=options.workspace,
            program=program,
            environment=options.environment,
            own_places=options.own_places,
            tell=lambda text: notify(SessionNotice("set_aside", text)),
        ) as box,
        run(structs.replace(options, box=box)) as session,
    ):
        yield session

"""The families of agents, by name: each is loaded when it is asked for. A new one is its folders, its core and one entry here."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager

from turnwire.adapter.capabilities import impossible
from turnwire.adapter.family import AgentFamily
from turnwire.adapter.options import CommandError, SessionOptions
from turnwire.adapter.permissions.audit import AuditTrail
from turnwire.adapter.permissions.grants import GrantStore
from turnwire.adapter.process.watchdog import Watchdog
from turnwire.adapter.session.agent import AgentSession
from turnwire.adapter.session.notices import Notify
from turnwire.normalize.core import Core


def _claude(name: str) -> AgentFamily:
    from turnwire.adapter.claude.family import CLAUDES  # noqa: PLC0415 - whoever runs one family need not wait for the others

    return CLAUDES[name]


def _acp(_: str) -> AgentFamily:
    from turnwire.adapter.acp.family import ACP  # noqa: PLC0415 - as above

    return ACP


_LOADERS: dict[str, Callable[[str], AgentFamily]] = {
    "claude": _claude,
    "auto": _claude,
    "qwen": _claude,
    "miriad": _claude,
    "json_rpc": _claude,
    "acp": _acp,
}


class _Families(Mapping[str, AgentFamily]):
    def __getitem__(self, name: str) -> AgentFamily:
        return _LOADERS[name](name)

    def __iter__(self) -> Iterator[str]:
        return iter(_LOADERS)

    def __len__(self) -> int:
        return len(_LOADERS)


FAMILIES: Mapping[str, AgentFamily] = _Families()
"""Every family by its name."""


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

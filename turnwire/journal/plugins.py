"""The kinds of journal by name: three of turnwire's own, and those that other distributions register.

A distribution registers a `JournalPlugin` as an entry point of the group `turnwire.journals`. Its name is a value of the
setting
`journal`; an address `NAME://…` chooses it as well.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from turnwire.protocol.errors import TurnwireError

if TYPE_CHECKING:
    from turnwire.journal.base import Durability, Journal, Retention

GROUP = "turnwire.journals"
"""The group of entry points."""


DEFAULT_PREFIX = "turnwire:"
"""How keys in Redis begin, unless another prefix is configured."""


class JournalOptions(Struct, frozen=True, kw_only=True):
    """Options of opening a journal. A plug-in uses what it needs and ignores the rest."""

    directory: Path
    """The state directory; it is private to the user, and may not exist yet."""
    url: str | None = None
    """Address of the server, with its password if it has one."""
    durability: "Durability" = "process"
    """What events must survive."""
    memory_bytes: int | None = None
    """Maximum number of bytes of all logs together, for a journal that keeps them in memory."""
    worker: str | None = None
    """Name of this worker in a fleet."""
    replicas: int = 0
    """Number of replicas that must have an event before it is readable."""
    prefix: str = DEFAULT_PREFIX
    """How the names of all keys begin, on a server that others use, too."""
    archive_dir: Path | None = None
    """Directory with the old events of quiet sessions, for a journal in Redis."""
    archive_after_s: float | None = None
    """Seconds that a session is quiet before its events go there. None: events stay where they are."""


class OpenJournal(Protocol):
    """Opens a journal."""

    def __call__(self, options: JournalOptions, retention: "Retention") -> "Awaitable[Journal]":
        """Open the journal; raises JournalUnavailable."""
        ...


class JournalPlugin(Struct, frozen=True, kw_only=True):
    """One kind of journal."""

    name: str
    """Its value for the setting `journal`."""
    durable: bool
    """Whether events are still there after the process has ended."""
    shared: bool = False
    """Whether the hubs and workers of a fleet can use one such journal together."""
    schemes: Sequence[str] = ()
    """Schemes of addresses that choose it, in addition to its name."""
    open: OpenJournal
    """Opens it."""
    location: Callable[[JournalOptions], str]
    """Returns where the events are, in words for people and without a password."""


def _file(options: JournalOptions) -> Path:
    return options.directory / "journal.sqlite3"


async def _open_sqlite(options: JournalOptions, retention: "Retention") -> "Journal":
    from turnwire.journal.sqlite.journal import SqliteJournal  # noqa: PLC0415 - loaded when it is chosen

    return await SqliteJournal.open(_file(options), retention, durability=options.durability)


async def _open_memory(options: JournalOptions, retention: "Retention") -> "Journal":
    from turnwire.journal.memory import MemoryJournal  # noqa: PLC0415 - as above

    return MemoryJournal(retention, all_bytes=options.memory_bytes)


async def _open_redis(options: JournalOptions, retention: "Retention") -> "Journal":
    from turnwire.journal.base import JournalUnavailable  # noqa: PLC0415 - as above

    try:
        from turnwire.journal.redis.journal import RedisJournal  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise JournalUnavailable(
            "The journal in Redis needs the extra `redis`: pip install 'turnwire[redis]'."
        ) from error
    return await RedisJournal.open(
        options.url or DEFAULT_REDIS,
        retention,
        prefix=options.prefix,
        owner=options.worker,
        replicas=options.replicas,
        archive_dir=options.archive_dir,
        archive_after_s=options.archive_after_s,
    )


def _redis_location(options: JournalOptions) -> str:
    return f"Redis at {(options.url or DEFAULT_REDIS).rpartition('@')[2].removeprefix('redis://')}"


DEFAULT_REDIS = "redis://127.0.0.1:6379/0"
"""The Redis of a journal in Redis without an address."""

SQLITE = JournalPlugin(
    name="sqlite", durable=True, open=_open_sqlite, location=lambda options: str(_file(options))
)
MEMORY = JournalPlugin(
    name="memory",
    durable=False,
    open=_open_memory,
    location=lambda _: "in memory: events end with the process",
)
REDIS = JournalPlugin(
    name="redis",
    durable=True,
    shared=True,
    schemes=(
        "redis",
        "rediss",
        "unix",
        "redis+sentinel",
        "rediss+sentinel",
        "redis+cluster",
        "rediss+cluster",
    ),
    open=_open_redis,
    location=_redis_location,
)

BUILT_IN = {plugin.name: plugin for plugin in (SQLITE, MEMORY, REDIS)}
_BY_SCHEME = {scheme: plugin for plugin in BUILT_IN.values() for scheme in plugin.schemes}


class UnknownJournal(TurnwireError, ValueError):
    """No journal has this name; the message lists the names there are."""


def journal_plugin(name: str) -> JournalPlugin:
    """Return the kind of journal of a name or an address. Raises UnknownJournal.

    Entry points are read only for a name that is not one of turnwire's own. Errors while loading one are passed on.
    """
    scheme, _, rest = name.partition("://")
    if rest and scheme in _BY_SCHEME:
        return _BY_SCHEME[scheme]
    if scheme in BUILT_IN:
        return BUILT_IN[scheme]
    from importlib.metadata import entry_points  # noqa: PLC0415 - few journals are another's

    found = entry_points(group=GROUP)
    for entry in found:
        if entry.name == scheme:
            plugin = entry.load()
            if not isinstance(plugin, JournalPlugin):
                raise UnknownJournal(f"the entry point {entry.value} of {GROUP} is not a JournalPlugin")
            return plugin
    names = sorted({*BUILT_IN, *(entry.name for entry in found)})
    raise UnknownJournal(f"there is no journal {scheme!r}; choose one of {', '.join(names)}")

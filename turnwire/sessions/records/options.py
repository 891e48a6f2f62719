"""The options in a session's record: how its agent is started. Typed, and stored under these names.

A record may be of an older or newer turnwire, or damaged. A wrong value counts as absent. An unknown field is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from turnwire.adapter.sandbox.settings import LEVELS
from turnwire.config.agents import sandbox_named
from turnwire.config.settings import Settings
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.model import JsonObject
from turnwire.normalize.vocabulary import SandboxLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """The options of a record."""

    agent_options: JsonObject = field(default_factory=dict)
    """The agent's options, as frontends and the configuration call them."""
    mcp_servers: Mapping[str, JsonObject] = field(default_factory=dict)
    """MCP servers by name."""
    going: JsonObject | None = None
    """Which way the agent was to go to its conversation, until it has gone it (resume_point.py)."""
    origin: JsonObject | None = None
    """Which way its first process went."""
    attached: int = 0
    """How many attachments went with what was said last."""
    conversation: str | None = None
    """The earlier conversation that the session follows or continues."""
    reading: bool = False
    """True where it was opened to be read: whether frontends may work there is still to be asked."""
    claim: JsonObject | None = None
    """What the agent said of its conversation, and when (turnwire/sessions/claims.py)."""
    believed: bool | None = None
    """Whether that counts; None where nobody in particular began the session, and it does."""
    shared: bool = False
    """A principal with limited conversations, other than its owner, has commanded it."""
    title_from: str | None = None
    """Source of the title: folder, prompt or agent. None for a title of a human, which nothing else replaces."""
    sandbox: str | None = None
    """The sandbox that it was begun with: off, files or network; None where it is the configured one."""
    worktree: JsonObject | None = None
    """The git worktree that was made for it: path, folder, repository, branch, base."""
    terminal: JsonObject | None = None
    """The agent's own interface that has the conversation (turnwire/sessions/in_terminal.py)."""
    updated: str | None = None
    """When a turn began or ended last; RFC 3339."""
    unknown: JsonObject = field(default_factory=dict)
    """What another version keeps."""

    @classmethod
    def from_record(cls, record: SessionRecord) -> "RecordOptions":
        """Read the options of a record."""
        kept = record.options
        return cls(
            agent_options=_object(kept.get("agent_options")) or {},
            mcp_servers={
                name: server
                for name, server in (_object(kept.get("mcp_servers")) or {}).items()
                if isinstance(server, dict)
            },
            going=_object(kept.get("going")),
            origin=_object(kept.get("origin")),
            attached=kept["attached"] if type(kept.get("attached")) is int else 0,
            conversation=_text(kept.get("conversation")),
            reading=kept.get("reading") is True,
            claim=_object(kept.get("claim")),
            believed=kept["believed"] if isinstance(kept.get("believed"), bool) else None,
            shared=kept.get("shared") is True,
            title_from=_text(kept.get("title_from")),
            sandbox=_text(kept.get("sandbox")),
            worktree=_object(kept.get("worktree")),
            terminal=_object(kept.get("terminal")),
            updated=_text(kept.get("updated")),
            unknown={name: value for name, value in kept.items() if name not in _NAMES},
        )

    def put(self, record: SessionRecord) -> SessionRecord:
        """Return a record with these options, without empty ones."""
        known = {name: value for name in _NAMES if (value := getattr(self, name)) not in (None, False, 0)}
        if self.believed is False:
            known["believed"] = False
        return replace(record, options={**self.unknown, **known})


_NAMES = tuple(field.name for field in fields(RecordOptions) if field.name != "unknown")


def with_options(record: SessionRecord, **changes: object) -> SessionRecord:
    """Return a record with some of its options changed."""
    return replace(RecordOptions.from_record(record), **changes).put(record)  # type: ignore[arg-type]  # names are the fields


def asked_folder(record: SessionRecord) -> str | None:
    """Return the folder that a session was asked for: of one with a worktree its repository. What it may do there follows from it."""
    made = RecordOptions.from_record(record).worktree
    return record.workspace if made is None else str(made.get("repository"))


def sandbox_of(record: SessionRecord, settings: Settings) -> SandboxLevel:
    """Return the sandbox of a session: the one it was begun with, or the configured one.

    A level of another version counts as the strictest, and the session does not start (turnwire/sessions/launch.py).
    """
    kept = RecordOptions.from_record(record).sandbox
    if kept is None:
        return sandbox_named(record.agent or settings.agent, settings.agents, settings.sandbox)
    return next((level for level in LEVELS if level == kept), LEVELS[-1])


def _object(value: object) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None

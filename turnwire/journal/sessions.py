"""Records of sessions. With them a restarted sidecar lists, resumes and cleans up its sessions.

The store holds whole records; the host is their one owner, changes one with `dataclasses.replace` and puts it back.
"""

from dataclasses import dataclass, field
from typing import Protocol

from turnwire.normalize.model import JsonObject
from turnwire.normalize.vocabulary import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """One session as it must be known after a restart."""

    session: str
    """turnwire's own, stable id."""
    created: str
    """RFC 3339, UTC."""
    title: str | None = None
    """What to call it."""
    agent: str | None = None
    """Which configured agent."""
    workspace: str | None = None
    """Directory the CLI runs in."""
    owner: str | None = None
    """The principal that began it; None without one."""
    argv: tuple[str, ...] = ()
    """What the CLI was started with, secrets taken out."""
    env_names: tuple[str, ...] = ()
    """Names of the environment variables the CLI was given; values are never stored."""
    model: str | None = None
    """Model it was asked to use."""
    policy: str | None = None
    """Permission policy."""
    permission_mode: str | None = None
    """The CLI's permission mode."""
    options: JsonObject = field(default_factory=dict)
    """What else it was created with, such as MCP servers, so that a resumed CLI gets the same."""
    cli_session_id: str | None = None
    """The CLI's own session id; it can change on resume."""
    cli_version: str | None = None
    """Version of the CLI that ran last."""
    resume_token: str | None = None
    """What `--resume` takes to go on."""
    last_message_uuid: str | None = None
    """The newest committed message, for `--resume-session-at`."""
    last_prompt: str | None = None
    """What was said last, for a retry."""
    retry_token: str | None = None
    """What `--resume-session-at` takes to go back to before that; None: there was nothing before it."""
    turns: int = 0
    """How many turns have begun, so that a resumed session goes on counting."""
    forked_from: str | None = None
    """The session whose conversation this one began with."""
    state: SessionState = "starting"
    """As frontends see it; of a sidecar that was killed, what it was then."""
    pid: int | None = None
    """Process id of the CLI, which leads its process group, while one runs."""
    process: str | None = None
    """That process told apart from any other, in the adapter's words, so that a reused pid is not mistaken for it."""
    recording: str | None = None
    """Path of the recording being written."""
    total_cost_usd: float | None = None
    """What the session has cost, over all its CLIs."""


class SessionStore(Protocol):
    """Records by session id. All methods run in one event loop."""

    async def put(self, record: SessionRecord) -> None:
        """Keep a record in place of the one of the same session, durably; a record that is the same costs nothing.

        Raises JournalUnavailable when it cannot be written; it is then kept in memory alone.
        """
        ...

    async def get(self, session: str) -> SessionRecord | None:
        """Return a session's record."""
        ...

    async def list(self) -> list[SessionRecord]:
        """Return all records, the oldest session first."""
        ...

    async def delete(self, session: str) -> None:
        """Forget a record; unknown sessions are no error."""
        ...


class MemorySessions:
    """A SessionStore that ends with the sidecar."""

    def __init__(self) -> None:
        self._records: dict[str, SessionRecord] = {}

    async def put(self, record: SessionRecord) -> None:
        """Keep a record."""
        self._records[record.session] = record

    async def get(self, session: str) -> SessionRecord | None:
        """Return a session's record."""
        return self._records.get(session)

    async def list(self) -> list[SessionRecord]:
        """Return all records, the oldest session first."""
        return sorted(self._records.values(), key=_age)

    async def delete(self, session: str) -> None:
        """Forget a record."""
        self._records.pop(session, None)


def _age(record: SessionRecord) -> tuple[str, str]:
    return record.created, record.session

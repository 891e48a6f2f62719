"""Records of sessions. With them a restarted sidecar lists, resumes and cleans up its sessions.

The store holds whole records; the host is their one owner, changes one with `dataclasses.replace` and puts it back.
"""

from dataclasses import dataclass, field
from typing import Protocol

from turnwire.normalize.model import JsonObject
from turnwire.normalize.vocabulary import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A session's facts that must survive a restart."""

    session: str
    """turnwire's own, stable id."""
    created: str
    """RFC 3339, UTC."""
    title: str | None = None
    """The title."""
    agent: str | None = None
    """Which configured agent."""
    workspace: str | None = None
    """Directory the CLI runs in."""
    owner: str | None = None
    """The principal that began it; None without one."""
    argv: tuple[str, ...] = ()
    """The CLI's command line, without secrets."""
    env_names: tuple[str, ...] = ()
    """Names of the environment variables the CLI was given; values are never stored."""
    model: str | None = None
    """Model it was asked to use."""
    policy: str | None = None
    """Permission policy."""
    permission_mode: str | None = None
    """The CLI's permission mode."""
    options: JsonObject = field(default_factory=dict)
    """Further options of its creation, such as MCP servers, so that a resumed CLI gets the same."""
    cli_session_id: str | None = None
    """The CLI's own session id; it can change on resume."""
    cli_version: str | None = None
    """Version of the CLI that ran last."""
    resume_token: str | None = None
    """The value for `--resume`."""
    last_message_uuid: str | None = None
    """The newest committed message, for `--resume-session-at`."""
    last_prompt: str | None = None
    """The last prompt, for a retry."""
    retry_token: str | None = None
    """The value for `--resume-session-at` to go back to before the last prompt. None if that was the first."""
    turns: int = 0
    """Number of started turns, so that a resumed session continues counting."""
    forked_from: str | None = None
    """The session of which this one is a fork."""
    state: SessionState = "starting"
    """The state as frontends see it. After a kill of the sidecar: the last one."""
    pid: int | None = None
    """Process id of the CLI, which leads its process group, while one runs."""
    process: str | None = None
    """An unmistakable identity of the process, so that a reused pid is not taken for it."""
    recording: str | None = None
    """Path of the recording being written."""
    total_cost_usd: float | None = None
    """Cost of the session over all its CLIs, in dollars."""


class SessionStore(Protocol):
    """Records by session id. All methods run in one event loop."""

    async def put(self, record: SessionRecord) -> None:
        """Store a record in place of the session's earlier one, durably. An unchanged record costs nothing.

        Raises JournalUnavailable if it cannot be written; then it is kept in memory only.
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

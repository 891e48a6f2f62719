"""From a session's record and the settings to what the adapter starts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from adapter.attachments import AttachmentSettings
from adapter.command import CommandError, CommandOptions
from adapter.environment import ALLOWED, EnvironmentRefused, build_environment
from adapter.mcp import HostedServer, McpError
from adapter.options import SessionOptions
from adapter.policies import Policy
from adapter.process import ProgramNotFound
from journal.sessions import SessionRecord
from normalize.model import JsonObject
from sidecar.agents import AgentNotFoundError, find
from sidecar.dialects import in_dialect
from sidecar.rulebook import Rulebook
from sidecar.settings import Settings
from tracing.spans import traceparent
from tracing.wanted import tracing_wanted

CANNOT_START = (AgentNotFoundError, CommandError, EnvironmentRefused, McpError, ProgramNotFound)
"""What is wrong with a session that cannot be started; each says what to do."""


@dataclass(frozen=True, slots=True)
class Going:
    """How a CLI comes to its conversation: a new one, an old one, or the branch of another's."""

    resume: str | None = None
    """The CLI's session id to go on with."""
    at: str | None = None
    """The message to go back to, as that version of the CLI wants it named."""
    branch: bool = False
    """Go on under a new session id."""

    @classmethod
    def new(cls) -> "Going":
        """Begin a conversation."""
        return cls()

    @classmethod
    def on(cls, record: SessionRecord, at: str | None = None) -> "Going":
        """Go on where the session was, or at a message of it."""
        return cls(record.cli_session_id, at)

    @classmethod
    def back(cls, record: SessionRecord) -> "Going":
        """Go back to before the last prompt; to the beginning when there was nothing before it."""
        return cls() if record.retry_token is None else cls(record.cli_session_id, record.retry_token)

    @classmethod
    def fork(cls, origin: SessionRecord, at: str | None = None) -> "Going":
        """Branch off another session, or off a message of it."""
        return cls(origin.cli_session_id, at, branch=True)


def options_for(
    record: SessionRecord, settings: Settings, rulebook: Rulebook, going: Going, requested: Mapping[str, str]
) -> SessionOptions:
    """Return what to start; raises one of CANNOT_START."""
    agent = find(record.agent or settings.agent, settings.agents)
    environment = build_environment(
        os.environ,
        allowed=(*ALLOWED, *settings.pass_env),
        requested=requested,
        traceparent=traceparent(record.session) if tracing_wanted() else None,
    )
    command = CommandOptions(
        model=record.model,
        resume=going.resume,
        resume_at=going.at,
        fork=going.branch,
        permission_mode=record.permission_mode,
        mcp_servers=_mcp_servers(record),
    )
    options = SessionOptions(
        workspace=Path(record.workspace or ".").resolve(),
        executable=agent.argv,
        command=command,
        environment=environment,
        name=record.session,
        policy=_policy(record.policy),
        rules=rulebook.rules,
        hooks=rulebook.hooks,
        hosted_servers={
            name: HostedServer(entry_point=one.entry_point, command=tuple(one.command), env=one.env)
            for name, one in settings.hosted_mcp.items()
        },
        attachments=AttachmentSettings(mode=settings.attachments),
        answer_timeout=settings.permission_timeout_s,
        stall_after=settings.stall_after_s,
    )
    return in_dialect(options, settings.dialect)


def _mcp_servers(record: SessionRecord) -> dict[str, JsonObject]:
    servers = record.options.get("mcp_servers")
    if not isinstance(servers, dict):
        return {}
    return {name: server for name, server in servers.items() if isinstance(server, dict)}


def _policy(name: str | None) -> Policy | None:
    match name:
        case None | "autonomous" | "supervised" | "plan":
            return name
        case _:
            raise CommandError("policy", f"must be autonomous, supervised or plan, not {name!r}")

"""Turn a session's record and the settings into the adapter's options."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from turnwire.adapter.families import FAMILIES
from turnwire.adapter.family import AgentFamily
from turnwire.adapter.mcp.mcp_host import HostedServer, McpError
from turnwire.adapter.options import CommandError, CommandOptions, SessionOptions
from turnwire.adapter.process.cli import ProgramNotFound
from turnwire.adapter.process.environment import ALLOWED, EnvironmentRefused, build_environment
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.sandbox.settings import LEVELS, SandboxUnavailable
from turnwire.adapter.session.attachments import AttachmentSettings
from turnwire.config.agents import AgentNotFoundError, family_named, find
from turnwire.config.rulebook import Rulebook
from turnwire.config.sandbox import sandbox_settings
from turnwire.config.settings import Settings
from turnwire.config.state_directory import own_places
from turnwire.config.trials import trials_of
from turnwire.hub.wire.agent_options import AgentOptions
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.model import JsonObject
from turnwire.normalize.vocabulary import Policy
from turnwire.sessions.records.options import RecordOptions, sandbox_of
from turnwire.sessions.records.resume_point import ResumePoint

CANNOT_START = (
    AgentNotFoundError,
    CommandError,
    EnvironmentRefused,
    McpError,
    ProgramNotFound,
    SandboxUnavailable,
)
"""Errors of a session that cannot be started. Each says what to do."""


MAX_ATTACHED = 11 << 20
"""Most bytes of a prompt's attachments: as base64 they fit into a frontend's largest frame."""


def family_of(record: SessionRecord, settings: Settings) -> AgentFamily:
    """Return the family of a session's agent."""
    family = family_named(record.agent or settings.agent, settings.agents)
    return FAMILIES[settings.dialect if family == "claude" else family]


def options_for(
    record: SessionRecord,
    settings: Settings,
    rulebook: Rulebook,
    resume_point: ResumePoint,
    requested: Mapping[str, str],
) -> SessionOptions:
    """Return the options of the start. Raises one of CANNOT_START."""
    agent = find(record.agent or settings.agent, settings.agents)
    if (level := RecordOptions.from_record(record).sandbox) not in (None, *LEVELS):
        raise CommandError("sandbox", f"must be one of {', '.join(LEVELS)}, not {level!r}")
    environment = build_environment(
        os.environ,
        allowed=(*ALLOWED, *agent.variables, *settings.pass_env),
        given=agent.env,
        requestable=settings.frontend_env,
        requested=requested,
    )
    command = CommandOptions(
        model=record.model,
        resume=resume_point.resume,
        resume_at=resume_point.at,
        fork=resume_point.branch,
        continue_latest=resume_point.latest,
        replay_history=resume_point.tell,
        permission_mode=record.permission_mode,
        mcp_servers=RecordOptions.from_record(record).mcp_servers,
        **_agent_options(record),
    )
    return SessionOptions(
        workspace=Path(record.workspace or ".").resolve(),
        executable=agent.argv,
        command=command,
        environment=environment,
        family=family_of(record, settings).name,
        name=record.session,
        policy=_policy(record.policy),
        rules=rulebook.rules,
        hooks=rulebook.hooks,
        hosted_servers={
            name: HostedServer(entry_point=one.entry_point, command=tuple(one.command), env=one.env)
            for name, one in settings.hosted_mcp.items()
        },
        client_files=agent.client_files,
        client_terminals=agent.client_terminals,
        sandbox=sandbox_settings(agent, settings, level=sandbox_of(record, settings)),
        attachments=AttachmentSettings(
            mode=settings.attachments,
            max_count=settings.max_attachments,
            max_size=settings.max_attachment_bytes,
            max_total=MAX_ATTACHED,
        ),
        answer_timeout=settings.permission_timeout_s,
        max_pending=settings.max_pending,
        stall_after=settings.stall_after_s,
        own_places=own_places(settings),
        check_uncommitted=settings.check_uncommitted,
        accept_unasked=settings.accept_unasked,
        judges_conversations=True,
        trials=trials_of(agent),
        initialize_deadline=settings.agent_start_timeout_s,
        control_deadline=settings.agent_answer_timeout_s,
        stop=StopDeadlines(close=settings.agent_exit_timeout_s),
        line_limit=settings.max_line_bytes,
    )


def merged(configured: AgentOptions, asked: AgentOptions | None) -> JsonObject:
    """Return the options of a new session: the requested ones, completed from the configuration."""
    return {
        **configured.model_dump(mode="json", exclude_none=True),
        **(asked.model_dump(mode="json", exclude_none=True) if asked else {}),
    }


def _agent_options(record: SessionRecord) -> dict[str, Any]:
    """Return the CommandOptions in a session's record. An older or newer turnwire may have written it."""
    try:
        options = AgentOptions.model_validate(RecordOptions.from_record(record).agent_options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"])) or "agent_options"
        raise CommandError(
            name, f"this version does not accept the session's record: {first['msg']}"
        ) from None
    return options.model_dump(exclude_none=True)


def _policy(name: str | None) -> Policy | None:
    match name:
        case None | "autonomous" | "supervised" | "plan":
            return name
        case _:
            raise CommandError("policy", f"must be autonomous, supervised or plan, not {name!r}")

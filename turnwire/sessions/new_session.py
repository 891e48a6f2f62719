"""The options of a new session, from a frontend's command, an editor or the command line."""

from collections.abc import Mapping

from msgspec import Struct
from pydantic import JsonValue

from turnwire.hub.wire.agent_options import AgentOptions
from turnwire.hub.wire.frames import NewWorktree, SessionCreate
from turnwire.normalize.vocabulary import SandboxLevel
from turnwire.sessions.trace_context import Caller


class NewSession(Struct, frozen=True, kw_only=True):
    """Options of a new session; None takes the configured value."""

    workspace: str | None = None
    agent: str | None = None
    worktree: NewWorktree | None = None
    title: str | None = None
    policy: str | None = None
    model: str | None = None
    sandbox: SandboxLevel | None = None
    permission_mode: str | None = None
    mcp_servers: Mapping[str, JsonValue] | None = None
    options: AgentOptions | None = None
    env: Mapping[str, str] | None = None
    caller: Caller = Caller()

    @staticmethod
    def of(command: SessionCreate) -> "NewSession":
        """Return what a frontend asks for."""
        return NewSession(
            workspace=command.workspace,
            worktree=command.worktree,
            agent=command.agent,
            title=command.title,
            policy=command.policy,
            model=command.model,
            sandbox=command.sandbox,
            permission_mode=command.permission_mode,
            mcp_servers=command.mcp_servers,
            options=command.options,
            env=command.env,
            caller=Caller.of(command),
        )

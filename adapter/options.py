"""What a session is started with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adapter.attachments import AttachmentSettings
from adapter.claude.command import CommandOptions
from adapter.claude.version import Version
from adapter.hooks.settings import HookSetting
from adapter.mcp.host import HostedServer
from adapter.permissions.rules import Rule
from adapter.process.shutdown import StopDeadlines
from normalize.vocabulary import Policy
from protocol.dialects import CLAUDE, Dialect
from protocol.framing import DEFAULT_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Everything about one run of a CLI; the rest is decided while it runs."""

    workspace: Path
    """Directory the CLI runs in."""
    executable: Sequence[str] = ("claude",)
    """The program, and arguments that come before all others."""
    command: CommandOptions = field(default_factory=CommandOptions)
    """Its options."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Its whole environment; see adapter/process/environment.py."""
    dialect: Dialect = CLAUDE
    """What it speaks."""
    name: str = "session"
    """turnwire's session id; names the folder of attachments."""
    version: Version | None = None
    """The CLI's version; asked for when None."""
    ask_version: bool = True
    """Ask the CLI for its version when it is not given."""
    initialize: bool = True
    """Begin with `initialize`; an agent of another kind may not know it."""
    policy: Policy | None = None
    """Permission policy; None for the CLI's own rules."""
    rules: Sequence[Rule] = ()
    """Permission rules, before the policy."""
    hooks: Sequence[HookSetting] = ()
    """Hooks by configuration."""
    check_uncommitted: bool = True
    """Send the agent back once when it stops with uncommitted changes (supervised and plan)."""
    answer_timeout: float | None = None
    """Seconds that a human has to answer; None for as long as it takes."""
    max_pending: int = 256
    """Requests of the CLI that may wait for an answer at a time, messages to hosted servers apart; more are refused."""
    hosted_servers: Mapping[str, HostedServer] = field(default_factory=dict)
    """MCP servers that live in the sidecar."""
    dialogs: Sequence[str] = ()
    """Kinds of dialogs that the frontends can show; others the CLI does not send."""
    attachments: AttachmentSettings = field(default_factory=AttachmentSettings)
    """What may go with a prompt, and how."""
    initialize_deadline: float = 60.0
    """Seconds for the answer to `initialize`."""
    control_deadline: float = 30.0
    """Seconds for the answer to any other control request."""
    stall_after: float | None = None
    """Seconds of silence in a turn, nobody being asked, after which `stalled` is told."""
    stop: StopDeadlines = field(default_factory=StopDeadlines)
    """The stop ladder's times."""
    line_limit: int = DEFAULT_LIMIT
    """Bytes of one line that are held, at most."""

"""The options of a session's start, for every family. A family refuses what it cannot do (adapter/capabilities.py)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from turnwire.adapter.hooks.settings import HookSetting
from turnwire.adapter.mcp.mcp_host import HostedServer
from turnwire.adapter.permissions.rules import Rule
from turnwire.adapter.process.shutdown import StopDeadlines
from turnwire.adapter.sandbox.settings import SandboxSettings
from turnwire.adapter.session.attachments import AttachmentSettings
from turnwire.normalize.vocabulary import Policy
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.framing import DEFAULT_LIMIT
from turnwire.protocol.json_values import JsonObject

if TYPE_CHECKING:  # few sessions have one, or are supervised
    from turnwire.adapter.permissions.trials import Trial
    from turnwire.adapter.sandbox.sandbox import Sandbox


class CommandError(TurnwireError, ValueError):
    """Options that make no valid command. The message says which option, and what to do."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(f"{option}: {message}")
        self.option = option
        """The wrong field of CommandOptions."""


class ConversationInUse(CommandError):
    """Another agent goes on with the conversation. The message names who runs it."""

    def __init__(self, conversation: str, session: str, process: str) -> None:
        # both are unknown for the moment in which the other one writes them
        where = (
            f"the session {session} of the turnwire process {process}"
            if session
            else "another turnwire process"
        )
        self.sentence = f"the conversation {conversation[:200]} is open in {where}; go on there, end that session, or fork the conversation"
        """The message without the option."""
        super().__init__("resume", self.sentence)


class CommandOptions(Struct, frozen=True, kw_only=True):
    """Options that a CLI is started with, in addition to the options of the protocol."""

    model: str | None = None
    """Model; the CLI's default when None."""
    resume: str | None = None
    """Session id to go on with."""
    resume_at: str | None = None
    """Message to go back to; needs `resume`. The version decides which id names it."""
    fork: bool = False
    """Go on under a new session id; needs `resume` or `continue_latest`."""
    continue_latest: bool = False
    """Go on with the newest session of the workspace."""
    replay_history: bool = False
    """Have the agent replay the conversation, if it can; needs `resume`."""
    permission_mode: str | None = None
    """The permission mode to start in."""
    skip_permissions: bool = False
    """Run without any permission check."""
    mcp_servers: Mapping[str, JsonObject] = field(default_factory=dict)
    """MCP servers by name, as in the CLI's own configuration: stdio, SSE, HTTP or sdk."""
    allowed_tools: Sequence[str] = ()
    """Permission rules for tools that need no asking."""
    disallowed_tools: Sequence[str] = ()
    """Permission rules for tools that may not run."""
    tools: Sequence[str] | None = None
    """Built-in tools that exist at all; none when empty, all of the CLI's when None."""
    max_turns: int | None = None
    """Model calls that a turn may make."""
    max_budget_usd: float | None = None
    """US dollars that the session may cost."""
    effort: str | None = None
    """How hard the model thinks."""
    fallback_model: str | None = None
    """Model to use when the first one is overloaded."""
    system_prompt: str | None = None
    """The system prompt, instead of the CLI's own."""
    append_system_prompt: str | None = None
    """Text that is added to the system prompt."""
    output_schema: JsonObject | None = None
    """JSON Schema that the answer of each turn must have."""
    agents: Mapping[str, JsonObject] = field(default_factory=dict)
    """Subagents by name, as in the CLI's own configuration."""
    plugins: Sequence[str] = ()
    """Directories of plugins."""
    setting_sources: Sequence[str] | None = None
    """Which of the CLI's settings files count; none when empty, all when None."""
    add_dirs: Sequence[str] = ()
    """Directories other than the workspace that the CLI may use."""
    settings: JsonObject | None = None
    """Settings of the CLI. They override those of its files."""
    checkpointing: bool = False
    """Remember files before they are changed, so that they can be put back (`rewind_files`); an environment variable."""
    thinking_disabled: bool = False
    """No extended thinking."""
    unattended: bool = False
    """One prompt without a human: no permission questions, no echo of prompts, only the given MCP servers."""
    bare: bool = False
    """Add no arguments: the agent is not the CLI and uses its protocol by default."""


def check_executable(executable: Sequence[str]) -> None:
    """Raise CommandError for a command that cannot be started."""
    if not executable or not executable[0]:
        raise CommandError("executable", "no program to run; give the agent's command")
    if any("\0" in argument for argument in executable):
        raise CommandError("executable", "an argument contains a NUL character")


class SessionOptions(Struct, frozen=True, kw_only=True):
    """Everything about one run of a CLI; the rest is decided while it runs."""

    workspace: Path
    """Directory the CLI runs in."""
    executable: Sequence[str] = ("claude",)
    """The program, and arguments before all others."""
    command: CommandOptions = field(default_factory=CommandOptions)
    """Its options."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Its whole environment; see adapter/process/environment.py."""
    family: str = "claude"
    """Its family by name (adapter/families.py)."""
    name: str = "session"
    """turnwire's session id; names the folder of attachments."""
    version: str | None = None
    """The agent's version; None to ask the agent."""
    ask_version: bool = True
    """Ask the agent for its version when it is not given."""
    initialize: bool = True
    """Start with `initialize`. Agents of another kind may not support it."""
    policy: Policy | None = None
    """Permission policy; None for the CLI's own rules."""
    rules: Sequence[Rule] = ()
    """Permission rules, before the policy."""
    hooks: Sequence[HookSetting] = ()
    """Hooks by configuration."""
    own_places: Sequence[str] = ()
    """Files and folders of turnwire's own, which the agent is not given under any policy; absolute paths."""
    check_uncommitted: bool = True
    """Send the agent back once when it stops with uncommitted changes (supervised and plan)."""
    caller_decides: bool = False
    """True if a caller answers all that the agent asks; the policy then allows nothing by itself."""
    accept_unasked: bool = False
    """Under supervised: also run an agent that does not ask about everything, or of which this is unknown."""
    judges_conversations: bool = False
    """True if the caller sees to it that no two of its own sessions run one conversation; then only other processes count."""
    trials: Mapping[str, "Trial"] = field(default_factory=dict)
    """Under supervised: what was tried of the family's agents, by program; under "" what was tried of this very command."""
    answer_timeout: float | None = None
    """Seconds that a human has to answer; None for no limit."""
    auto_deny_as: str | None = None
    """Deny requests to a human at once, under this name; None if a human can answer."""
    max_pending: int = 256
    """Requests of the CLI that may wait for an answer at a time, messages to hosted servers apart; more are refused."""
    hosted_servers: Mapping[str, HostedServer] = field(default_factory=dict)
    """MCP servers that live in the sidecar."""
    client_files: Literal["none", "read", "write"] = "none"
    """What an agent may do with the workspace's files through its client; no other files."""
    client_terminals: bool = False
    """Whether an agent may have its client run commands."""
    sandbox: SandboxSettings = SandboxSettings()
    """What the sandbox denies the agent, and its exceptions."""
    box: "Sandbox | None" = None
    """The sandbox that its programs are started in; `open_session` makes it of `sandbox`."""
    attachments: AttachmentSettings = field(default_factory=AttachmentSettings)
    """Accepted attachments, and how they reach the agent."""
    initialize_deadline: float = 60.0
    """Seconds for the answer to `initialize`."""
    control_deadline: float = 30.0
    """Seconds for the answer to any other control request."""
    exit_deadline: float = 5.0
    """Seconds that an agent may run after it closed its stdout: it can report nothing any more."""
    stall_after: float | None = None
    """Seconds of silence in a turn, without an open request, after which `stalled` is published."""
    stop: StopDeadlines = field(default_factory=StopDeadlines)
    """Seconds for each step of stopping it."""
    ahead: int = 8 * 1024 * 1024
    """Maximum number of buffered bytes before reading stops, with the extra bytes of each line."""
    line_limit: int = DEFAULT_LIMIT
    """Bytes of one line that are held, at most."""

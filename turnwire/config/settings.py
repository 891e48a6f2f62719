"""Read the configuration: command-line options first, then the environment, then a TOML file.

Environment variables are `TURNWIRE_` and the field's name. Recordings also accept Kandev's KANDEV_DEBUG_AGENT_MESSAGES and
KANDEV_DEBUG_LOG_DIR; the exporter reads the standard OTEL_* names itself. The file is the one that was named. Otherwise it is
`turnwire.toml` in the current directory, as far as it is trusted (turnwire/config/trust.py), over the user's `config.toml`.
"""

import difflib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict
from urllib.parse import urlsplit

from msgspec import Struct
from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from turnwire._runtime.state_directory import state_directory
from turnwire.adapter.process.environment import REQUESTABLE
from turnwire.config import secrecy
from turnwire.config.agents import AgentSetting, add_agents
from turnwire.config.known_agents import AgentsFileError
from turnwire.config.trust import HARMLESS, PROJECT_FILE, TrustStore, full_name
from turnwire.hub.principals import BadPrincipal, Scope
from turnwire.hub.wire.agent_options import AgentOptions
from turnwire.journal.plugins import (
    DEFAULT_PREFIX,
    DEFAULT_REDIS,
    REDIS,
    JournalPlugin,
    UnknownJournal,
    journal_plugin,
)
from turnwire.normalize.model import JsonObject
from turnwire.normalize.vocabulary import Policy, Role, SandboxLevel
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.parsing.depth import TOO_DEEP, is_deep
from turnwire.protocol.visible import ordered, visible_line

FILE_LIMIT = 1 << 20
"""Maximum bytes of a configuration file."""

OTHER_VARIABLES = frozenset({"TURNWIRE_CONFIG", "TURNWIRE_PROCESS", "TURNWIRE_AGENT_SCRIPT"})
"""TURNWIRE_ variables that are not settings: the file's name, the mark of started processes, the scripted agent's script."""


def _split(value: object) -> object:
    """Read a list from an environment variable: separated by commas, or as JSON. Raises ValueError for invalid JSON."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return from_json(value)
    return [part.strip() for part in value.split(",") if part.strip()]


Names = Annotated[list[str], NoDecode, BeforeValidator(_split)]
"""A list of names; in the environment separated by commas, or a JSON array."""


def _origins(words: list[str]) -> list[str]:
    if not words:
        return words
    from turnwire._runtime.allowed import allowed_origins  # noqa: PLC0415 - few set it

    return [*allowed_origins(words)]


def _hosts(words: list[str]) -> list[str]:
    if not words:
        return words
    from turnwire._runtime.allowed import allowed_hosts  # noqa: PLC0415 - few set it

    return [*allowed_hosts(words)]


Origins = Annotated[Names, AfterValidator(_origins)]
"""A list of origins, spelt as browsers send them."""

Hosts = Annotated[Names, AfterValidator(_hosts)]
"""A list of names of hosts, without ports."""


FrontendOption = Literal[
    "add_dirs",
    "agent",
    "agents",
    "allowed_tools",
    "control",
    "disallowed_tools",
    "max_budget_usd",
    "max_turns",
    "mcp_servers",
    "plugins",
    "setting_sources",
    "settings",
    "tools",
]


def _scope(words: list[str]) -> list[str]:
    try:
        return Scope.parse(words).words()
    except BadPrincipal as error:
        raise ValueError(str(error)) from None


def _captures(value: object) -> object:
    """Read OpenTelemetry's values for where content goes. turnwire puts content into spans or nowhere."""
    words = {"no_content": None, "event_only": False, "span_only": True, "span_and_event": True}
    return words.get(value.lower(), value) if isinstance(value, str) else value


def _command_alone(value: object) -> object:
    """Accept an argument vector, the older form of an agent's table."""
    if isinstance(value, str):
        raise ValueError("must be a list, the program and its arguments, or a table")  # noqa: TRY004 - what pydantic reports
    return {"command": value} if isinstance(value, list) else value


class SpanOptions(TypedDict):
    """Options of a SpanMaker (tracing/spans/maker.py)."""

    limit: int
    fold_deltas: bool
    content: bool
    genai_alone: bool


class ConfigurationError(TurnwireError):
    """The configuration is wrong. The message names the setting, its source, and its valid values."""


def user_file() -> Path:
    """Return the path of the user's configuration file: $XDG_CONFIG_HOME/turnwire/config.toml, or below ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "turnwire" / "config.toml"


def trust_store() -> TrustStore:
    """Return the store of trusted files. No setting moves it, since it decides about settings."""
    return TrustStore(state_directory() / "trusted")


class HostedMcp(BaseModel):
    """An MCP server inside the sidecar: an entry point, or a command that speaks MCP on stdio."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    entry_point: str | None = None
    """`package.module:attribute`, an async callable of one JSON-RPC message."""
    command: list[str] = []
    """Program and arguments."""
    env: dict[str, str] | None = None
    """Environment of the command, in addition to PATH and HOME."""


WebhookEvent = Literal[
    "permission_request",
    "question_request",
    "permission_resolved",
    "permission_cancelled",
    "turn_started",
    "complete",
    "error",
    "process_status",
    "task_update",
    "rate_limit",
    "notice",
]
"""Events that a webhook can report: those of interest to someone who is not watching."""


def _journal_name(value: str) -> str:
    journal_plugin(value)
    return value


def _web_address(value: str) -> str:
    """Check a webhook's URL: http or https, without credentials where the URL is shown."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https URL")
    if parts.username is not None or parts.password is not None:
        raise ValueError("must have no user name and no password in it")
    if not value.isprintable() or " " in value:
        raise ValueError("must have no spaces or control characters")
    _ = parts.port  # raises ValueError
    return value


class Webhook(BaseModel):
    """A server that receives events: docs/frontends.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: Annotated[str, AfterValidator(_web_address)]
    """URL that events are posted to: http or https."""
    secret_file: Path | None = None
    """File with the secret that signs the messages. Refused if anyone but its owner can read it."""
    secret_env: str | None = Field(default=None, pattern="^TURNWIRE_WEBHOOK_SECRET[A-Z0-9_]*$")
    """Variable with the secret: TURNWIRE_WEBHOOK_SECRET, or a name that begins with it."""
    events: list[WebhookEvent] = ["permission_request", "question_request", "complete", "process_status"]
    """Events to report."""

    @model_validator(mode="after")
    def _one_secret(self) -> "Webhook":
        if (self.secret_file is None) == (self.secret_env is None):
            raise ValueError("needs a secret: one of secret_file and secret_env")
        return self


class Quota(BaseModel):
    """Limits of one principal. An absent field means no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sessions: int | None = Field(default=None, ge=0)
    """Maximum number of sessions at a time."""
    agents: int | None = Field(default=None, ge=0)
    """Maximum number of running agents at a time."""
    bytes: int | None = Field(default=None, ge=0)
    """Maximum bytes of the events of its sessions. Above it nothing new starts."""
    dollars_a_day: float | None = Field(default=None, ge=0)
    """Maximum cost of its turns per day (UTC), in dollars. A running turn continues."""


class Settings(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(
        env_prefix="TURNWIRE_",
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        env_ignore_empty=True,
    )

    host: str = "127.0.0.1"
    """Address to listen on. Anything but loopback needs a configured token."""
    port: int = Field(default=8790, ge=0, le=65535)
    """Port to listen on; 0 takes any free one. Default: the port of the last start, otherwise the first free one from 8790 on."""
    token: SecretStr | None = None
    """Access token of the role control. Default: a random one, stored in the state directory."""
    view_token: SecretStr | None = None
    """Access token of the role view. Default: a random one, stored in the state directory."""
    token_file: Path | None = None
    """File that contains only the token of the role control. Refused if anyone but its owner can read it."""
    view_token_file: Path | None = None
    """File that contains only the token of the role view. Same rules as `token_file`."""
    token_fd: int | None = Field(default=None, ge=3, lt=1 << 20)
    """Descriptor to read the token of the role control from. It is read to its end and closed."""
    view_token_fd: int | None = Field(default=None, ge=3, lt=1 << 20)
    """Descriptor to read the token of the role view from. Same rules as `token_fd`."""
    keep_tokens: bool = True
    """Store random tokens in the state directory for the next start. Without it they exist only in memory, where an agent of the
    same user cannot read them. Open tabs then end with the process."""
    tls_certificate: Path | None = None
    """PEM file with the certificate chain. Together with `tls_key` it makes the hub use TLS."""
    tls_key: Path | None = None
    """PEM file with the private key."""
    allowed_origins: Origins = []
    """Origins of web pages that may connect, in addition to the hub's own."""
    allowed_hosts: Hosts = []
    """Accepted values of the Host header, in addition to loopback and `host`."""
    trusted_proxies: Names = []
    """Addresses and networks of reverse proxies. Their `X-Forwarded-For` or `Forwarded` header names the client's address."""
    proxy_user_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    """Header in which one of `trusted_proxies` names the user that it has logged in, for example by OIDC. The header is refused from
    any other address. Default: proxies log nobody in."""
    proxy_user_role: Role = "control"
    """Role of a user that a proxy has logged in: control or view."""
    proxy_user_sessions: Annotated[Names, AfterValidator(_scope)] = ["own"]
    """Sessions that such a user may see (own, folder:/PATH, all), and where it may begin some (in:/PATH, worker:NAME). `{user}` is its name."""
    public_url: Annotated[str, AfterValidator(_web_address)] | None = None
    """Address at which other devices reach the console, for the QR code of `--qr`. Example: the https address of a proxy."""
    compression: bool = False
    """Offer permessage-deflate to frontends."""
    max_connections: int = Field(default=1024, ge=1)
    """Maximum number of connected frontends. The last eighth is reserved for the role control."""

    journal: Annotated[str, AfterValidator(_journal_name)] = "sqlite"
    """Storage of events: sqlite, memory, redis, or the name of an installed plug-in. An address such as redis://HOST works too."""
    journal_url: str | None = None
    """Address for the journal of a plug-in. `--journal NAME://HOST` sets it."""
    durability: Literal["process", "power"] = "process"
    """What stored events survive in the SQLite journal. `process`: the end of turnwire. `power`: also a power failure, at the cost of a sync for each group of events."""
    redis_url: str = DEFAULT_REDIS
    """Address of the journal's Redis: redis://, rediss:// (TLS), unix://, redis+sentinel://HOST,HOST/NAME, or redis+cluster://HOST,HOST; docs/journal.md. `journal` accepts it too: `--journal redis://HOST:PORT/0`."""
    redis_replicas: int = Field(default=0, ge=0)
    """Number of Redis replicas that must have an event before any frontend gets it. A failover then loses nothing that a frontend has seen."""
    redis_prefix: str = Field(default=DEFAULT_PREFIX, pattern=r"^[A-Za-z0-9._-]{1,64}:$")
    """Prefix of all keys in that Redis. Fleets with different prefixes can share a Redis. All workers and hubs of a fleet need the same one."""
    archive_after_s: float | None = Field(default=None, ge=1)
    """Seconds that a session of a worker must be quiet before its events go from Redis into a file of `archive_dir`. Frontends still read them. By default events stay in Redis."""
    archive_dir: Path | None = None
    """Directory for these files. All workers and hubs of a fleet must share it and run as the same user. Several machines need a network file system. By default `archive` in `state_dir`."""
    worker: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """Name of this worker in a fleet. Hubs (`turnwire hub`) then reach the sessions of `serve`. Needs the redis journal. Keep the name and the state directory: sessions are found by them."""
    worker_labels: Names = []
    """Labels by which frontends can choose this worker, in addition to its name."""
    worker_group: str | None = Field(default=None, min_length=1, max_length=64)
    """Name of a group of workers that see the same workspaces and the same files of the CLI. If a worker is gone, another one of its
    group takes over its sessions. Without a group the sessions wait for it."""
    fleet_lease_s: float = Field(default=10, ge=1, le=600)
    """Seconds without a sign of life after which a worker counts as gone. All workers and hubs of a fleet need the same value."""
    fleet_drain_s: float = Field(default=10, ge=0, le=600)
    """Seconds that a worker waits for open turns after SIGTERM or `turnwire fleet drain`; at most half of `stop_timeout_s`. Meanwhile its sessions move to other workers of its group."""
    state_dir: Path = Field(default_factory=state_directory)
    """Directory of the journal, the session records, the access tokens and the audit trail. By default `run` uses a folder per
    workspace inside the usual one. It gets mode 700, and is refused if it belongs to another user."""
    retain_days: float | None = Field(default=30, gt=0)
    """Days after which events are deleted. Empty keeps them. A clock that jumps ahead is not trusted at once: docs/journal.md."""
    retain_events: int | None = Field(default=None, ge=1)
    """Maximum number of events of each session."""
    retain_bytes: int | None = Field(default=1 << 30, ge=1)
    """Maximum bytes of each session. For events in memory: 64 MiB unless this is set."""
    memory_bytes: int | None = Field(default=512 << 20, ge=1 << 20)
    """Maximum bytes of memory for the events of all sessions, if they are kept in memory. The oldest events of the largest session
    are deleted first."""
    field_limit: int = Field(default=262_144, ge=1024)
    """Maximum bytes (UTF-8) of a field in a tool payload. A longer field is cut; payload.get returns all of it."""
    keep_raw: bool = True
    """Store each raw line with its events, for the inspector."""

    agent: str = "claude"
    """The agent to run: a known one (`turnwire agents` lists them), one of `agents`, or the scripted agent as `demo` or `demo-acp`."""
    agents: dict[str, Annotated[AgentSetting, BeforeValidator(_command_alone)]] = {}
    """Further agents by name, or other start commands for known agents. Each is an argument vector or a table. `family` is its wire: claude, qwen or acp. `command` is the argument vector; empty means the known agent's own. `env` has variables for this agent only. `client_files` (none, read or write) is how turnwire may access workspace files for an ACP agent. `client_terminals` lets it run commands through turnwire."""
    agents_file: Path | None = None
    """File with more known agents, which can replace turnwire's own. docs/agents.md describes its format."""
    dialect: Literal["auto", "claude", "miriad", "json_rpc"] = "auto"
    """The agent's dialect of Claude's protocol. `auto` detects it."""
    model: str | None = None
    """Model to request."""
    policy: Policy | None = None
    """Permission policy. Without one the CLI asks by its own rules, and frontends answer."""
    rules: Path | None = None
    """TOML file with permission rules and hooks."""
    mcp_servers: JsonObject = {}
    """MCP servers, in the format of --mcp-config."""
    session_options: AgentOptions = AgentOptions()
    """Default start options of sessions, as in `options` of session.create."""
    hosted_mcp: dict[str, HostedMcp] = {}
    """MCP servers inside the sidecar, by name."""
    pass_env: Names = []
    """Names of further environment variables to pass to the CLI. A trailing * matches any rest."""
    shell: Literal["off", "on"] | None = None
    """Whether frontends may open a shell in a session's workspace. It runs as turnwire's user, in the session's sandbox if there is one,
    and no rule or policy applies to it. Never for the role view, nor for principals that see only some sessions. Default: on where turnwire
    serves this machine alone: on loopback, without `trusted_proxies`, `allowed_hosts`, `allowed_origins`, `public_url` and `worker`."""
    frontend_policy: Literal["supervised", "cli", "plan", "autonomous"] | None = None
    """The loosest policy that a frontend may request. From strict to loose: supervised, cli (the CLI's own rules), plan, autonomous. Default: `policy`. Permission modes that never ask need `autonomous`."""
    frontend_workspaces: Annotated[list[Path], NoDecode, BeforeValidator(_split)] | None = None
    """Directories in which sessions of frontends may work, including subfolders. Default: the directory that turnwire was started in. If that is /, only / itself."""
    worktrees: Path | None = None
    """Folder for git worktrees that frontends may request for their sessions. Without it there are none. A worktree stays until a user removes it; docs/worktrees.md."""
    frontend_env: Names = list(REQUESTABLE)
    """Names of environment variables that a frontend may set; a trailing * matches any rest."""
    frontend_options: Annotated[list[FrontendOption], NoDecode, BeforeValidator(_split)] = []
    """Further options that frontends may choose, although they can start programs, reach files or permit more: session options by name, `mcp_servers`, `agent` (any known one), and `control` (any control request)."""
    permission_timeout_s: float | None = Field(default=None, gt=0)
    """Seconds after which an unanswered request is denied and the turn stopped. Default: no limit."""
    max_pending: int = Field(default=256, ge=1)
    """Maximum number of open requests of one agent (permissions, questions, hooks; not messages to hosted MCP servers). Further ones are refused at once with a notice."""
    stall_after_s: float = Field(default=120, gt=0)
    """Seconds of silence in a turn after which turnwire reports it as stalled."""
    check_uncommitted: bool = True
    """Under `supervised` and `plan`: ask the agent once to go on if it stops with uncommitted changes."""
    accept_unasked: bool = False
    """Under `supervised`: also start agents that do not ask for everything, or for which that is unknown. Otherwise they are
    refused."""
    sandbox: SandboxLevel = "off"
    """Sandbox of agents. `files`: they see only their workspace, their own files and the system. `network`: also, they need permission for each host that is not listed. A session is refused if its sandbox is not available; docs/sandbox.md."""
    sandbox_floor: SandboxLevel | None = None
    """The weakest sandbox that a frontend may request. Default: `sandbox`, or the agent's own setting."""
    sandbox_writable: Names = []
    """Further folders and files that sandboxed agents may write. `~` is the agent's home directory."""
    sandbox_readable: Names = []
    """Further folders and files that sandboxed agents may read."""
    sandbox_unprotected: Names = []
    """Names in a workspace that sandboxed agents may write although programs may run them later, such as `.git` or `.vscode`."""
    sandbox_hosts: Names = []
    """Hosts that agents reach without asking in the sandbox `network`: HOST (ports 80 and 443), HOST:PORT, *.HOST or *. `127.0.0.1:PORT` opens a port of this machine."""
    agent_start_timeout_s: float = Field(default=60, gt=0)
    """Seconds that an agent has to answer turnwire's first request. Prompts wait for it."""
    agent_answer_timeout_s: float = Field(default=30, gt=0)
    """Seconds that an agent has to answer any other request, such as a change of the model."""
    agent_exit_timeout_s: float = Field(default=3, gt=0)
    """Seconds that an agent has to exit after its stdin is closed. Then it gets SIGTERM."""
    max_line_bytes: int = Field(default=128 << 20, ge=1 << 16)
    """Maximum bytes of an agent's line in memory. A longer line is published as malformed, with its beginning."""
    attachments: Literal["blocks", "files"] = "blocks"
    """Pass attachments to the agent as content blocks, or as files in the workspace."""
    max_attachments: int = Field(default=20, ge=0)
    """Maximum number of attachments of one prompt."""
    max_attachment_bytes: int = Field(default=5 << 20, ge=1)
    """Maximum bytes of one attachment. The API accepts images up to 5 MiB."""
    max_sessions: int = Field(default=200, ge=1)
    """Maximum number of sessions at a time."""
    max_processes: int = Field(default=50, ge=1)
    """Maximum number of running CLIs at a time."""
    quotas: dict[str, Quota] = {}
    """Limits of principals by name; `*` applies to all others. Tables with `sessions`, `agents`, `bytes` and `dollars_a_day`: docs/access.md."""
    stop_timeout_s: float = Field(default=25, gt=0)
    """Seconds after SIGTERM, SIGINT or SIGHUP within which turnwire ends, even if something hangs."""

    history: bool = True
    """List conversations that agents on this machine have stored themselves, to search, open and continue them. Everyone with a token can read them."""
    history_dirs: Annotated[list[Path], NoDecode, BeforeValidator(_split)] | None = None
    """Directories with such conversations. Default: this user's ~/.claude/projects, ~/.codex/sessions, ~/.gemini/tmp and ~/.qwen/projects, or the places that these agents' variables name."""
    prices: Path | None = None
    """JSON file with prices of models, for agents that report no cost: `{"models": {"NAME": [{"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}]}}`, in dollars for a million tokens. It overrides turnwire's own table."""
    webhooks: list[Webhook] = []
    """Servers that receive signed events: tables with `url`, `secret_file` or `secret_env`, and `events`."""
    push: bool = True
    """Let browsers subscribe to web push notifications (extra `push`) when a session asks, finishes or fails. They are encrypted for the browser and sent through its maker's push service."""
    push_services: Names = []
    """Further push services besides those of Chrome, Edge, Firefox and Safari, over https: HOST or HOST:PORT. A host name must resolve to public addresses; an IP address may be private."""
    push_contact: str = Field(
        default="mailto:turnwire@example.com", pattern=r"^(mailto:[^\s@]+@[^\s@]+|https://\S+)$"
    )
    """Contact for push services: a mailto: or https: address. Some services refuse invalid ones."""

    record: bool = Field(
        default=False,
        validation_alias=AliasChoices("record", "TURNWIRE_RECORD", "KANDEV_DEBUG_AGENT_MESSAGES"),
    )
    """Write recordings."""
    record_dir: Path = Field(
        default=Path(),
        validation_alias=AliasChoices("record_dir", "TURNWIRE_RECORD_DIR", "KANDEV_DEBUG_LOG_DIR"),
    )
    """Directory of the recordings."""
    trace_limit: int = Field(default=8192, ge=0)
    """Maximum bytes of a raw line, and of an event, in a span. 0 leaves both out."""
    trace_fold_deltas: bool = True
    """Make one span for a streamed block instead of one for each of its pieces."""
    trace_content: Annotated[bool | None, BeforeValidator(_captures)] = Field(
        default=False,
        validation_alias=AliasChoices(
            "trace_content", "TURNWIRE_TRACE_CONTENT", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
        ),
    )
    """Put prompts, answers, arguments and results into GenAI spans. `NO_CONTENT`: no text in any span."""
    trace_spans: Literal["all", "genai"] = "all"
    """`genai` leaves out the spans of single events and control messages."""
    trace_processors: Names = []
    """Your own span processors, as `module:attribute`, called without arguments. Spans are then made even without an exporter."""
    trace_url: str | None = None
    """URL of a trace, with {trace_id} in it. The console links to it."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level of log lines on standard error."""

    @property
    def span_options(self) -> "SpanOptions":
        """The options for SpanMaker."""
        return {
            "limit": 0 if self.trace_content is None else self.trace_limit,
            "fold_deltas": self.trace_fold_deltas,
            "content": bool(self.trace_content),
            "genai_alone": self.trace_spans == "genai",
        }

    @property
    def traces(self) -> bool:
        """Whether to make spans: an exporter or a span processor is configured."""
        from turnwire.tracing.export.wanted import tracing_wanted  # noqa: PLC0415 - a runner makes no spans

        return bool(self.trace_processors) or tracing_wanted()

    @model_validator(mode="before")
    @classmethod
    def _journal_by_address(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Split an address in `journal` into the journal's name and its address."""
        address = given.get("journal")
        if not isinstance(address, str) or "://" not in address:
            return given
        try:
            kind = journal_plugin(address)
        except UnknownJournal:
            return given  # the field's own check says so, and whose it is
        return {**given, "journal": kind.name, "redis_url" if kind is REDIS else "journal_url": address}

    @property
    def archive_folder(self) -> Path:
        """Directory with the events of quiet sessions."""
        return self.state_dir / "archive" if self.archive_dir is None else self.archive_dir.expanduser()

    @property
    def journal_kind(self) -> JournalPlugin:
        """The plug-in of the configured journal."""
        return journal_plugin(self.journal)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic-settings'
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options, then environment, then the file that `load` has put into `init_settings` under `_file`."""
        assert isinstance(init_settings, InitSettingsSource)
        options = dict(init_settings.init_kwargs)
        file = options.pop("_toml", {})
        taken_out = {
            name.lower().removeprefix("turnwire_"): value
            for name, value in secrecy.removed_variables().items()
            if value and name.upper() in secrecy.SECRETS
        }
        return (
            InitSettingsSource(settings_cls, options),
            env_settings,
            InitSettingsSource(settings_cls, taken_out),
            InitSettingsSource(settings_cls, file),
        )


class SettingsFile(Struct, frozen=True):
    """A parsed configuration file."""

    path: Path
    content: bytes
    settings: Mapping[str, object]
    """All settings in the file."""

    def ignored(self) -> list[str]:
        """Return the settings that are ignored while the file is untrusted. Unknown settings are refused in any file."""
        return sorted((self.settings.keys() & _known()) - HARMLESS)


def read_file(path: Path) -> SettingsFile:
    """Read a configuration file; raises ConfigurationError."""
    try:
        with path.open("rb") as file:
            content = file.read(FILE_LIMIT + 1)
        if len(content) > FILE_LIMIT:
            raise ConfigurationError(
                f"{path}: is larger than {FILE_LIMIT} bytes; name a TOML file with --config"
            )
        # Some editors begin a file with a mark of its byte order, which TOML 1.1 lets readers pass over.
        settings = tomllib.loads(content.decode("utf-8-sig"))
        if is_deep(settings):
            raise RecursionError(TOO_DEEP)
        return SettingsFile(path, content, settings)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(unreadable(path, error, "--config")) from error


def unreadable(path: Path, error: Exception, option: str) -> str:
    """Return an error text for an unreadable TOML file. option: the option that can name another file."""
    if isinstance(error, OSError):
        return f"{_shown(path)}: {error.strerror or error}; name a TOML file with {option}"
    if isinstance(error, UnicodeDecodeError):
        return f"{_shown(path)}: this is not UTF-8, which TOML requires; name a TOML file with {option}"
    return f"{_shown(path)}: cannot be read as TOML ({error}); correct the file or name another with {option}"


def say(message: str) -> None:
    """Write a warning to standard error."""
    sys.stderr.write(f"turnwire: {ordered(message)}\n")


def load(
    options: dict[str, object], config: Path | None = None, *, warn: Callable[[str], None] = say
) -> Settings:
    """Merge command-line options (None: not given), the environment and the files. Raises ConfigurationError.

    `warn` is called with a text about ignored settings of an untrusted file.
    """
    _check_environment()
    if config is None and (named := os.environ.get("TURNWIRE_CONFIG")):
        config = Path(named)
    given = {name: value for name, value in options.items() if value is not None}
    written: dict[str, object] = {}
    places: list[Path] = []
    for path in [user_file(), Path(PROJECT_FILE)] if config is None else [config]:
        if config is not None or path.is_file():
            file = read_file(path)
            if path != Path(os.devnull):  # no file, as a program that has its own settings says
                places.append(path)
            written |= (
                file.settings if path.name != PROJECT_FILE or config is not None else _counting(file, warn)
            )
    try:
        arguments: dict[str, Any] = {**given, "_toml": written}
        settings = Settings(**arguments)
    except ValidationError as error:
        raise ConfigurationError(
            "; ".join(_complaint(item["loc"], item["msg"], places) for item in error.errors())
        ) from None
    except SettingsError as error:
        raise ConfigurationError(
            f"{error}: {error.__cause__}; the TURNWIRE_ variable of a table takes JSON"
        ) from None
    except RecursionError:
        raise ConfigurationError(
            "a TURNWIRE_ variable holds JSON that is nested too deeply; correct it"
        ) from None
    if settings.agents_file is not None:
        try:
            add_agents(settings.agents_file.expanduser())
        except AgentsFileError as error:
            raise ConfigurationError(str(error)) from None
    return settings


def _counting(file: SettingsFile, warn: Callable[[str], None]) -> Mapping[str, object]:
    """Return the settings of the file in the current directory that count."""
    ignored = file.ignored()
    if not ignored or trust_store().trusts(file.path, file.content):
        return file.settings
    warn(
        f"{_shown(full_name(file.path))} is not trusted, so what it says of {', '.join(ignored)} does not count; "
        f"read it, then trust it with `turnwire trust`, or name it with --config {file.path}"
    )
    return {name: value for name, value in file.settings.items() if name not in ignored}


def _known() -> frozenset[str]:
    """Return the names of all settings that a file may contain, at the top level."""
    names = set(Settings.model_fields)
    for field in Settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names.update(choice for choice in field.validation_alias.choices if isinstance(choice, str))
    return frozenset(names)


def _check_environment() -> None:
    """Raise ConfigurationError for a TURNWIRE_ variable that is not a setting."""
    known = {f"TURNWIRE_{name.upper()}" for name in Settings.model_fields} | OTHER_VARIABLES
    for name in sorted(os.environ):
        if name.startswith("TURNWIRE_") and name not in known and not secrecy.is_secret(name):
            meant = difflib.get_close_matches(name, known, 1)
            hint = (
                f"did you mean {meant[0]}?" if meant else "unset it, or see docs/settings.md for the settings"
            )
            raise ConfigurationError(f"the environment variable {name} is not a setting; {hint}")


def _shown(path: Path) -> str:
    """Return a path for a terminal, without control characters: a folder may come from a stranger."""
    return visible_line(str(path))


def _complaint(location: tuple[int | str, ...], message: str, files: list[Path]) -> str:
    name, message = ".".join(map(str, location)), message.removeprefix("Value error, ")
    if not name.isprintable():
        name = repr(name)
    if len(location) > 1 and (field := Settings.model_fields.get(str(location[0]))) is not None:
        # an item of a table or a list has neither an option nor a variable
        hint = "there is no such setting" if message == "Extra inputs are not permitted" else message
        return f"setting {name}: {hint} (in {', '.join([f'TURNWIRE_{str(location[0]).upper()}', *map(_shown, files)])})"
    field = Settings.model_fields.get(name)
    others = (
        field.validation_alias.choices if field and isinstance(field.validation_alias, AliasChoices) else []
    )
    variables = dict.fromkeys(
        [f"TURNWIRE_{name.upper()}", *(str(other) for other in others if other != name)]
    )
    places = [f"--{name.replace('_', '-')}", *variables, *map(_shown, files)]
    if field is None and name.isidentifier() and name not in _known():
        meant = difflib.get_close_matches(name, _known(), 1)
        hint = f"did you mean {meant[0]}?" if meant else "docs/settings.md has the settings"
        where = f" (in {', '.join(map(_shown, files))})" if files else ""
        return f"setting {name}: there is no such setting; {hint}{where}"
    return f"setting {name}: {message} (set by one of {', '.join(places)})"

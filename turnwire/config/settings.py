"""Configuration: options of the command line first, then the environment, then a TOML file.

Environment variables are `TURNWIRE_` and the field's name; Kandev's KANDEV_DEBUG_AGENT_MESSAGES and
KANDEV_DEBUG_LOG_DIR are understood for recordings, and the standard OTEL_* names by the exporter itself.
The file is the one that was named; else `turnwire.toml` in the current directory, as far as it is trusted
(turnwire/config/trust.py), and beneath it `config.toml` in the user's configuration directory.
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
"""Bytes of a configuration file."""

OTHER_VARIABLES = frozenset({"TURNWIRE_CONFIG", "TURNWIRE_PROCESS", "TURNWIRE_AGENT_SCRIPT"})
"""Our variables that are not settings: the file's name, the mark of started processes, the scripted agent's script."""


def _split(value: object) -> object:
    """Read a list as environment variables have them: separated by commas, or as JSON; raises ValueError for bad JSON."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return from_json(value)
    return [part.strip() for part in value.split(",") if part.strip()]


Names = Annotated[list[str], NoDecode, BeforeValidator(_split)]
"""A list of names; in the environment separated by commas, or a JSON array."""


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
    """Read OpenTelemetry's values for the place of content. turnwire puts content into spans or nowhere."""
    words = {"no_content": None, "event_only": False, "span_only": True, "span_and_event": True}
    return words.get(value.lower(), value) if isinstance(value, str) else value


def _command_alone(value: object) -> object:
    """Read an argument vector: the older form of an agent's table."""
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


def state_directory() -> Path:
    """Return the folder of turnwire's state: $XDG_STATE_HOME/turnwire, or ~/.local/state/turnwire."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "turnwire"


def user_file() -> Path:
    """Return where the user's configuration file is: $XDG_CONFIG_HOME/turnwire/config.toml, or below ~/.config."""
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "turnwire" / "config.toml"


def trust_store() -> TrustStore:
    """Return the store of trusted files. No setting moves it, since it decides about settings."""
    return TrustStore(state_directory() / "trusted")


class HostedMcp(BaseModel):
    """An MCP server that lives in the sidecar: an entry point, or a command that speaks MCP on stdio."""

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
    """A receiver of events elsewhere: docs/frontends.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: Annotated[str, AfterValidator(_web_address)]
    """Where events are posted to, by http or https."""
    secret_file: Path | None = None
    """File with the secret that messages are signed with; refused while anybody but its owner can read it."""
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
    """What one principal may use; what is left out has no limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sessions: int | None = Field(default=None, ge=0)
    """Sessions that exist at a time."""
    agents: int | None = Field(default=None, ge=0)
    """Agents that run at a time."""
    bytes: int | None = Field(default=None, ge=0)
    """Bytes of the events of its sessions. Beyond them nothing new begins."""
    dollars_a_day: float | None = Field(default=None, ge=0)
    """What its turns may cost a day (UTC). A turn that has begun goes on."""


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
    """Port to listen on; 0 takes any free one. Without one it is the port of the last time, or else the first free one from the default on."""
    token: SecretStr | None = None
    """Access token of the role control. Default: a random one, kept in the state directory."""
    view_token: SecretStr | None = None
    """Access token of the role view. Default: a random one, kept in the state directory."""
    token_file: Path | None = None
    """File that contains only the token of the role control. Refused if anyone but its owner can read it."""
    view_token_file: Path | None = None
    """File that contains only the token of the role view; as `token_file`."""
    token_fd: int | None = Field(default=None, ge=3, lt=1 << 20)
    """Descriptor that the token of the role control is read from, to its end; then it is closed."""
    view_token_fd: int | None = Field(default=None, ge=3, lt=1 << 20)
    """Descriptor that the token of the role view is read from; as `token_fd`."""
    keep_tokens: bool = True
    """Keep random tokens in the state directory for the next start. Without it they exist only in memory, where an agent of the
    same user does not find them. Open tabs then end with the process."""
    tls_certificate: Path | None = None
    """PEM file with the certificate chain; together with tls_key the hub speaks TLS."""
    tls_key: Path | None = None
    """PEM file with the private key."""
    allowed_origins: Names = []
    """Origins of pages that may connect, in addition to the hub's own."""
    allowed_hosts: Names = []
    """Accepted values of the Host header, in addition to loopback and `host`."""
    trusted_proxies: Names = []
    """Addresses and networks of reverse proxies: their `X-Forwarded-For` or `Forwarded` header says where a request comes from."""
    proxy_user_header: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    """Header in which one of `trusted_proxies` names the user that it has logged in, for example by OIDC. A request with it from
    any other address is refused. Default: proxies log nobody in."""
    proxy_user_role: Role = "control"
    """Role of such a user: control or view."""
    proxy_user_sessions: Annotated[Names, AfterValidator(_scope)] = ["own"]
    """Which sessions such a user may see: own, folder:/PATH, all."""
    public_url: Annotated[str, AfterValidator(_web_address)] | None = None
    """Address at which other devices reach the console, as that of a proxy with https: for the QR code of `--qr`."""
    compression: bool = False
    """Offer permessage-deflate to frontends."""
    max_connections: int = Field(default=1024, ge=1)
    """Frontends at a time; the last eighth of them must have the role control."""

    journal: Annotated[str, AfterValidator(_journal_name)] = "sqlite"
    """Storage of events: sqlite, memory, redis, or the name of an installed plug-in. An address such as redis://HOST works as
    well."""
    journal_url: str | None = None
    """Address for the journal of a plug-in. `--journal NAME://HOST` sets it."""
    durability: Literal["process", "power"] = "process"
    """What the SQLite journal survives: the end of the sidecar, or also a power failure, with a sync for each group of events."""
    redis_url: str = DEFAULT_REDIS
    """The Redis of the journal: redis://, rediss:// (TLS) or unix://, or redis+sentinel://HOST,HOST/NAME, or redis+cluster://HOST,HOST; docs/journal.md. `journal` takes it, too: `--journal redis://HOST:PORT/0`."""
    redis_replicas: int = Field(default=0, ge=0)
    """Replicas of that Redis that must have an event before any frontend gets it, so that a failover loses nothing that was seen."""
    redis_prefix: str = Field(default=DEFAULT_PREFIX, pattern=r"^[A-Za-z0-9._-]{1,64}:$")
    """How all keys in that Redis begin. Fleets with different ones can share a Redis; the same in all workers and hubs of a fleet."""
    worker: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """Name in a fleet, whose hubs (`turnwire hub`) then reach the sessions of `serve`; needs the redis journal. Keep it, with the state directory: sessions are known by it."""
    worker_labels: Names = []
    """Labels by which frontends may choose this worker, in addition to its name."""
    worker_group: str | None = Field(default=None, min_length=1, max_length=64)
    """Workers of one group see the same workspaces and the same files of the CLI: one takes over the sessions of another that is
    gone. Without a group the sessions wait for it."""
    fleet_lease_s: float = Field(default=10, ge=1, le=600)
    """Seconds without a sign of life after which a worker counts as gone. The same in all workers and hubs of a fleet."""
    fleet_drain_s: float = Field(default=10, ge=0, le=600)
    """Seconds that open turns of a worker have to end after SIGTERM or `turnwire fleet drain`, at most half of `stop_timeout_s`. Meanwhile its sessions go to other workers of its group."""
    state_dir: Path = Field(default_factory=state_directory)
    """Directory of the journal, the session store, the access tokens and the audit trail. By default `run` uses a folder per
    workspace below the usual one. It gets mode 700, and is refused if it belongs to another user."""
    retain_days: float | None = Field(default=30, gt=0)
    """Events older than this are deleted; empty keeps them. A clock that jumps ahead is not trusted at once: docs/journal.md."""
    retain_events: int | None = Field(default=None, ge=1)
    """Most events of each session."""
    retain_bytes: int | None = Field(default=1 << 30, ge=1)
    """Most bytes of each session. If events are kept in memory: 64 MiB unless this is set."""
    memory_bytes: int | None = Field(default=512 << 20, ge=1 << 20)
    """Most bytes of memory for the events of all sessions, if they are kept in memory. The oldest events of the largest session
    are deleted first."""
    field_limit: int = Field(default=262_144, ge=1024)
    """Bytes of UTF-8 above which a field of a tool payload is cut; payload.get gives the whole."""
    keep_raw: bool = True
    """Keep each raw line beside its events, for the inspector."""

    agent: str = "claude"
    """An agent that is known by name (`turnwire agents` lists them), `demo` or `demo-acp`: the scripted agent; or a name from `agents`."""
    agents: dict[str, Annotated[AgentSetting, BeforeValidator(_command_alone)]] = {}
    """More agents by name, or known agents with another start. Each is the argument vector, or a table. `family` is what it speaks: claude, qwen or acp. `command` is the argument vector; empty takes a known agent's own. `env` has variables for it alone. `client_files` (none, read or write) says what an ACP agent may have turnwire do with the workspace's files. `client_terminals` says whether it may have turnwire run commands."""
    agents_file: Path | None = None
    """A file of agents that are known by name beside turnwire's own, or in their place; docs/agents.md has its form."""
    dialect: Literal["auto", "claude", "miriad", "json_rpc"] = "auto"
    """The agent's dialect."""
    model: str | None = None
    """Model to ask for."""
    policy: Policy | None = None
    """Permission policy; without one the CLI asks by its own rules and frontends answer."""
    rules: Path | None = None
    """TOML file with permission rules and hooks."""
    mcp_servers: JsonObject = {}
    """MCP servers as in --mcp-config."""
    session_options: AgentOptions = AgentOptions()
    """Further options for the start of a CLI: `options` of session.create, each for sessions that do not name it."""
    hosted_mcp: dict[str, HostedMcp] = {}
    """MCP servers that live in the sidecar, by name."""
    pass_env: Names = []
    """Names of environment variables that the CLI gets, in addition to the usual ones. A trailing * matches any rest."""
    frontend_policy: Literal["supervised", "cli", "plan", "autonomous"] | None = None
    """The loosest policy that a frontend may ask for, from the strictest: supervised, cli (none of turnwire's), plan, autonomous. Without one it is `policy`. Permission modes in which nobody is asked need `autonomous`."""
    frontend_workspaces: Annotated[list[Path], NoDecode, BeforeValidator(_split)] | None = None
    """Directories that sessions of frontends may work in, and what is below them; without any the one that turnwire was started in. One that is started in / and names none takes / alone."""
    worktrees: Path | None = None
    """Folder for the git worktrees that sessions of frontends get on request; without one there are none. A worktree stays until somebody removes it; docs/worktrees.md."""
    frontend_env: Names = list(REQUESTABLE)
    """Names of environment variables that a frontend may set; a trailing * matches any rest."""
    frontend_options: Annotated[list[FrontendOption], NoDecode, BeforeValidator(_split)] = []
    """What frontends may choose beyond what is configured, though it may start programs, reach files or permit more: options of sessions by name, `mcp_servers`, `agent` (any that is known), and `control` (any control request)."""
    permission_timeout_s: float | None = Field(default=None, gt=0)
    """Seconds after which an unanswered request is denied and the turn stopped; without limit when absent."""
    max_pending: int = Field(default=256, ge=1)
    """Requests of one agent that may wait at a time (permissions, questions, hooks; messages to hosted MCP servers apart); more are refused at once, and a notice says so."""
    stall_after_s: float = Field(default=120, gt=0)
    """Seconds of silence in a running turn after which it is called stalled."""
    check_uncommitted: bool = True
    """Under `supervised` and `plan`: send the agent back once when it stops with uncommitted changes."""
    accept_unasked: bool = False
    """Under `supervised`: also start an agent that does not ask about everything, or for which that is unknown. Otherwise such an
    agent is refused."""
    sandbox: SandboxLevel = "off"
    """What agents are kept from: `files` shows them their workspace, their own files and the system alone; `network` also has them ask for each host that is not listed. A session whose sandbox cannot be had is refused; docs/sandbox.md."""
    sandbox_floor: SandboxLevel | None = None
    """The weakest sandbox that a frontend may ask for. Without one it is `sandbox`, or that of the agent."""
    sandbox_writable: Names = []
    """Folders and files that sandboxed agents may write besides; `~` is the agent's home directory."""
    sandbox_readable: Names = []
    """Folders and files that they may read besides."""
    sandbox_unprotected: Names = []
    """Names in a workspace that they may write although these start programs later, such as `.git` or `.vscode`."""
    sandbox_hosts: Names = []
    """Hosts that agents in the sandbox `network` reach without asking: HOST (ports 80 and 443), HOST:PORT, *.HOST or *. `127.0.0.1:PORT` opens a port of this machine."""
    agent_start_timeout_s: float = Field(default=60, gt=0)
    """Seconds that an agent has to answer our greeting; a prompt waits for it."""
    agent_answer_timeout_s: float = Field(default=30, gt=0)
    """Seconds that an agent has to answer any other request of ours, such as to change the model."""
    agent_exit_timeout_s: float = Field(default=3, gt=0)
    """Seconds that an agent has to exit by itself once its stdin is closed; then it is sent SIGTERM."""
    max_line_bytes: int = Field(default=128 << 20, ge=1 << 16)
    """Bytes of one line of an agent that are held; a longer one is published as malformed, with its beginning."""
    attachments: Literal["blocks", "files"] = "blocks"
    """Attachments as content blocks, or as files in the workspace."""
    max_attachments: int = Field(default=20, ge=0)
    """Attachments of one prompt."""
    max_attachment_bytes: int = Field(default=5 << 20, ge=1)
    """Bytes of one attachment; the API takes images of 5 MiB."""
    max_sessions: int = Field(default=200, ge=1)
    """Sessions that exist at a time."""
    max_processes: int = Field(default=50, ge=1)
    """CLIs that run at a time."""
    quotas: dict[str, Quota] = {}
    """What principals may use, by name; `*` is for each that is not named. Tables with `sessions`, `agents`, `bytes` and `dollars_a_day`: docs/access.md."""
    stop_timeout_s: float = Field(default=25, gt=0)
    """Seconds from SIGTERM, SIGINT or SIGHUP to the end of turnwire, whatever does not end by itself."""

    history: bool = True
    """List the conversations that agents on this machine have kept themselves, those that turnwire did not start: to search, to open and to go on with. What is in them goes to whoever has a token."""
    history_dirs: Annotated[list[Path], NoDecode, BeforeValidator(_split)] | None = None
    """Directories that hold such conversations; without any this user's own: ~/.claude/projects, ~/.codex/sessions, ~/.gemini/tmp and ~/.qwen/projects, or where these agents' variables say."""
    prices: Path | None = None
    """JSON file with what models cost, for agents that tell no cost: `{"models": {"NAME": [{"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}]}}`, in dollars for a million tokens. It comes before turnwire's own table."""
    webhooks: list[Webhook] = []
    """Who elsewhere is told of events, signed: tables with `url`, `secret_file` or `secret_env`, and `events`."""
    push: bool = True
    """Let browsers subscribe to notifications by web push (the extra `push`): what any session asks, finishes or fails at, encrypted for the one browser, by the push service of its maker."""
    push_services: Names = []
    """Push services that may be called beside those of Chrome, Edge, Firefox and Safari: HOST or HOST:PORT, by https. One by name must lead to public addresses; one that is named by its address counts as it stands."""
    push_contact: str = Field(
        default="mailto:turnwire@example.com", pattern=r"^(mailto:[^\s@]+@[^\s@]+|https://\S+)$"
    )
    """Whom a push service can write to about what is sent: a mailto: or https: address. Some refuse one that cannot be."""

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
    """Bytes of the raw line and of the normalized event that a span carries; 0 leaves both out."""
    trace_fold_deltas: bool = True
    """One span for a streamed block; without it, one for each of its pieces."""
    trace_content: Annotated[bool | None, BeforeValidator(_captures)] = Field(
        default=False,
        validation_alias=AliasChoices(
            "trace_content", "TURNWIRE_TRACE_CONTENT", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
        ),
    )
    """Prompts, answers, arguments and results in the spans of the GenAI conventions; `NO_CONTENT`: no text in any attribute or event of a span."""
    trace_spans: Literal["all", "genai"] = "all"
    """`genai` leaves out the spans of single events and control messages."""
    trace_processors: Names = []
    """Span processors of your own, as `module:attribute`, called without arguments; spans are made also when nothing else exports them."""
    trace_url: str | None = None
    """Link to a trace, with {trace_id} in it, shown in the console."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Which log lines are written to standard error."""

    @property
    def span_options(self) -> "SpanOptions":
        """What spans are made and what they tell."""
        return {
            "limit": 0 if self.trace_content is None else self.trace_limit,
            "fold_deltas": self.trace_fold_deltas,
            "content": bool(self.trace_content),
            "genai_alone": self.trace_spans == "genai",
        }

    @property
    def traces(self) -> bool:
        """Spans are made: the environment names a place for them, or a processor of your own gets them."""
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
    def journal_kind(self) -> JournalPlugin:
        """The kind of journal that `journal` names."""
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
            for name, value in secrecy.kept().items()
            if value and name.upper() in secrecy.SECRETS
        }
        return (
            InitSettingsSource(settings_cls, options),
            env_settings,
            InitSettingsSource(settings_cls, taken_out),
            InitSettingsSource(settings_cls, file),
        )


class SettingsFile(Struct, frozen=True):
    """A configuration file as it was read."""

    path: Path
    content: bytes
    settings: Mapping[str, object]
    """All that it says."""

    def ignored(self) -> list[str]:
        """Return the settings that do not count while it is not trusted; unknown ones are refused in any file."""
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
    """Say why a TOML file cannot be read, and what to do: name another by the option, or mend it."""
    if isinstance(error, OSError):
        return f"{_shown(path)}: {error.strerror or error}; name a TOML file with {option}"
    if isinstance(error, UnicodeDecodeError):
        return f"{_shown(path)}: this is not UTF-8, which TOML requires; name a TOML file with {option}"
    return f"{_shown(path)}: cannot be read as TOML ({error}); mend the file or name another with {option}"


def say(message: str) -> None:
    """Write a warning to standard error."""
    sys.stderr.write(f"turnwire: {ordered(message)}\n")


def load(
    options: dict[str, object], config: Path | None = None, *, warn: Callable[[str], None] = say
) -> Settings:
    """Merge options that were given (None: not given), the environment and the files; raises ConfigurationError.

    `warn` is told what an untrusted file says in vain.
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
    """Return what counts of the file that lies in the current directory."""
    ignored = file.ignored()
    if not ignored or trust_store().trusts(file.path, file.content):
        return file.settings
    warn(
        f"{_shown(full_name(file.path))} is not trusted, so what it says of {', '.join(ignored)} does not count; "
        f"read it, then trust it with `turnwire trust`, or name it with --config {file.path}"
    )
    return {name: value for name, value in file.settings.items() if name not in ignored}


def _known() -> frozenset[str]:
    """All names of settings in a file; some have further ones."""
    names = set(Settings.model_fields)
    for field in Settings.model_fields.values():
        if isinstance(field.validation_alias, AliasChoices):
            names.update(choice for choice in field.validation_alias.choices if isinstance(choice, str))
    return frozenset(names)


def _check_environment() -> None:
    """Refuse a variable that looks like a setting and is none; raises ConfigurationError."""
    known = {f"TURNWIRE_{name.upper()}" for name in Settings.model_fields} | OTHER_VARIABLES
    for name in sorted(os.environ):
        if name.startswith("TURNWIRE_") and name not in known and not secrecy.is_secret(name):
            meant = difflib.get_close_matches(name, known, 1)
            hint = (
                f"did you mean {meant[0]}?" if meant else "unset it, or see docs/settings.md for the settings"
            )
            raise ConfigurationError(f"the environment variable {name} is not a setting; {hint}")


def _shown(path: Path) -> str:
    """Write a name for a terminal: a stranger's folder may have control characters in its own."""
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
        return f"setting {name}: there is no such setting; {hint} (in {', '.join(map(_shown, files))})"
    return f"setting {name}: {message} (set by one of {', '.join(places)})"

"""The argv of the CLI, from options; pure.

Every value is passed as `--option=value`, since a value may begin with "-". What a version cannot do is refused here,
in words, before a process exists: an unknown option makes the CLI exit with nothing but a line on stderr.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from adapter.version import Version, abilities
from protocol.json_values import JsonObject

PROTOCOL_OPTIONS = (
    "-p",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--permission-prompt-tool=stdio",
    "--include-partial-messages",
    "--replay-user-messages",
    "--verbose",
)
"""What makes the CLI speak stream-json in both directions (spec 3, "Protocol Overview")."""

FORWARD_SUBAGENTS = "--forward-subagent-text"
"""Has the CLI say what subagents say and think; without, only their calls are told."""

NEWER_OPTIONS = {"--include-partial-messages", "--replay-user-messages", "--fork-session"}
"""What the oldest versions do not know, and do without: they write whole messages and resume under a new id anyway."""

PERMISSION_MODES = ("default", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto")
"""The modes that some version knows."""


class CommandError(ValueError):
    """Options that make no command; says which option, and what to do."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(f"{option}: {message}")
        self.option = option
        """The field of CommandOptions that is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOptions:
    """What a CLI is started with, beside the options of the protocol."""

    model: str | None = None
    """Model; the CLI's default when None."""
    resume: str | None = None
    """Session id to go on with."""
    resume_at: str | None = None
    """Message to go back to; needs `resume`. What names it depends on the version."""
    fork: bool = False
    """Go on under a new session id; needs `resume` or `continue_latest`."""
    continue_latest: bool = False
    """Go on with the newest session of the workspace."""
    session_id: str | None = None
    """Id (a UUID) for the new session."""
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
    max_turns: int | None = None
    """Model calls that a turn may make."""
    append_system_prompt: str | None = None
    """What to add to the system prompt."""
    add_dirs: Sequence[str] = ()
    """Directories beside the workspace that the CLI may use."""
    settings: str | None = None
    """Settings file, or settings as JSON."""
    extra_args: Sequence[str] = ()
    """Passed on as they are, last."""
    bare: bool = False
    """Add nothing at all: the agent is not the CLI and takes its protocol for granted."""


def build_command(
    executable: Sequence[str], options: CommandOptions, version: Version | None = None
) -> list[str]:
    """Return the argv; raises CommandError for options that contradict each other or that the version lacks."""
    if not executable or not executable[0]:
        raise CommandError("executable", "no program to run; name the CLI's")
    for argument in (*executable, *options.extra_args):
        if "\0" in argument:
            raise CommandError("extra_args", "an argument contains a NUL character")
    if options.bare:
        return [*executable, *options.extra_args]
    _check(options, version)
    argv = [*executable, *PROTOCOL_OPTIONS]
    if abilities(version).forwards_subagents:
        argv.append(FORWARD_SUBAGENTS)
    for name, value in _values(options):
        if value is not None:
            argv.append(f"{name}={_text(name, value)}")
    for name, wanted in _switches(options):
        if wanted:
            argv.append(name)
    if abilities(version).is_early:
        argv = [argument for argument in argv if argument not in NEWER_OPTIONS]
    argv += [f"--add-dir={_text('--add-dir', folder)}" for folder in options.add_dirs]
    return [*argv, *options.extra_args]


def _values(options: CommandOptions) -> list[tuple[str, str | None]]:
    return [
        ("--model", options.model),
        ("--resume", options.resume),
        ("--resume-session-at", options.resume_at),
        ("--session-id", options.session_id),
        ("--permission-mode", options.permission_mode),
        ("--mcp-config", _mcp_config(options.mcp_servers)),
        ("--allowedTools", ",".join(options.allowed_tools) or None),
        ("--disallowedTools", ",".join(options.disallowed_tools) or None),
        ("--max-turns", None if options.max_turns is None else str(options.max_turns)),
        ("--append-system-prompt", options.append_system_prompt),
        ("--settings", options.settings),
    ]


def _switches(options: CommandOptions) -> list[tuple[str, bool]]:
    return [
        ("--fork-session", options.fork),
        ("--continue", options.continue_latest),
        ("--dangerously-skip-permissions", options.skip_permissions),
    ]


def _check(options: CommandOptions, version: Version | None) -> None:
    if options.resume is not None and options.continue_latest:
        raise CommandError("continue_latest", "contradicts resume; give one of the two")
    if options.resume_at is not None and options.resume is None:
        raise CommandError("resume_at", "needs resume, the session that the message belongs to")
    if options.fork and options.resume is None and not options.continue_latest:
        raise CommandError("fork", "needs resume or continue_latest, the session to branch off")
    if options.session_id is not None and options.resume is not None and not options.fork:
        raise CommandError("session_id", "contradicts resume, which keeps its session's id; fork as well")
    if options.permission_mode is not None and options.permission_mode not in PERMISSION_MODES:
        raise CommandError("permission_mode", f"must be one of {', '.join(PERMISSION_MODES)}")
    if options.max_turns is not None and options.max_turns < 1:
        raise CommandError("max_turns", f"must be at least 1, not {options.max_turns}")
    if options.resume_at is not None:
        check_resume_at(options.resume_at, version)


def check_resume_at(message: str, version: Version | None) -> None:
    """Raise CommandError for a message that a version cannot go back to, named like this."""
    match abilities(version).resume_at:
        case "nothing":
            raise CommandError("resume_at", f"CLI {version} cannot go back to a message; resume without it")
        case "api_message_id" if not message.startswith("msg_"):
            raise CommandError(
                "resume_at", f"CLI {version} wants the API's message id (msg_…), not {message!r}"
            )
        case "message_uuid" if message.startswith("msg_"):
            raise CommandError(
                "resume_at", f"wants the uuid of a message, not the API's message id {message!r}"
            )
        case _:
            pass


def _mcp_config(servers: Mapping[str, JsonObject]) -> str | None:
    for name, server in servers.items():
        _check_mcp_server(name, server)
    return json.dumps({"mcpServers": dict(servers)}, separators=(",", ":")) if servers else None


def _check_mcp_server(name: str, server: JsonObject) -> None:
    kind = server.get("type", "stdio" if "command" in server else None)
    needed = {"stdio": "command", "sse": "url", "http": "url", "sdk": "name"}.get(str(kind))
    if needed is None:
        raise CommandError("mcp_servers", f"{name}: type must be stdio, sse, http or sdk, not {kind!r}")
    if not isinstance(server.get(needed), str) or not server[needed]:
        raise CommandError("mcp_servers", f"{name}: a server of type {kind} needs {needed!r}, a string")


def _text(option: str, value: str) -> str:
    if "\0" in value:
        raise CommandError(option, "contains a NUL character")
    return value

"""The argv of the CLI, from options; pure.

Every value is passed as `--option=value`, since a value may begin with "-". What a version cannot do is refused here,
in words, before a process exists: an unknown option makes the CLI exit with nothing but a line on stderr.
"""

import json
from collections.abc import Mapping, Sequence

from turnwire.adapter.claude.version import PERMISSION_MODES, capabilities, check_resume_at
from turnwire.adapter.options import CommandError, CommandOptions, check_executable
from turnwire.adapter.process.version import Version
from turnwire.protocol.json_values import JsonObject

PROTOCOL_OPTIONS = (
    "-p",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--permission-prompt-tool=stdio",
    "--include-partial-messages",
    "--replay-user-messages",
    "--verbose",
)
"""What makes the CLI speak stream-json in both directions."""

UNATTENDED_OPTIONS = (
    "-p",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--verbose",
    "--include-partial-messages",
    "--strict-mcp-config",
)
"""The same for one prompt without a human, as in a run: no permission requests, no echo of the prompt."""

FORWARD_SUBAGENTS = "--forward-subagent-text"
"""Makes the CLI write the texts and thoughts of subagents. Without it, it writes only their calls."""

NEWER_OPTIONS = {"--include-partial-messages", "--replay-user-messages", "--fork-session"}
"""What the oldest versions do not know, and do without: they write whole messages and resume under a new id anyway."""

SINCE: Mapping[str, Version] = {
    "agents": Version(2, 0, 14),
    "setting_sources": Version(2, 0, 14),
    "tools": Version(2, 0, 76),
    "max_budget_usd": Version(2, 0, 76),
    "output_schema": Version(2, 0, 76),
    "plugins": Version(2, 0, 76),
    "checkpointing": Version(2, 0, 76),
    "effort": Version(2, 1, 101),
}
"""The oldest version tried that knows an option; the version tried before it ends on it, or takes no notice."""

CHECKPOINTING = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
"""The variable that switches `checkpointing` on."""

MAX_ARGUMENT = 131_071
"""Bytes that Linux takes in one argument."""


def build_command(
    executable: Sequence[str], options: CommandOptions, version: Version | None = None
) -> list[str]:
    """Return the argv; raises CommandError for options that contradict each other or that the version lacks."""
    check_executable(executable)
    if options.bare:
        return list(executable)
    _check(options, version)
    argv = [*executable, *(UNATTENDED_OPTIONS if options.unattended else PROTOCOL_OPTIONS)]
    if not options.unattended and capabilities(version).forwards_subagents:
        argv.append(FORWARD_SUBAGENTS)
    for name, value in _values(options):
        if value is not None:
            argv.append(f"{name}={option_text(name, value)}")
    for name, wanted in _switches(options):
        if wanted:
            argv.append(name)
    if capabilities(version).is_early:
        argv = [argument for argument in argv if argument not in NEWER_OPTIONS]
    argv += [f"--add-dir={option_text('--add-dir', folder)}" for folder in options.add_dirs]
    return argv + [f"--plugin-dir={option_text('--plugin-dir', folder)}" for folder in options.plugins]


def _values(options: CommandOptions) -> list[tuple[str, str | None]]:
    return [
        ("--model", options.model),
        ("--resume", options.resume),
        ("--resume-session-at", options.resume_at),
        ("--permission-mode", options.permission_mode),
        ("--mcp-config", _mcp_config(options)),
        ("--allowedTools", ",".join(options.allowed_tools) or None),
        ("--disallowedTools", ",".join(options.disallowed_tools) or None),
        ("--tools", None if options.tools is None else ",".join(options.tools)),
        ("--max-turns", None if options.max_turns is None else str(options.max_turns)),
        ("--max-budget-usd", None if options.max_budget_usd is None else str(options.max_budget_usd)),
        ("--effort", options.effort),
        ("--thinking", "disabled" if options.thinking_disabled else None),
        ("--fallback-model", options.fallback_model),
        ("--system-prompt", options.system_prompt),
        ("--append-system-prompt", options.append_system_prompt),
        ("--json-schema", json_text(options.output_schema)),
        ("--agents", json_text(options.agents or None)),
        ("--setting-sources", None if options.setting_sources is None else ",".join(options.setting_sources)),
        ("--settings", json_text(options.settings)),
    ]


def _switches(options: CommandOptions) -> list[tuple[str, bool]]:
    return [
        ("--fork-session", options.fork),
        ("--continue", options.continue_latest),
        ("--dangerously-skip-permissions", options.skip_permissions),
    ]


def _check(options: CommandOptions, version: Version | None) -> None:
    if options.resume is not None and options.continue_latest:
        raise CommandError("continue_latest", "cannot be used with resume; give one of the two")
    if options.resume_at is not None and options.resume is None:
        raise CommandError("resume_at", "needs resume: the session of the message")
    if options.fork and options.resume is None and not options.continue_latest:
        raise CommandError("fork", "needs resume or continue_latest: the session to fork")
    if options.permission_mode is not None and options.permission_mode not in PERMISSION_MODES:
        raise CommandError("permission_mode", f"must be one of {', '.join(PERMISSION_MODES)}")
    if options.max_turns is not None and options.max_turns < 1:
        raise CommandError("max_turns", f"must be at least 1, not {options.max_turns}")
    for name, oldest in SINCE.items():
        if version is not None and version < oldest and _is_given(options, name):
            raise CommandError(
                name,
                f"CLI {version} is not known to have this option; leave it out, or use CLI {oldest} or newer",
            )
    if options.resume_at is not None:
        check_resume_at(options.resume_at, version)


def _is_given(options: CommandOptions, name: str) -> bool:
    value = getattr(options, name)
    # an empty list of tools or of sources says something: none of them
    return value is not None if name in ("tools", "setting_sources", "output_schema") else bool(value)


def _mcp_config(options: CommandOptions) -> str | None:
    if options.unattended:
        # whoever waits for its servers is told by the CLI which of them it does not take
        return json_text({"mcpServers": dict(options.mcp_servers)}) if options.mcp_servers else None
    return mcp_config(options.mcp_servers)


def mcp_config(servers: Mapping[str, JsonObject]) -> str | None:
    """Return MCP servers as the CLI's configuration has them; None without any. Raises CommandError."""
    for name, server in servers.items():
        _check_mcp_server(name, server)
    return json_text({"mcpServers": dict(servers)}) if servers else None


def json_text(value: Mapping[str, object] | None) -> str | None:
    """Return JSON for an option; None for None."""
    return None if value is None else json.dumps(value, separators=(",", ":"))


def _check_mcp_server(name: str, server: JsonObject) -> None:
    kind = server.get("type", "stdio" if "command" in server else None)
    needed = {"stdio": "command", "sse": "url", "http": "url", "sdk": "name"}.get(str(kind))
    if needed is None:
        raise CommandError("mcp_servers", f"{name}: type must be stdio, sse, http or sdk, not {kind!r}")
    if not isinstance(server.get(needed), str) or not server[needed]:
        raise CommandError("mcp_servers", f"{name}: a server of type {kind} needs {needed!r}, a string")


def option_text(option: str, value: str) -> str:
    """Return a value that may stand in an argument; raises CommandError."""
    if "\0" in value:
        raise CommandError(option, "contains a NUL character")
    if len(option) + 1 + len(value.encode("utf-8", "surrogatepass")) >= MAX_ARGUMENT:
        raise CommandError(
            option, f"has more than {MAX_ARGUMENT} bytes, the maximum for an argument; shorten it"
        )
    return value

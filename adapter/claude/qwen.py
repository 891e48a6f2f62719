"""Qwen Code: Claude Code's protocol with its own options. The facts here were seen with 0.24.4.

It has no hooks, so policies decide when it asks for permission. It takes back no prompt. Which prompts it is asked
about depends on its approval mode: without one it may have a classifier decide, so that one is always given.
"""

from collections.abc import Sequence

from turnwire.adapter.claude.command import json_text, mcp_config, option_text
from turnwire.adapter.claude.variant import CliVariant
from turnwire.adapter.claude.version import ClaudeCapabilities
from turnwire.adapter.options import CommandError, CommandOptions
from turnwire.adapter.process.version import Version

PROTOCOL_OPTIONS = (
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--include-partial-messages",
)

MODES = {
    "default": "default",
    "plan": "plan",
    "acceptEdits": "auto-edit",
    "auto-edit": "auto-edit",
    "bypassPermissions": "yolo",
    "yolo": "yolo",
    "auto": "auto",
}
"""Permission modes -> its approval modes; it understands Claude Code's names and its own."""


def build_command(
    executable: Sequence[str],
    options: CommandOptions,
    version: Version | None = None,  # noqa: ARG001  of all versions tried so far the same
) -> list[str]:
    """Return the argv; raises CommandError for options that contradict each other."""
    if options.resume is not None and options.continue_latest:
        raise CommandError("continue_latest", "cannot be used with resume; give one of the two")
    if options.fork and options.resume is None and not options.continue_latest:
        raise CommandError("fork", "needs resume or continue_latest: the session to fork")
    mode = "bypassPermissions" if options.skip_permissions else options.permission_mode or "default"
    if mode not in MODES:
        raise CommandError("permission_mode", f"must be one of {', '.join(MODES)}")
    values = [
        ("--model", options.model),
        ("--resume", options.resume),
        ("--approval-mode", MODES[mode]),
        ("--mcp-config", mcp_config(options.mcp_servers)),
        ("--allowed-tools", ",".join(options.allowed_tools) or None),
        ("--exclude-tools", ",".join(options.disallowed_tools) or None),
        ("--max-session-turns", None if options.max_turns is None else str(options.max_turns)),
        ("--fallback-model", options.fallback_model),
        ("--system-prompt", options.system_prompt),
        ("--append-system-prompt", options.append_system_prompt),
        ("--json-schema", json_text(options.output_schema)),
    ]
    argv = [*executable, *PROTOCOL_OPTIONS]
    argv += [f"{name}={option_text(name, value)}" for name, value in values if value is not None]
    argv += ["--continue"] if options.continue_latest else []
    argv += ["--fork-session"] if options.fork else []
    return argv + [f"--add-dir={option_text('--add-dir', folder)}" for folder in options.add_dirs]


CAPABILITIES = ClaudeCapabilities(
    resumes=True,
    continues_latest=True,
    keeps_session_id=True,
    forks=True,
    interrupts=True,
    models=True,
    permission_modes=tuple(MODES),
    policies=True,
    mcp_servers=True,
    options=frozenset(
        {
            "add_dirs",
            "allowed_tools",
            "append_system_prompt",
            "disallowed_tools",
            "fallback_model",
            "max_turns",
            "output_schema",
            "system_prompt",
        }
    ),
    waits_after_cancel=False,
    asks_despite_hooks=False,
    forwards_subagents=False,
    is_early=False,
)

QWEN = CliVariant(build_command, lambda _: CAPABILITIES, is_claude_code=False)

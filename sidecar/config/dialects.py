"""What a session's dialect means for how its agent is started.

An agent that is known to speak another dialect is not Claude Code: it gets none of its options, and has no permission
protocol. What would silently not happen with it is refused. `auto` starts a CLI as any other, and listens.
"""

from collections.abc import Sequence
from dataclasses import replace

from adapter.claude.command import CommandError, CommandOptions
from adapter.options import SessionOptions
from hub.wire.frames import AgentOptions
from protocol.dialects import DIALECTS

NOTHING = CommandOptions()

FOREIGN = ("miriad", "json_rpc")
"""Dialects of agents that take none of Claude Code's options."""


def in_dialect(options: SessionOptions, name: str) -> SessionOptions:
    """Return the options for an agent of that dialect; raises CommandError for what it cannot do."""
    dialect = DIALECTS[name]
    if name not in FOREIGN:
        return replace(options, dialect=dialect)
    for option in _impossible(options):
        raise CommandError(option, f"an agent that speaks {name} cannot do this; leave it out")
    return replace(
        options,
        dialect=dialect,
        command=CommandOptions(bare=True),
        ask_version=False,
    )


def _impossible(options: SessionOptions) -> Sequence[str]:
    command = options.command
    wanted = {
        "resume": command.resume or command.continue_latest,
        "permission_mode": command.permission_mode,
        "policy": options.policy not in (None, "autonomous"),
        "rules": options.rules,
        "hooks": options.hooks,
        "hosted_mcp": options.hosted_servers,
        "mcp_servers": command.mcp_servers,
        **{name: getattr(command, name) != getattr(NOTHING, name) for name in AgentOptions.model_fields},
    }
    return [name for name, value in wanted.items() if value]

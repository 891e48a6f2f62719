"""What differs among the CLIs that speak Claude Code's control protocol: their options, and what they can do."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from turnwire.adapter.claude.command import build_command
from turnwire.adapter.claude.version import ClaudeCapabilities, capabilities
from turnwire.adapter.options import CommandOptions
from turnwire.adapter.process.version import Version


class CliVariant(Struct, frozen=True):
    """A CLI that speaks Claude Code's control protocol, by what differs from the others."""

    build_command: Callable[[Sequence[str], CommandOptions, Version | None], list[str]]
    """Make the argv; raises CommandError."""
    capabilities: Callable[[Version | None], ClaudeCapabilities]
    """What a version of it can do."""
    is_claude_code: bool = True
    """Whether its version means what Claude Code's does; another one is not asked for it."""


CLAUDE_CODE = CliVariant(build_command, capabilities)

"""The abilities of a family's agents: one table per family, so that no other code compares versions."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from turnwire.adapter.options import CommandOptions, SessionOptions


class Capabilities(Struct, frozen=True, kw_only=True):
    """An agent's abilities. The defaults mean that it has none."""

    resumes: bool = False
    """Continues an earlier conversation."""
    says_whether_it_resumes: bool = False
    """Reports at its start, without a prompt, whether it continues a conversation."""
    continues_latest: bool = False
    """Continues the newest conversation of the workspace."""
    keeps_session_id: bool = False
    """Continues under its earlier session id."""
    forks: bool = False
    """Continues under a new session id, and leaves the old conversation unchanged."""
    resume_at: Literal["nothing", "api_message_id", "message_uuid"] = "nothing"
    """The kind of id for a message to go back to."""
    interrupts: bool = False
    """Stops a turn and lives on."""
    withdraws_prompts: bool = False
    """Gives back a prompt that waits."""
    models: bool = False
    """Changes the model while it runs."""
    permission_modes: Sequence[str] = ()
    """The modes that can be requested. Empty if it has none, or names them only when it runs."""
    names_modes: bool = False
    """Names its modes when it runs. Only then is a requested mode checked."""
    policies: bool = False
    """Asks for permission, so that policies and rules have an effect."""
    never_asks: Sequence[str] = ()
    """What it does without asking, in its strictest mode, apart from reading and searching. None if unknown."""
    hooks: bool = False
    """Runs hooks of the configuration."""
    hosts_servers: bool = False
    """Uses MCP servers that live in the sidecar."""
    mcp_servers: bool = False
    """Uses the MCP servers of the session."""
    images: bool = False
    """Takes images directly. Otherwise they are saved and named in the prompt."""
    rewinds_files: bool = False
    """Puts files back to where they were at a message."""
    options: frozenset[str] = frozenset()
    """Further fields of CommandOptions that mean something to it."""


OF_THEIR_OWN = frozenset(
    {
        "bare",
        "continue_latest",
        "fork",
        "mcp_servers",
        "model",
        "permission_mode",
        "resume",
        "resume_at",
        "skip_permissions",
        "replay_history",
        "thinking_disabled",
        "unattended",
    }
)
"""Fields of CommandOptions that a capability of their own is about, or that change nothing where they mean nothing."""

_NOTHING = CommandOptions()


def impossible(options: SessionOptions, can: Capabilities) -> Sequence[str]:
    """Return the requested options that the agent cannot fulfil, by their names in the configuration. They would silently have no
    effect.
    """
    command = options.command
    wanted: dict[str, tuple[object, bool]] = {
        "resume": (command.resume or command.continue_latest, can.resumes),
        "permission_mode": (command.permission_mode, bool(can.permission_modes) or can.names_modes),
        "policy": (options.policy not in (None, "autonomous"), can.policies),
        "rules": (options.rules, can.policies),
        "hooks": (options.hooks, can.hooks),
        "hosted_mcp": (options.hosted_servers, can.hosts_servers),
        "mcp_servers": (command.mcp_servers, can.mcp_servers),
    }
    for name in CommandOptions.__struct_fields__:
        if name not in OF_THEIR_OWN:
            is_given = getattr(command, name) != getattr(_NOTHING, name)
            wanted[name] = (is_given, name in can.options)
    return [name for name, (is_wanted, is_possible) in wanted.items() if is_wanted and not is_possible]

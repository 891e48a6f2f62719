"""What the agents of a family can do: one table a family, which everybody asks who would otherwise ask for a version."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from turnwire.adapter.options import CommandOptions, SessionOptions


class Capabilities(Struct, frozen=True, kw_only=True):
    """What an agent can do; nothing that is not said."""

    resumes: bool = False
    """Goes on with a conversation of its past."""
    says_whether_it_resumes: bool = False
    """Says on its start, without a prompt, whether it goes on with a conversation."""
    continues_latest: bool = False
    """Goes on with the newest conversation of the workspace."""
    keeps_session_id: bool = False
    """Goes on under the session id that it had."""
    forks: bool = False
    """Goes on under a new session id, and leaves the old conversation as it is."""
    resume_at: Literal["nothing", "api_message_id", "message_uuid"] = "nothing"
    """What names a message that it can go back to."""
    interrupts: bool = False
    """Stops a turn and lives on."""
    withdraws_prompts: bool = False
    """Gives back a prompt that waits."""
    models: bool = False
    """Changes the model while it runs."""
    permission_modes: Sequence[str] = ()
    """The modes that can be asked for; none where an agent has none, or names its own once it runs."""
    names_modes: bool = False
    """Names its modes once it runs: whether there is one that is asked for is seen then."""
    policies: bool = False
    """Asks for permission, so that policies and rules have an effect."""
    never_asks: Sequence[str] = ()
    """What it does without asking, in the mode in which it asks most; reading and searching is left out. None where it is not known."""
    hooks: bool = False
    """Runs hooks of the configuration."""
    hosts_servers: bool = False
    """Uses MCP servers that live in the sidecar."""
    mcp_servers: bool = False
    """Uses the MCP servers of the session."""
    images: bool = False
    """Takes images as they are; otherwise they are saved and named."""
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
    """Return what is asked for and cannot be done, as the configuration calls it: it would silently not happen."""
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

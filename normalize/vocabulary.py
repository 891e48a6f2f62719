"""Closed sets of words that several packages share: each is said here once, and every match on one is exhaustive."""

from typing import Literal, TypeAlias

Policy: TypeAlias = Literal["autonomous", "supervised", "plan"]
"""Who decides what an agent may do."""

Priority: TypeAlias = Literal["now", "next", "later"]
"""When a prompt is served: at once, after the running turn, after all that wait."""

SandboxLevel: TypeAlias = Literal["off", "files", "network"]
"""What an agent is kept from: nothing; files that are not its own; hosts that nobody has allowed as well."""

SessionState: TypeAlias = Literal[
    "starting", "idle", "running", "waiting", "stopping", "exited", "replaying", "unreachable"
]
"""What a session does, in a word."""

VoidReason: TypeAlias = Literal["cancelled", "interrupted", "turn_ended", "process_exited"]
"""Why a pending request needs no answer any more."""

Role: TypeAlias = Literal["control", "view"]
"""What a frontend may do: everything, or watch."""

ToolKind: TypeAlias = Literal[
    "read", "search", "edit", "execute", "fetch", "delegate", "note", "plan", "question", "other"
]
"""What a tool does, whatever its agent calls it: `delegate` starts a subagent, `note` keeps a list of tasks, `plan` shows a plan."""

ALWAYS_MODE = "allow_always:mode:"
"""What the id of an answer begins with that switches the permission mode; the mode follows."""

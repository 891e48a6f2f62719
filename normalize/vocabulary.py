"""Closed sets of words that several packages share. Each is defined once here, and every match on one is exhaustive."""

from typing import Literal, TypeAlias, get_args

Policy: TypeAlias = Literal["autonomous", "supervised", "plan"]
"""How permissions of an agent are decided."""

Priority: TypeAlias = Literal["now", "next", "later"]
"""When a prompt is served: at once, after the running turn, or after all waiting prompts."""

SandboxLevel: TypeAlias = Literal["off", "files", "network"]
"""What the sandbox denies an agent: nothing, foreign files, or also hosts that nobody allowed."""

HowDivided: TypeAlias = Literal["shared", "copy", "dashes", "sha256", "slug", "ids", "cwd", "rows", "apart"]
"""How an agent's own place is divided between projects in a sandbox (adapter/sandbox/parts.py)."""

SessionState: TypeAlias = Literal[
    "starting", "idle", "running", "waiting", "stopping", "exited", "replaying", "unreachable"
]
"""A session's state."""

VoidReason: TypeAlias = Literal["cancelled", "interrupted", "turn_ended", "process_exited"]
"""Why a pending request needs no answer any more."""

Role: TypeAlias = Literal["control", "view"]
"""The rights of a frontend: everything, or only watching."""

ToolKind: TypeAlias = Literal[
    "read", "search", "edit", "execute", "fetch", "delegate", "note", "plan", "question", "other"
]
"""The kind of a tool, independent of its name: `delegate` starts a subagent, `note` keeps a list of tasks, `plan` shows a plan."""

ALWAYS_MODE = "allow_always:mode:"
"""Prefix of the id of an option that switches the permission mode. The mode follows."""

Act: TypeAlias = Literal["command", "write", "edit", "outside", "web"]
"""What an agent may ask about: a command, a new file, a change of a file, reading outside of its folder, fetching a page."""

ACTS: tuple[Act, ...] = get_args(Act)
CHANGES: tuple[Act, ...] = ("command", "write", "edit")
"""What every agent has to ask about under the policy supervised."""

FolderKind: TypeAlias = Literal["plain", "git"]
"""A folder in a git repository, or another one. Some agents ask about less in a repository."""

FOLDERS: tuple[FolderKind, ...] = get_args(FolderKind)

Asked: TypeAlias = Literal["held", "not held", "not tried"]
"""Whether an agent was seen to ask first."""

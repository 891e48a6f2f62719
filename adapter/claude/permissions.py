"""The meaning of a permission policy for Claude Code: its mode at the start, and its hooks; pure.

Kandev runs supervised and plan in bypassPermissions. There a hook's "ask" is obeyed by 2.1 alone: 1.0 and 2.0 run the
tool. In the modes used here it is obeyed by every version, and a hook that is lost leaves the CLI asking.
"""

from typing import NamedTuple

from turnwire.adapter.hooks.settings import callback_id
from turnwire.adapter.permissions.policies import PRE_TOOL, STOP, PermissionSettings
from turnwire.protocol.json_values import JsonObject

OF_FILES = "Bash|Read|Grep|Glob|LS|Edit|MultiEdit|Write|NotebookEdit|NotebookRead"
"""The tools that are judged where nothing but turnwire's own state is protected, in the CLI's notation."""


class Launch(NamedTuple):
    """How the CLI is to be started."""

    permission_mode: str | None
    skip_permissions: bool


def launch(settings: PermissionSettings, permission_mode: str | None = None) -> Launch:
    """Return the permission mode to start in; `permission_mode` is the one that was asked for."""
    match settings.policy:
        case "autonomous" if not settings.rules:
            return Launch(permission_mode, skip_permissions=True)
        case "autonomous":
            # rules may ask, and that is obeyed by every version only where checks are on
            return Launch("default", skip_permissions=False)
        case "supervised":
            wanted = permission_mode if permission_mode in ("acceptEdits", "plan") else "default"
            return Launch(wanted, skip_permissions=False)
        case "plan":
            return Launch("plan", skip_permissions=False)
        case None:
            return Launch(permission_mode, skip_permissions=False)


def hook_table(settings: PermissionSettings) -> JsonObject | None:
    """Return the `hooks` of `initialize`; None when there are none."""
    table: dict[str, list[JsonObject]] = {}
    if settings.wants_judging or settings.protected is not None:
        matcher = None if settings.wants_judging else OF_FILES
        table["PreToolUse"] = [{"matcher": matcher, "hookCallbackIds": [PRE_TOOL]}]
    if settings.wants_stop:
        table["Stop"] = [{"matcher": None, "hookCallbackIds": [STOP]}]
    for number, hook in enumerate(settings.hooks):
        entry = {
            "matcher": hook.matcher,
            "hookCallbackIds": [callback_id(number)],
            "timeout": hook.cli_timeout,
        }
        table.setdefault(hook.event, []).append(entry)
    return dict(table) or None

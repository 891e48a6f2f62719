"""Messages that become one event each, whatever the state: one function a type, in one table."""

from collections.abc import Callable
from typing import Any, Literal

from turnwire.normalize.common.event_context import EventFields
from turnwire.normalize.events import (
    AgentEvent,
    ApiRetry,
    Consolidation,
    HookActivity,
    Notice,
    RateLimit,
)
from turnwire.normalize.model import JsonObject
from turnwire.protocol.claude import incidents, notices, system, tasks
from turnwire.protocol.json_values import Json
from turnwire.protocol.miriad import system as miriad
from turnwire.protocol.quantities import amount

Level = Literal["info", "warning", "error"]

_LEVELS: dict[str, Level] = {"warning": "warning", "error": "error"}


def notice(
    here: EventFields, kind: str, text: str, level: Level = "info", details: JsonObject | None = None
) -> Notice:
    """Return a notice."""
    return Notice(**here, kind=kind, level=level, text=text, details=details)


def rate_limit_event(here: EventFields, message: notices.RateLimitEvent) -> RateLimit | None:
    """Put a limit, or that one is near, into words; that all is well is no news."""
    info = message.rate_limit_info
    if info.status == "allowed":
        return None
    window = f" ({info.rate_limit_type})" if info.rate_limit_type else ""
    utilization = amount(info.utilization)
    share = "" if utilization is None else f": {utilization:.0%} used"
    said = {
        "rejected": f"Rate limited by API{window}",
        "allowed_warning": f"Close to the rate limit{window}{share}",
    }.get(info.status, f"Within the rate limit{window}{share}")
    return RateLimit(
        **here,
        rate_limit_message=said,
        status=info.status or None,
        resets_at=None if info.resets_at is None else int(info.resets_at),
        rate_limit_type=info.rate_limit_type,
        utilization=utilization,
    )


def rate_limit(here: EventFields, message: notices.RateLimit) -> AgentEvent:
    """Translate the older form, which contains nothing but the limit."""
    said = message.message if isinstance(message.message, str) and message.message else "Rate limited by API"
    return RateLimit(**here, rate_limit_message=said)


def api_retry(here: EventFields, message: system.ApiRetry) -> AgentEvent:
    """Pass on an attempt that failed."""
    return ApiRetry(
        **here,
        attempt=message.attempt,
        max_retries=message.max_retries or None,
        delay_ms=amount(message.retry_delay_ms),
        status=message.error_status,
        error=message.error or None,
    )


def hook(here: EventFields, message: tasks.HookMessage) -> AgentEvent:
    """Pass on a hook that the CLI runs itself."""
    done = message if isinstance(message, tasks.HookResponse) else None
    phase: Literal["started", "progress", "finished"] = "finished" if done else "started"
    if isinstance(message, tasks.HookProgress):
        phase = "progress"
    return HookActivity(
        **here,
        phase=phase,
        hook_event=message.hook_event or None,
        hook_id=message.hook_id or None,
        hook_name=message.hook_name or None,
        outcome=None if done is None else done.outcome,
        output=message.output or message.stdout or None,
        stderr=message.stderr or None,
        exit_code=None if done is None else done.exit_code,
    )


def permission_denied(here: EventFields, message: system.PermissionDenied) -> AgentEvent:
    """Publish a refusal without a permission request."""
    details: dict[str, Json] = {
        "tool_name": message.tool_name,
        "tool_call_id": message.tool_use_id,
        "decided_by": message.decision_reason_type,
    }
    present = {name: value for name, value in details.items() if value}
    text = message.message or f"{message.tool_name} was not allowed"
    return notice(here, "permission_denied", text, "warning", present)


def model_fallback(here: EventFields, message: system.ModelFallback) -> AgentEvent:
    """Pass on that another model answers."""
    text = message.content or f"{message.fallback_model} answers instead of {message.original_model}"
    details: dict[str, Json] = {
        "trigger": message.trigger,
        "original_model": message.original_model,
        "fallback_model": message.fallback_model,
    }
    return notice(here, "model_fallback", text, "warning", details)


def background_tasks(here: EventFields, message: tasks.BackgroundTasksChanged) -> AgentEvent:
    """Pass on the list of tasks that run."""
    count = len(message.tasks)
    text = f"{count} background task{'' if count == 1 else 's'} running"
    return notice(here, "background_tasks_changed", text, details={"tasks": list(message.tasks)})


def auth_status(here: EventFields, message: notices.AuthStatus) -> AgentEvent:
    """Report progress of signing in."""
    state = "Signing in" if message.is_authenticating else "Signing in is over"
    text = message.error or "\n".join(message.output) or state
    return notice(here, "auth_status", text, "error" if message.error else "info")


def tool_use_summary(here: EventFields, message: notices.ToolUseSummary) -> AgentEvent:
    """Pass on a line about tool calls."""
    ids: list[Json] = list(message.preceding_tool_use_ids)
    return notice(here, "tool_use_summary", message.summary, details={"tool_call_ids": ids})


def informational(here: EventFields, message: system.Informational) -> AgentEvent:
    """Pass on a note."""
    return notice(here, "informational", message.content, _LEVELS.get(message.level, "info"))


def refusal(here: EventFields, message: incidents.ModelRefusal) -> AgentEvent:
    """Pass on that the model's provider refused."""
    text = message.content or message.api_refusal_explanation or "The model's provider refused this request"
    details: dict[str, Json] = {
        "category": message.api_refusal_category,
        "refused_prompt": message.refused_user_message_uuid,
        "original_model": message.original_model,
    }
    return notice(
        here, message.subtype, text, "warning", {key: value for key, value in details.items() if value}
    )


def writes_lost(here: EventFields, message: incidents.SessionWritesLost) -> AgentEvent:
    """Pass on that the transcript is incomplete."""
    text = f"The CLI could not write its {', '.join(message.lost) or 'files'} ({message.error_code})"
    return notice(here, "session_writes_lost", text, "error")


def plugin_install(here: EventFields, message: incidents.PluginInstall) -> AgentEvent:
    """Report progress of a plugin's installation."""
    text = f"Plugin {message.name or ''}: {message.error or message.status}".replace("Plugin :", "Plugins:")
    return notice(here, "plugin_install", text, "error" if message.error else "info")


def memory_recall(here: EventFields, message: incidents.MemoryRecall) -> AgentEvent:
    """Pass on which memories were read."""
    text = f"{len(message.memories)} memories recalled"
    return notice(
        here, "memory_recall", text, details={"mode": message.mode, "memories": list(message.memories)}
    )


def files_persisted(here: EventFields, message: incidents.FilesPersisted) -> AgentEvent:
    """Pass on which files were stored."""
    text = f"{len(message.files)} files stored, {len(message.failed)} not"
    details: dict[str, Json] = {"files": list(message.files), "failed": list(message.failed)}
    return notice(here, "files_persisted", text, "warning" if message.failed else "info", details)


def consolidation(here: EventFields, message: miriad.Consolidation) -> AgentEvent:
    """Report what was written to long-term memory (miriad-code)."""
    return Consolidation(
        **here, entries_created=message.entries_created or 0, entries_updated=message.entries_updated or 0
    )


# `Any`: the key of an entry is the type its function takes, which a dict cannot say.
TABLE: dict[type, Callable[[EventFields, Any], AgentEvent]] = {
    notices.RateLimit: rate_limit,
    notices.AuthStatus: auth_status,
    notices.ToolUseSummary: tool_use_summary,
    notices.PromptSuggestion: lambda here, told: notice(here, "prompt_suggestion", told.suggestion),
    system.ApiRetry: api_retry,
    system.Retry: lambda here, _told: ApiRetry(**here, attempt=1),
    system.PermissionDenied: permission_denied,
    system.Informational: informational,
    system.Notification: lambda here, told: notice(here, "notification", told.text),
    system.SessionStateChanged: lambda here, told: notice(here, "session_state_changed", told.state),
    system.SessionTitleChanged: lambda here, told: notice(here, "session_title_changed", told.title or ""),
    tasks.HookStarted: hook,
    tasks.HookProgress: hook,
    tasks.HookResponse: hook,
    tasks.BackgroundTasksChanged: background_tasks,
    incidents.ModelRefusalFallback: refusal,
    incidents.ModelRefusalNoFallback: refusal,
    incidents.MemoryRecall: memory_recall,
    incidents.FilesPersisted: files_persisted,
    incidents.PluginInstall: plugin_install,
    incidents.MirrorError: lambda here, told: notice(here, "mirror_error", told.error, "error"),
    incidents.SessionWritesLost: writes_lost,
    incidents.ElicitationComplete: lambda here, told: notice(
        here, "elicitation_complete", f"{told.mcp_server_name}: {told.elicitation_id}"
    ),
    incidents.WorkerShuttingDown: lambda here, told: notice(
        here, "worker_shutting_down", told.reason or "The agent is about to exit", "warning"
    ),
    miriad.Consolidation: consolidation,
}
"""Message type -> its event."""

"""`system` messages about what runs beside the conversation: hooks that are commands, tasks, subagents."""

from msgspec import Struct, field

from turnwire.protocol.claude.system import System
from turnwire.protocol.json_values import JsonObject
from turnwire.protocol.quantities import Amount, Count


class HookMessage(System, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The base of what is said about hooks that are commands."""

    hook_id: str = ""
    """The run of the hook."""
    hook_name: str = ""
    """The hook, such as `PreToolUse:Bash`."""
    hook_event: str = ""
    """The event it belongs to, such as `PreToolUse`."""
    stdout: str = ""
    """What it wrote so far."""
    stderr: str = ""
    """What it complained about so far."""
    output: str = ""
    """Both, in order."""


class HookStarted(HookMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="hook_started"):
    """A hook started."""


class HookProgress(HookMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="hook_progress"):
    """A hook wrote something."""


class HookResponse(HookMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="hook_response"):
    """A hook ended."""

    exit_code: int | None = None
    """Its exit code."""
    outcome: str | None = None
    """success, error or cancelled."""


class TaskUsage(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a background task used so far."""

    total_tokens: Count = 0
    """Tokens."""
    tool_uses: Count = 0
    """Tool calls."""
    duration_ms: Amount = 0
    """Milliseconds."""


class TaskMessage(System, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The base of what is said about background tasks and subagents (2.1)."""

    task_id: str = ""
    """The task."""
    tool_use_id: str | None = None
    """The tool call that started it."""
    run_id: str | None = None
    """This run of the task (2.1.330)."""
    description: str | None = None
    """What it is, or what it does now."""
    subagent_type: str | None = None
    """Which subagent, if it is one."""
    usage: TaskUsage | None = None
    """What it used so far."""


class TaskStarted(TaskMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="task_started"):
    """A task started."""

    task_type: str | None = None
    """local_agent, local_bash, …"""
    prompt: str | None = None
    """What a subagent was told."""
    is_backgrounded: bool | None = None
    """Whether the turn goes on without it (2.1.330)."""


class TaskProgress(TaskMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="task_progress"):
    """A task goes on."""

    last_tool_name: str | None = None
    """The tool it used last."""


class TaskUpdated(TaskMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="task_updated"):
    """Some fields of a task changed."""

    patch: JsonObject = field(default_factory=dict)
    """The fields that changed: status, end_time, …"""


class TaskNotification(
    TaskMessage, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="task_notification"
):
    """A task ended."""

    status: str = ""
    """completed, failed or stopped."""
    output_file: str | None = None
    """Where its output is."""
    summary: str | None = None
    """What came of it."""


class BackgroundTasksChanged(
    System, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="background_tasks_changed"
):
    """The list of tasks that run changed (2.1.330)."""

    tasks: list[JsonObject] = field(default_factory=list)
    """The tasks that run."""

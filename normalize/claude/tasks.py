"""Background tasks and subagents, joined to the tool call that started each.

Only the first and the last message of a task name its tool call, so the call is kept until the task is over. Another call can
continue
a finished subagent. Then both calls count, since the subagent's work stays nested below the first one.
"""

import re
from collections.abc import Callable

from msgspec import Struct

from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.endings import LostReason
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import TaskUpdate
from turnwire.protocol.claude.tasks import TaskNotification, TaskProgress, TaskStarted, TaskUpdated
from turnwire.protocol.json_values import text_at

_EXIT_CODE = re.compile(r"\bexit code (-?\d{1,10})\b")
"""How the CLI ends the summary of a command."""

_REMEMBERED = 256
"""Most tasks whose calls are remembered. Finished tasks may be continued."""

AnyTaskMessage = TaskStarted | TaskProgress | TaskUpdated | TaskNotification


class Task(Struct):
    """A running task."""

    tool_call_id: str | None
    kind: str | None
    description: str | None
    parent: str | None = None
    """The call whose subagent started the task."""


class Tasks:
    """The tasks that run."""

    def __init__(self, place: EventContext) -> None:
        self._place = place
        self._running: dict[str, Task] = {}
        self._calls: BoundedDict[list[str]] = BoundedDict(_REMEMBERED)

    def on_message(
        self, message: AnyTaskMessage, call_id: str | None, parent_of: Callable[[str | None], str | None]
    ) -> TaskUpdate:
        """Return the events of a task's message about a call. `parent_of` returns the call whose subagent made a call."""
        task = self._running.get(message.task_id) or Task(None, None, None)
        task.tool_call_id = call_id or task.tool_call_id
        calls = self.calls(message.task_id)
        if task.tool_call_id is not None and task.tool_call_id not in calls:
            self._calls.put(message.task_id, [*calls[:1], task.tool_call_id])
        status, summary, output_file, last_tool, exit_code = "running", None, None, None, None
        match message:
            case TaskStarted():
                task.kind = message.task_type or ("local_agent" if message.subagent_type else None)
                task.description = message.description
                task.parent = parent_of(task.tool_call_id)
                self._running[message.task_id] = task
            case TaskProgress():
                last_tool, summary = message.last_tool_name, message.description
            case TaskUpdated():
                status = text_at(message.patch, "status") or status
                summary = text_at(message.patch, "error") or None
            case _:
                status, summary = message.status or "completed", message.summary
                output_file = message.output_file or None
                said = _EXIT_CODE.search(summary or "")
                exit_code = int(said[1]) if said else None
                self._running.pop(message.task_id, None)
        usage = message.usage
        return TaskUpdate(
            **self._place.here,
            parent_tool_call_id=task.parent,
            task_id=message.task_id,
            tool_call_id=task.tool_call_id,
            task_status=status,
            task_type=task.kind,
            description=task.description or (None if summary else message.description),
            summary=summary,
            last_tool_name=last_tool,
            total_tokens=None if usage is None else usage.total_tokens,
            tool_uses=None if usage is None else usage.tool_uses,
            duration_ms=None if usage is None else round(usage.duration_ms),
            output_file=output_file,
            exit_code=exit_code,
        )

    def calls(self, task_id: str) -> list[str]:
        """Return the call that started the task and, if there is one, the last call that continued it."""
        return self._calls.get(task_id) or []

    def forget(self) -> None:
        """The process is gone, and its tasks with it."""
        self._running.clear()
        self._calls.clear()


def why_lost(status: str) -> LostReason:
    """Return why a task's open calls have no result, by the task's status."""
    return "no_result" if status == "completed" else "interrupted"

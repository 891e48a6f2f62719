"""The agent's list of things to do, as ACP's plan: whole at each change, where the agent may tell of entries alone."""

from collections.abc import Iterable

from turnwire_client.events import ToolUpdate
from turnwire_client.payloads import CreateTaskPayload, ManageTodosPayload, TodoItem
from turnwire_client.values import JsonObject

STATUS = frozenset({"pending", "in_progress", "completed"})

MOST = 1000
"""Entries that are kept; the oldest go first."""


class Plan:
    """One session's list."""

    def __init__(self) -> None:
        self._items: dict[str, TodoItem] = {}

    def handle(self, event: ToolUpdate) -> bool:
        """Take the end of a call in; tell whether the list is another now. A subagent's list is its own."""
        if event.tool_status != "complete" or event.parent_tool_call_id is not None:
            return False
        match event.normalized:
            case ManageTodosPayload(manage_todos=todos):
                if todos.operation in {"write", "list"}:
                    self._items = {}
                self._merge(todos.items)
            case CreateTaskPayload(create_task=task):
                name = task.task_id or str(len(self._items) + 1)
                self._merge([TodoItem(id=name, description=task.title, status="pending")])
            case _:
                return False
        return True

    def update(self) -> JsonObject | None:
        """Return the plan; None while there is none."""
        if not self._items:
            return None
        entries = [
            {
                "content": item.description,
                "priority": "medium",
                "status": item.status if item.status in STATUS else "pending",
            }
            for item in self._items.values()
        ]
        return {"sessionUpdate": "plan", "entries": entries}

    def _merge(self, items: Iterable[TodoItem]) -> None:
        for place, item in enumerate(items, 1):
            name = item.id or str(place)
            former = self._items.get(name)
            if item.status == "deleted":
                self._items.pop(name, None)
            else:
                self._items[name] = TodoItem(
                    description=item.description or (former.description if former else ""),
                    status=item.status or (former.status if former else "pending"),
                )
        while len(self._items) > MOST:
            del self._items[next(iter(self._items))]

"""The agent's list of things to do, and the plans it tells, as ACP's plan: whole at each change, where the agent may tell of entries alone."""

from collections.abc import Iterable

from turnwire.client.events import AgentPlan, ToolUpdate
from turnwire.client.payloads import CreateTaskPayload, ManageTodosPayload, TodoItem
from turnwire.client.values import JsonObject

STATUS = frozenset({"pending", "in_progress", "completed"})

MOST = 1000
"""Entries that are kept; the oldest go first."""


class Plan:
    """One session's list, and its plans."""

    def __init__(self) -> None:
        self._items: dict[str, TodoItem] = {}
        self._plans: dict[str | None, list[TodoItem]] = {}
        """What agents tell as a plan, by its id."""

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

    def tell(self, event: AgentPlan) -> JsonObject:
        """Take a plan in that no call shows; return all there is. One in words alone is one entry."""
        words = [TodoItem(description=event.plan_content, status="pending")] if event.plan_content else []
        self._plans.pop(event.plan_id, None)
        if items := (words if event.items is None else list(event.items)):
            self._plans[event.plan_id] = items[:MOST]
        while len(self._plans) > 1 and sum(map(len, self._plans.values())) > MOST:
            del self._plans[next(iter(self._plans))]
        return self.update() or {"sessionUpdate": "plan", "entries": []}

    def update(self) -> JsonObject | None:
        """Return the plan; None while there is none."""
        items = [*self._items.values(), *(item for items in self._plans.values() for item in items)]
        if not items:
            return None
        entries = [
            {
                "content": item.description,
                "priority": "medium",
                "status": item.status if item.status in STATUS else "pending",
            }
            for item in items
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

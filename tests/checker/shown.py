"""What a frontend shows after it has followed the events: it knows the events' documentation and nothing else."""

from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]


@dataclass
class Item:
    """A block of a thread."""

    kind: str
    value: str
    source: str | None = None
    message_id: str | None = None


@dataclass
class Thread:
    items: list[Item] = field(default_factory=list)
    by_block: dict[tuple[str, str | None, int | None, str | None], Item] = field(default_factory=dict)

    def text(self, kind: str, event: JsonObject, piece: str) -> None:
        key = (kind, event.get("message_id"), event.get("block_index"), event.get("operation_id"))
        item = self.by_block.get(key)
        if item is None:
            item = Item(kind, "", event.get("source"), event.get("message_id"))
            self.by_block[key] = item
            self.items.append(item)
        item.value = piece if event.get("replace") else item.value + piece

    def retract(self, message_ids: list[str]) -> None:
        for key, item in list(self.by_block.items()):
            if item.message_id in message_ids:
                del self.by_block[key]
                self.items.remove(item)


class Shown:
    """All threads and turns, in the order of the events."""

    def __init__(self, events: list[JsonObject]) -> None:
        self.events = events
        self.threads: dict[str | None, Thread] = {}
        for event in events:
            self._follow(event)

    def thread(self, parent: str | None) -> list[Item]:
        """What a thread shows, blocks that were emptied left out."""
        thread = self.threads.get(parent, Thread())
        return [item for item in thread.items if item.value or item.kind == "redacted"]

    def of(self, kind: str) -> list[JsonObject]:
        return [event for event in self.events if event["type"] == kind]

    def _follow(self, event: JsonObject) -> None:
        thread = self.threads.setdefault(event.get("parent_tool_call_id"), Thread())
        match event["type"]:
            case "message_chunk":
                thread.text("text", event, event["text"])
            case "reasoning" if event.get("redacted"):
                thread.items.append(Item("redacted", ""))
            case "reasoning":
                thread.text("thinking", event, event["reasoning_text"])
            case "tool_call":
                thread.items.append(Item("tool", event["tool_call_id"]))
            case "retraction":
                for every in self.threads.values():
                    every.retract(event.get("message_ids") or [])
            case _:
                pass

"""What of a session's past an editor is sent: the pieces of a text as one, and of what is only true for a time the last. Pure."""

from collections.abc import Iterable

from turnwire.client.values import JsonObject

PIECE = 64 * 1024
"""Characters of text after which a further piece begins."""

STATES = frozenset({
    "available_commands_update", "config_option_update", "current_mode_update", "plan", "state_update",
    "usage_update",
})  # fmt: skip
"""Updates that the next of their kind makes void: `Encoder.state()` and `Activity` have the last."""


class PastUpdates:
    """Joins the updates of a past, one after the other."""

    def __init__(self) -> None:
        self._held: JsonObject | None = None
        self._texts: list[str] = []
        self._size = 0

    def handle(self, updates: Iterable[JsonObject]) -> list[JsonObject]:
        """Return what is to be sent now."""
        ready: list[JsonObject] = []
        for update in updates:
            if update["sessionUpdate"] in STATES:
                continue
            text = _text(update)
            if text is None:
                ready += [*self.rest(), update]
            elif self._held is not None and _same(self._held, update) and self._size < PIECE:
                self._hold(self._held, text)
            else:
                ready += self.rest()
                self._hold(update, text)
        return ready

    def rest(self) -> list[JsonObject]:
        """Return what was held back."""
        if self._held is None:
            return []
        whole = {**self._held, "content": {"type": "text", "text": "".join(self._texts)}}
        self._held, self._texts, self._size = None, [], 0
        return [whole]

    def _hold(self, update: JsonObject, text: str) -> None:
        self._held = update
        self._texts.append(text)
        self._size += len(text)


def _text(update: JsonObject) -> str | None:
    match update:
        case {"sessionUpdate": "agent_message_chunk" | "agent_thought_chunk", "content": {"text": str(text)}}:
            return text
        case _:
            return None


def _same(one: JsonObject, other: JsonObject) -> bool:
    return {**one, "content": None} == {**other, "content": None}

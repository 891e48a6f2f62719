"""Texts of wires that send pieces, whole texts, or both. Each is published once."""

from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.texts import Kind, Texts
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.streams.observations import TextPiece, TextWhole

_REMEMBERED = 64
"""Most texts whose pieces are remembered until the whole text arrives."""


class StreamTexts:
    """The texts of one conversation."""

    def __init__(self, place: EventContext, ids: UniqueIds) -> None:
        self._place = place
        self._ids = ids
        self._texts = Texts(place, ids)
        self._told: BoundedDict[list[str]] = BoundedDict(_REMEMBERED)

    def piece(self, told: TextPiece) -> list[AgentEvent]:
        """Publish a piece."""
        kind = _kind(told)
        if told.id is not None:
            self._remember(kind, told.id).append(told.text)
        return self._texts.say(kind, told.text, told.id, told.parent, None)

    def whole(self, told: TextWhole) -> list[AgentEvent]:
        """Publish the new part of a whole text."""
        kind = _kind(told)
        pieces = [] if told.id is None else self._remember(kind, told.id)
        before = "".join(pieces)
        pieces[:] = [told.text]
        events = [] if before else self._texts.pause()
        if not told.text.startswith(before):
            events += self._texts.whole(kind, told.text, told.id, told.parent, None)
        elif new := told.text[len(before) :]:
            events += self._texts.say(kind, new, told.id, told.parent, None)
        return [*events, *self._texts.pause()]

    def pause(self) -> list[AgentEvent]:
        """Note that something else arrived: following pieces without an id are another message."""
        return self._texts.pause()

    def forget(self) -> None:
        """Another process begins: it may reuse ids."""
        self._told.clear()
        self._texts = Texts(self._place, self._ids)

    def _remember(self, kind: Kind, message_id: str) -> list[str]:
        ours = self._ids.in_turn(message_id, self._place.here["operation_id"])
        key = f"{kind}:{ours}"
        pieces = self._told.get(key)
        if pieces is None:
            pieces = []
            self._told.put(key, pieces)
        return pieces


def _kind(told: TextPiece | TextWhole) -> Kind:
    return "thinking" if told.is_thought else "text"

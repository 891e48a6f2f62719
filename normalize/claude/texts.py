"""Publish each text exactly once, in one thread of the conversation: the main thread or a subagent's.

The same text arrives as streamed deltas and again as an assistant line. A block is identified by (message id, block
index). Streamed text is not published again; text that disagrees is replaced. A line's block gets the index of
the first unconfirmed block of its kind in the stream. Blank blocks do not count, because most versions write no line
for a block of whitespace. So leading whitespace waits for the first word. Without a stream the index
is counted, since the CLI writes one line per block. A message that breaks off and is started again is retracted.

Qwen Code writes one stream for an answer, and a message for each kind of block in it: the indices start again
in the stream, and the next line has another id. Both count as the same message with further blocks.
"""

from typing import Literal

from msgspec import Struct, field

from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import AgentEvent, MessageChunk, Reasoning, Retraction
from turnwire.normalize.events.limits import ALWAYS_FITS, pieces
from turnwire.protocol.text import rejoin

Kind = Literal["text", "thinking", "other"]
Source = Literal["local_command", "result", "synthetic"]

NO_CONTENT = "(no content)"
"""Text that 1.0 and 2.0 write in the line of a blank block."""


class Block(Struct):
    """A block that is being streamed."""

    index: int
    kind: Kind
    pieces: list[str] = field(default_factory=list)
    """The published pieces."""
    blank: str = ""
    """Leading whitespace, not published until other text follows."""
    held: str = ""
    """Half a surrogate pair that the last delta ended with."""
    closed: bool = False
    """It has streamed to its end."""
    confirmed: bool = False
    """Its assistant line has arrived."""

    def grow(self, text: str) -> str:
        """Take a delta and return the part that can be published."""
        # Most deltas are ASCII, and isascii() is one look at a flag: nothing to rejoin then.
        if self.held or not text.isascii():
            text, self.held = rejoin(self.held, text)
        if not text:
            return ""
        if not self.pieces:
            text = self.blank + text
            if is_blank(text):
                self.blank = text
                return ""
            self.blank = ""
        self.pieces.append(text)
        return text


def is_blank(text: str) -> bool:
    """Tell whether a text is nothing but whitespace; the CLI counts the byte order mark among it."""
    return not text or text.isspace() or not text.replace("\ufeff", "").strip()


def _says_nothing(text: str) -> bool:
    """Return whether a text is blank, or the text that the CLI writes for a blank block."""
    return is_blank(text) or text == NO_CONTENT


class Thread:
    """The texts of one thread."""

    def __init__(self, place: EventContext, ids: UniqueIds, parent: str | None = None) -> None:
        self._place = place
        self._ids = ids
        self._parent = parent
        self._own: str | None = None
        """The agent's id of the message that streams, or that streamed last."""
        self.message_id: str | None = None
        """Our id of it: some gateways give all messages one id."""
        self._blocks: dict[int, Block] = {}
        self.streaming = False
        """A message is being streamed."""
        self._finished = False
        """The streaming message has reported its stop reason."""
        self._next_index: dict[str, int] = {}
        self._firm = False
        self._offset = 0
        """Added to the stream's indices, since they started again within it."""
        self._renamed: str | None = None
        """Another id of the message that streams."""
        self._faulted = False
        """The CLI has complained of the message that streams, and may still write its lines."""

    @property
    def spoken(self) -> bool:
        """Text of this thread was published since `forget`, and not withdrawn."""
        return self._firm or any(block.kind == "text" and block.pieces for block in self._blocks.values())

    def forget(self) -> None:
        """The turn is over: its messages are complete, and their ids may be used again."""
        self._blocks.clear()
        self._next_index.clear()
        self._own = self.message_id = self._renamed = None
        self.streaming = self._firm = self._faulted = False
        self._offset = 0

    # What the API streams.

    def begin(self, message_id: str) -> list[AgentEvent]:
        """Start to stream a message."""
        withdrawn = self._withdraw()
        self._settle()
        self._own = message_id
        self.message_id = self._ids.new(message_id, self._place.here["operation_id"])
        self.streaming = True
        self._finished = self._faulted = False
        self._offset = 0
        self._renamed = None
        return withdrawn

    def open(self, index: int, kind: Kind) -> None:
        """Start to stream a block."""
        index += self._offset
        before = self._blocks.get(index)
        if before is not None and before.confirmed:
            again = max(self._blocks) + 1
            self._offset += again - index
            index = again
        self._blocks[index] = Block(index, kind)

    def text(self, index: int, text: str) -> list[AgentEvent]:
        """A text block grew."""
        index += self._offset
        block = self._blocks.get(index) or self._missed(index, "text")
        text = block.grow(text)
        if not text:
            return []
        if len(text) > ALWAYS_FITS:
            return self._say("text", text, self.message_id, index, is_delta=True)
        here = self._place.here
        return [
            MessageChunk(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=self._parent,
                message_id=self.message_id,
                block_index=index,
                text=text,
                is_delta=True,
            )
        ]

    def thinking(self, index: int, text: str) -> list[AgentEvent]:
        """A thinking block grew."""
        index += self._offset
        block = self._blocks.get(index) or self._missed(index, "thinking")
        text = block.grow(text)
        if not text:
            return []
        if len(text) > ALWAYS_FITS:
            return self._say("thinking", text, self.message_id, index, is_delta=True)
        here = self._place.here
        return [
            Reasoning(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=self._parent,
                message_id=self.message_id,
                block_index=index,
                reasoning_text=text,
                is_delta=True,
            )
        ]

    def close(self, index: int) -> list[AgentEvent]:
        """Complete a block. A held half of a surrogate pair has no other half."""
        index += self._offset
        block = self._blocks.get(index)
        if block is None:
            return []
        block.closed = True
        if not block.held or block.confirmed:
            return []
        block.held = ""
        return self._say(block.kind, block.grow("\ufffd"), self.message_id, index)

    def finish(self) -> None:
        """The API reports a stop reason: the message is complete."""
        self._finished = True

    def end(self, abandoned_from: int | None) -> list[AgentEvent]:
        """End the message. Blocks from this index on are abandoned.

        A message without a stop reason has broken off: its text without a line is retracted when the next message begins.
        """
        events: list[AgentEvent] = []
        if abandoned_from is not None:
            for block in self._unconfirmed():
                if block.index >= abandoned_from:
                    events += self._empty(block)
        self.streaming = not self._finished and bool(self._unconfirmed())
        return events

    # What the CLI writes as lines.

    def over(self, answer: str | None) -> list[AgentEvent]:
        """At the end of a turn, retract broken-off text without a line. 2.0.42 drops such a message.

        `answer`: text of the turn's result, which may be this very text. None for an interrupted turn, whose text stays.
        """
        said = ["".join(block.pieces) for block in self._unconfirmed() if block.kind == "text"]
        stays = answer is None or bool(said and said[-1] in answer)
        return self._withdraw() if self._faulted or not stays else []

    def line(self, message_id: str | None, *, complains: bool = False) -> tuple[str | None, list[AgentEvent]]:
        """Start an assistant line. Returns the id under which its message is published.

        A message that still streams under another id has broken off, with one exception. If all its blocks are complete
        and the CLI `complains` in the model's name, the message was cut or refused: 2.0 then writes its lines afterwards.
        """
        if message_id is None:
            self._next_index.pop("", None)
            ours = None
        elif message_id == self._renamed or (self._offset and self.streaming):
            self._renamed = message_id
            return self.message_id, []
        elif message_id == self._own:
            return self.message_id, []
        else:
            ours = self._ids.in_turn(message_id, self._place.here["operation_id"])
        if self.streaming:
            if complains and all(block.closed for block in self._blocks.values()):
                self._faulted = True
                return ours, []
            return ours, self._withdraw()
        return ours, []

    def whole(
        self, message_id: str | None, kind: Kind, text: str, source: Source | None = None
    ) -> list[AgentEvent]:
        """Publish the part of a text or thinking block that was not streamed."""
        if kind == "text" and text:
            self._firm = True
        block = self._spoken(kind, text) if message_id == self.message_id else None
        if block is None:
            return self._say(kind, text, message_id, self._count(message_id), source=source)
        streamed = "".join(block.pieces)
        block.confirmed, block.pieces, block.held = True, [], ""
        if text == streamed or (not streamed and _says_nothing(text) and self._is_behind(block.index)):
            return []
        if text.startswith(streamed):
            return self._say(kind, text[len(streamed) :], message_id, block.index, source=source)
        return self._say(kind, text, message_id, block.index, source=source, replace=True)

    def index(self, message_id: str | None) -> int:
        """Return the index of a line's block that is neither text nor thinking, and count it."""
        if message_id == self.message_id:
            for block in self._blocks.values():
                if block.kind == "other" and not block.confirmed:
                    block.confirmed = True
                    return block.index
        return self._count(message_id)

    def redacted(self, message_id: str | None) -> Reasoning:
        """Publish that there was thinking which the API encrypted."""
        return Reasoning(
            **self._place.here,
            parent_tool_call_id=self._parent,
            message_id=message_id,
            block_index=self.index(message_id),
            reasoning_text="",
            redacted=True,
        )

    # How it is done.

    def _say(
        self,
        kind: Kind,
        text: str,
        message_id: str | None,
        index: int,
        *,
        source: Source | None = None,
        replace: bool | None = None,
        is_delta: bool | None = None,
    ) -> list[AgentEvent]:
        if len(text) > ALWAYS_FITS:
            first, *rest = pieces(text)
            events = self._say(
                kind, first, message_id, index, source=source, replace=replace, is_delta=is_delta
            )
            for piece in rest:
                events += self._say(kind, piece, message_id, index, source=source, is_delta=is_delta)
            return events
        if not text and not replace:
            return []
        here = self._place.here
        if kind == "thinking":
            return [
                Reasoning(
                    session_id=here["session_id"],
                    operation_id=here["operation_id"],
                    parent_tool_call_id=self._parent,
                    message_id=message_id,
                    block_index=index,
                    reasoning_text=text,
                    replace=replace,
                    is_delta=is_delta,
                )
            ]
        return [
            MessageChunk(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                parent_tool_call_id=self._parent,
                message_id=message_id,
                block_index=index,
                text=text,
                source=source,
                replace=replace,
                is_delta=is_delta,
            )
        ]

    def _missed(self, index: int, kind: Kind) -> Block:
        """A delta without its start: the beginning of the stream was not seen."""
        block = self._blocks[index] = Block(index, kind)
        return block

    def _spoken(self, kind: Kind, text: str) -> Block | None:
        """The streamed block that a line repeats: the first with words in it, or the last of the blank ones before."""
        is_nothing = _says_nothing(text)
        blank: list[Block] = []
        for block in self._blocks.values():
            if block.confirmed:
                continue
            if block.kind == kind and not block.pieces:
                blank.append(block)
            elif blank and is_nothing and (block.pieces or block.kind == "other"):
                break
            elif block.kind == kind:
                return block
        if is_nothing:
            return next(
                (block for block in reversed(blank) if block.blank == text), blank[-1] if blank else None
            )
        # Words for a block that streamed none: the CLI writes its line while the block is still open.
        still_open = [block for block in blank if not block.closed] or blank
        return still_open[0] if still_open else None

    def _is_behind(self, index: int) -> bool:
        """Tell whether something of a later block was published: 2.0.42 writes a message's lines when all of it has streamed."""
        return any(
            block.index > index and (block.pieces or block.confirmed) for block in self._blocks.values()
        )

    def _count(self, message_id: str | None) -> int:
        index = self._next_index.get(message_id or "", 0)
        if message_id == self.message_id and self._blocks:
            index = max(index, max(self._blocks) + 1)
        self._next_index[message_id or ""] = index + 1
        return index

    def _unconfirmed(self) -> list[Block]:
        return [block for block in self._blocks.values() if block.pieces and not block.confirmed]

    def _withdraw(self) -> list[AgentEvent]:
        """Retract streamed text of a message that never finished."""
        lost = self._unconfirmed() if self.streaming else []
        self.streaming = False
        if not lost:
            return []
        if len(lost) < len(self._blocks) and any(block.confirmed for block in self._blocks.values()):
            return [event for block in lost for event in self._empty(block)]
        for block in lost:
            block.pieces = []
        ids = None if self.message_id is None else [self.message_id]
        return [Retraction(**self._place.here, message_ids=ids)]

    def _empty(self, block: Block) -> list[AgentEvent]:
        block.pieces = []
        return self._say(block.kind, "", self.message_id, block.index, replace=True)

    def _settle(self) -> None:
        """Remember whether the message contained anything, and drop its blocks."""
        self._firm = self.spoken
        self._blocks.clear()

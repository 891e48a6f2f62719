"""The assistant's output: blocks of API messages, as deltas if partial messages are on, and as assistant lines.

One API message holds the blocks up to and including a tool call, as with a real model. The lines follow the CLI's order:
message_start, block start, deltas, the assistant line, block stop, message_delta, message_stop.
"""

import asyncio
from dataclasses import dataclass, field

import msgspec

from turnwire.protocol.json_values import JsonObject
from turnwire.scripted_agent.claude.written_lines import Usage, Wire, tokens


@dataclass
class Speech:
    """The messages of one thread of a turn: the main thread, or a subagent (`parent`), which has no stream."""

    wire: Wire
    partial: bool
    usage: Usage
    parent: str | None = None
    last_text: str = ""
    """The last text block. The result repeats it."""
    messages: int = 0
    """How many messages were begun."""
    _message_id: str = ""
    _index: int = 0
    _kind: str = ""
    _said: list[str] = field(default_factory=list)
    """The open block's deltas."""

    @property
    def _streams(self) -> bool:
        return self.partial and self.parent is None

    def _open(self) -> None:
        if self._message_id:
            return
        self._message_id, self._index = self.wire.api_id("msg"), 0
        self.messages += 1
        self.usage.add(Usage(input_tokens=120))
        if self._streams:
            message: JsonObject = {
                "id": self._message_id,
                "type": "message",
                "role": "assistant",
                "model": self.wire.model,
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": Usage(120, 1).wire(),
            }
            self.wire.stream({"type": "message_start", "message": message})

    def close(self, stop_reason: str | None) -> None:
        """End the open message, if there is one."""
        if self._message_id and self._streams:
            delta = {"stop_reason": stop_reason, "stop_sequence": None}
            self.wire.stream({"type": "message_delta", "delta": delta, "usage": self.usage.wire()})
            self.wire.stream({"type": "message_stop"})
        self._message_id = ""

    def begin(self, kind: str) -> None:
        """Open a block of text or of thinking."""
        self._open()
        self._kind = kind
        self._said.clear()
        if self._streams:
            self._start({"type": kind, kind: "", **_signature(kind)})

    def delta(self, piece: str) -> None:
        """Add to the open block."""
        self._said.append(piece)
        if self._streams:
            self._delta({"type": f"{self._kind}_delta", self._kind: piece})

    def finish(self) -> None:
        """Write the open block as an assistant line, and end it."""
        said = "".join(self._said)
        self._said.clear()
        self._line({"type": self._kind, self._kind: said, **_signature(self._kind)}, said)
        if self._kind == "text":
            self.last_text = said

    async def say(self, kind: str, text: str, *, chunk: int, pace: float) -> None:
        """Say a text or think a thought: `kind` is the block's type and its field's name."""
        self.begin(kind)
        size = max(1, chunk)
        for at in range(0, len(text), size):
            self.delta(text[at : at + size])
            if pace:
                await asyncio.sleep(pace)
        self.finish()

    def call(self, call_id: str, name: str, arguments: JsonObject) -> None:
        """Call a tool; the message stays open for further calls."""
        self._open()
        written = msgspec.json.encode(arguments).decode()
        if self._streams:
            self._start({"type": "tool_use", "id": call_id, "name": name, "input": {}})
            self._delta({"type": "input_json_delta", "partial_json": written})
        self._line({"type": "tool_use", "id": call_id, "name": name, "input": arguments}, written)

    def abort(self) -> None:
        """End a block that an interrupt cut off. Newer versions write the part that was produced."""
        said = "".join(self._said)
        self._said.clear()
        if said and self._kind == "text" and self.wire.quirks.aborted_text:
            self.wire.assistant(self._message_id, {"type": "text", "text": said}, self.parent, aborted=True)
            if self._streams:
                self.wire.stream({"type": "content_block_stop", "index": self._index})
            self.close(None)
        self._message_id = ""

    def _start(self, empty: JsonObject) -> None:
        self.wire.stream({"type": "content_block_start", "index": self._index, "content_block": empty})

    def _delta(self, delta: JsonObject) -> None:
        self.wire.stream({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _line(self, block: JsonObject, counted: str) -> None:
        self.usage.add(Usage(output_tokens=tokens(counted)))
        self.wire.assistant(self._message_id, block, self.parent)
        if self._streams:
            self.wire.stream({"type": "content_block_stop", "index": self._index})
        self._index += 1


def _signature(kind: str) -> JsonObject:
    return {"signature": ""} if kind == "thinking" else {}

"""What a CLI's stdout says, read from the raw lines alone: the checker's own idea of the facts.

Written from the protocol's documents and recordings, not from the translator: it uses nothing of normalize/ or turnwire/protocol/.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

JsonObject = dict[str, Any]

BLANK_LINE = "(no content)"
"""What 1.0 writes for a block of nothing but whitespace; later versions write no line for it."""

LOCAL = re.compile(r"<local-command-(?:stdout|stderr)>(.*?)</local-command-(?:stdout|stderr)>", re.DOTALL)


def whole(text: str) -> str:
    """Join surrogate pairs; replace halves without a partner."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@dataclass
class Item:
    """Something a thread shows, at the place where its first byte came."""

    position: int
    kind: str
    """text, thinking, redacted or tool."""
    value: str
    """The text, or the tool call's id."""


@dataclass
class Turn:
    """From one result to the next."""

    result: JsonObject | None
    """None when it was withheld, or when the stream ended first."""
    said: bool
    """The main thread has said something."""
    local: list[str] = field(default_factory=list)
    last_uuid: str | None = None
    """The last message of the main thread, up to and with this turn."""
    safe: tuple[str | None, str | None] | None = None
    """UUID and message id of the last text of the model that was not cut off, up to and with this turn."""
    usage: int = 0
    """Context of the last answer of the main thread, in tokens; 0 when unknown or replaced."""
    model: str | None = None


@dataclass
class Call:
    """A tool_use block."""

    id: str
    name: str
    parent: str | None
    turn: int
    result: JsonObject | None = None
    """Its tool_result block."""
    structured: Any = None


class Facts:
    """All of it."""

    def __init__(self, lines: list[bytes]) -> None:
        self.lines = lines
        self.messages: list[JsonObject] = []
        for line in lines:
            value = _load(line)
            if isinstance(value, dict):
                self.messages.append(value)
        self.threads = _threads(self.messages)
        self.turns = _turns(self.messages)
        self.calls = _calls(self.messages)
        self.asked = [
            message
            for message in self.messages
            if message.get("type") == "control_request"
            and message["request"].get("subtype") in ("can_use_tool", "elicitation", "request_user_dialog")
        ]
        self.background = _launched_in_background(self.calls)
        self.version = next((_version_of(m) for m in self.messages if is_init(m)), None)


def _version_of(init: JsonObject) -> str:
    """2.0.14 does not say its version either, but lists subagents, which 1.0.120 does not."""
    version: str = init.get("claude_code_version") or ("2.0.0" if init.get("agents") else "1.0")
    return version


def is_init(message: JsonObject) -> bool:
    return message.get("type") == "system" and message.get("subtype") == "init"


def blocks(message: JsonObject) -> list[JsonObject]:
    content = message["message"].get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content or []


def text_of(message: JsonObject) -> str:
    return "\n\n".join(whole(block["text"]) for block in blocks(message) if block.get("type") == "text")


def _load(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except ValueError:
        return None


@dataclass
class _Streamed:
    """A message as its stream events tell it."""

    id: str
    position: int
    blocks: dict[int, tuple[str, int, str]] = field(default_factory=dict)
    """Index -> kind, position of the first piece, text so far."""
    stopped: bool = False
    abandoned: int | None = None


def _threads(messages: list[JsonObject]) -> dict[str | None, list[Item]]:
    """What each thread shows in the end: lines, and streamed pieces that no line repeats and nothing withdraws."""
    threads: dict[str | None, list[Item]] = {}
    for segment in _segments(messages):
        streams = list(_streams(segment))
        taken: set[tuple[int, int]] = set()
        for position, message in segment:
            if message.get("type") != "assistant":
                continue
            thread = threads.setdefault(message.get("parent_tool_use_id"), [])
            for block in blocks(message):
                item = _item(block, position)
                if item is None:
                    continue
                if message.get("parent_tool_use_id") is None:
                    item.position = _streamed_place(streams, message["message"].get("id"), item, taken)
                thread.append(item)
        _add_leftovers(threads.setdefault(None, []), segment, streams, taken)
    for items in threads.values():
        items.sort(key=lambda item: item.position)
    return threads


def _segments(messages: list[JsonObject]) -> Iterator[list[tuple[int, JsonObject]]]:
    """Cut behind every result: message ids of different turns have nothing to do with each other."""
    segment: list[tuple[int, JsonObject]] = []
    for position, message in enumerate(messages):
        segment.append((position, message))
        if message.get("type") == "result":
            yield segment
            segment = []
    yield segment


def _item(block: JsonObject, position: int) -> Item | None:
    match block.get("type"):
        case "text":
            return Item(position, "text", whole(block["text"])) if block["text"] else None
        case "thinking":
            return Item(position, "thinking", whole(block["thinking"])) if block["thinking"] else None
        case "redacted_thinking":
            return Item(position, "redacted", "")
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            return Item(position, "tool", block["id"])
        case _:
            return None


def _streams(segment: list[tuple[int, JsonObject]]) -> Iterator[_Streamed]:
    current: _Streamed | None = None
    for position, message in segment:
        if message.get("type") != "stream_event" or message.get("parent_tool_use_id"):
            continue
        event = message["event"]
        if event["type"] == "message_start":
            if current is not None:
                yield current
            current = _Streamed(event["message"]["id"], position)
        if current is None:
            continue
        if event["type"] == "content_block_start":
            if event["index"] in current.blocks:
                # Qwen Code: the indices begin anew, and the next line tells the id of what they are the blocks of
                current.stopped = True
                yield current
                current = _Streamed(_next_id(segment, position), position)
            kind = {"text": "text", "thinking": "thinking"}.get(event["content_block"]["type"], "other")
            current.blocks[event["index"]] = (kind, position, "")
        elif event["type"] == "content_block_delta":
            kind, first, text = current.blocks.get(event["index"], ("text", position, ""))
            piece = event["delta"].get("text") or event["delta"].get("thinking") or ""
            current.blocks[event["index"]] = (kind, first if text else position, text + piece)
        elif event["type"] == "message_stop":
            current.stopped = True
            current.abandoned = (message.get("abandoned_blocks") or {}).get("from_block_index")
    if current is not None:
        yield current


def _next_id(segment: list[tuple[int, JsonObject]], position: int) -> str:
    return next(
        (
            str(message["message"].get("id"))
            for place, message in segment
            if place > position and message.get("type") == "assistant"
        ),
        "",
    )


def _streamed_place(
    streams: list[_Streamed], message_id: str | None, item: Item, taken: set[tuple[int, int]]
) -> int:
    blank_line = not item.value.strip() or item.value == BLANK_LINE
    for number, stream in enumerate(streams):
        if stream.id == message_id:
            for index, (kind, first, text) in sorted(stream.blocks.items()):
                if text and not text.strip() and not blank_line:
                    continue
                if (number, index) not in taken and kind == item.kind and stream.position < item.position:
                    taken.add((number, index))
                    return first if text else item.position
    return item.position


def _add_leftovers(
    items: list[Item],
    segment: list[tuple[int, JsonObject]],
    streams: list[_Streamed],
    taken: set[tuple[int, int]],
) -> None:
    """A text that was cut off stays when its turn ends with it; it goes when its message is begun anew, or given up."""
    for number, stream in enumerate(streams):
        begun_anew = not stream.stopped and (
            number + 1 < len(streams)
            or any(
                message.get("type") == "assistant"
                and not message.get("parent_tool_use_id")
                and message["message"].get("id") != stream.id
                and position > stream.position
                for position, message in segment
            )
        )
        for index, (kind, first, text) in sorted(stream.blocks.items()):
            given_up = stream.abandoned is not None and index >= stream.abandoned
            if (
                (number, index) not in taken
                and text.strip()
                and not begun_anew
                and not given_up
                and kind != "other"
            ):
                items.append(Item(first, kind, whole(text)))


def _turns(messages: list[JsonObject]) -> list[Turn]:
    turns: list[Turn] = []
    turn: Turn | None = None
    begun = False
    last_uuid: str | None = None
    safe: tuple[str | None, str | None] | None = None
    usage, model = 0, None
    seen: set[str] = set()

    def close(result: JsonObject | None) -> None:
        nonlocal turn, begun
        turn = turn or Turn(result, said=False)
        turn.result, turn.last_uuid, turn.safe, turn.usage, turn.model = result, last_uuid, safe, usage, model
        turns.append(turn)
        turn, begun = None, False

    for message in messages:
        main = not message.get("parent_tool_use_id")
        match message.get("type"):
            case "system" if message.get("subtype") == "init":
                if begun and turn is not None:
                    close(None)
                turn = turn or Turn(None, said=False)
                model = message.get("model")
            case "system" if message.get("subtype") == "compact_boundary":
                usage = (message.get("compact_metadata") or {}).get("post_tokens") or 0
            case "conversation_reset":
                usage = 0
            case "assistant" if main:
                turn = turn or Turn(None, said=False)
                begun = True
                body = message["message"]
                last_uuid = message.get("uuid") or last_uuid
                synthetic = body.get("model") == "<synthetic>"
                if text_of(message):
                    turn.said = True
                    failed = message.get("error") or message.get("isApiErrorMessage")
                    if not synthetic and not message.get("aborted") and not failed:
                        safe = (message.get("uuid"), body.get("id"))
                if not synthetic:
                    model = body.get("model") or model
                    usage = _tokens(body.get("usage")) or usage
            case "stream_event" if main:
                event = message["event"]
                if event["type"] == "message_start":
                    turn = turn or Turn(None, said=False)
                    begun = True
                if event["type"] == "message_delta" and _tokens(event.get("usage")):
                    usage = _tokens(event["usage"])
                if turn is not None and event["type"] == "content_block_delta":
                    turn.said = turn.said or bool((event["delta"].get("text") or "").strip())
            case "user" if main:
                last_uuid = message.get("uuid") or last_uuid
                printed = LOCAL.findall(text_of(message))
                results = any(block.get("type") == "tool_result" for block in blocks(message))
                interrupted = text_of(message).startswith("[Request interrupted by user")
                if turn is not None:
                    turn.local += printed
                    begun = begun or results or interrupted or bool(printed)
            case "result":
                if turn is None and message.get("uuid") in seen:
                    continue
                seen.add(message.get("uuid") or "")
                close(message)
            case _:
                pass
    if turn is not None:
        close(None)
    return turns


def _tokens(usage: JsonObject | None) -> int:
    names = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum((usage or {}).get(name) or 0 for name in names)


def _calls(messages: list[JsonObject]) -> dict[str, Call]:
    calls: dict[str, Call] = {}
    turn = 0
    for message in messages:
        if message.get("type") == "result":
            turn += 1
        if message.get("type") not in ("assistant", "user"):
            continue
        parent = message.get("parent_tool_use_id")
        for block in blocks(message):
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                calls.setdefault(block["id"], Call(block["id"], block["name"], parent, turn))
            elif block.get("tool_use_id") in calls and calls[block["tool_use_id"]].result is None:
                call = calls[block["tool_use_id"]]
                call.result, call.structured = block, message.get("tool_use_result")
    return calls


def _launched_in_background(calls: dict[str, Call]) -> set[str]:
    """Calls of subagents that go on after their result."""
    return {
        call.id
        for call in calls.values()
        if call.name in ("Task", "Agent")
        and isinstance(call.structured, dict)
        and (call.structured.get("isAsync") or call.structured.get("status") == "async_launched")
    }

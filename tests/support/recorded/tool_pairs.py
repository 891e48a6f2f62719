"""Tool calls with their results, as the recordings have them: raw, and as the normalizer sees them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins

from recordings import Recording, recording
from turnwire.normalize.claude import results, tools
from turnwire.normalize.claude.results import CallResult
from turnwire.normalize.claude.results.answer import PermissionOutcome
from turnwire.protocol.claude.blocks import ToolResultBlock
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import User
from turnwire.protocol.parsing import lenient


@dataclass(frozen=True)
class Pair:
    """One call and its result."""

    where: str
    name: str
    input: Any
    line: bytes
    result: dict[str, Any]
    structured: Any

    @property
    def is_error(self) -> bool:
        return bool(self.result.get("is_error"))

    @property
    def text(self) -> str:
        """All text of the result, as it came."""
        content = self.result.get("content")
        if isinstance(content, str):
            return content
        return "\n".join(part["text"] for part in content or [] if part["type"] == "text")

    def enriched(self, *, permission_outcome: PermissionOutcome | None = None) -> CallResult:
        """What the normalizer makes of it."""
        message = decode(self.line)
        assert isinstance(message, User)
        for block in message.blocks:
            if isinstance(block, ToolResultBlock) and block.tool_use_id == self.result["tool_use_id"]:
                payload = tools.call(self.name, self.input)
                return results.enrich(
                    payload, block, message.tool_use_result, permission_outcome=permission_outcome
                )
        raise LookupError(self.result["tool_use_id"])


def pairs(recording: Recording) -> Iterator[Pair]:
    """Yield the calls of a recording that have a result, in the order of the results."""
    calls: dict[str, dict[str, Any]] = {}
    for line in recording.stdout.split(b"\n"):
        if b'"tool_' not in line:
            continue
        try:
            message = json.loads(line)
        except ValueError:
            continue
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                calls[block["id"]] = block
            elif block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
                call = calls[block["tool_use_id"]]
                yield Pair(
                    where=f"{recording}: {call['name']} {block['tool_use_id']}",
                    name=call["name"],
                    input=call["input"],
                    line=line,
                    result=block,
                    structured=message.get("tool_use_result"),
                )


def _blocks(message: Any) -> list[dict[str, Any]]:
    if message.get("type") not in {"assistant", "user"}:
        return []
    content = message["message"].get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def answered(
    name: str,
    call: Any,
    content: Any,
    structured: Any = None,
    *,
    is_error: bool = False,
    permission_outcome: PermissionOutcome | None = None,
) -> CallResult:
    """What the normalizer makes of a made-up call and result."""
    block = lenient.build(
        ToolResultBlock, {"tool_use_id": "t", "content": content, **({"is_error": True} if is_error else {})}
    )
    return results.enrich(tools.call(name, call), block, structured, permission_outcome=permission_outcome)


def body(done: CallResult) -> dict[str, Any]:
    """The one populated body of a payload, without empty fields."""
    populated: dict[str, Any] = to_builtins(done.payload)[done.payload.kind]
    return populated


def output(done: CallResult) -> Any:
    """What the result added to the body."""
    return body(done).get("output")


def recorded(
    version: str,
    scenario: str,
    name: str,
    number: int = 0,
    *,
    permission_outcome: PermissionOutcome | None = None,
) -> CallResult:
    """What the normalizer makes of one call of a recording: the `number`-th of the named tool, from 0."""
    found = [pair for pair in pairs(recording(version, scenario)) if pair.name == name]
    return found[number].enriched(permission_outcome=permission_outcome)

"""A tool call's result, parsed once: text, parts, structured result, and how the call ended."""

import re
from collections.abc import Sequence
from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.normalize.payloads.fields import fields, shallow, text
from turnwire.normalize.payloads.files import ContentPart
from turnwire.protocol.claude.blocks import (
    AnyBlock,
    DocumentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolReferenceBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)
from turnwire.protocol.json_values import Json

Reason = Literal["failed", "denied", "interrupted"]

PermissionOutcome = Literal["asked", "allowed", "denied", "cancelled"]
"""State of a call's permission request: unanswered, answered, or cancelled by the CLI."""

_OPENS, _CLOSES = "<tool_use_error>", "</tool_use_error>"

_INTERRUPTED = re.compile(
    r"\A(?:Error: )?\[Request interrupted by user"
    r"|\ATool permission request failed: AbortError\s*\Z"
    r"|\AThe user doesn't want to proceed with this tool use\..*this call was stopped while running, not refused",
    re.DOTALL,
)
_EXIT = re.compile(r"\AExit code (-?\d{1,10})(?:\n|\Z)")
_KILLED = 128
"""A shell's exit code above this: a signal ended the command."""
_ABORTED = "<error>Command was aborted before completion</error>"

_NEVER_BEGAN = re.compile(
    r"\A(?:\[Request interrupted by user[^\n]*\n)?Command aborted before execution\s*\Z"
    r"|\ATool permission request failed: AbortError\s*\Z"
)
_NEVER_BEGAN_OPENS = ("Command aborted", "[Request interrupted", "Tool permission request")

_DENIED = (
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this ",
    "Tool permission request failed",
    "The canUseTool callback returned an invalid permission result",
    "PreToolUse:",
    "Hook PreToolUse",
    "Execution stopped by PreToolUse",
    "This command requires approval",
    "This command contains multiple operations.",
    "This Bash command requires approval",
    "This Bash command contains multiple operations.",
    "MCP tool call requires approval",
)
"""The CLI's texts for a refusal. A host's own text is known only from the permission's answer."""

_STOPPED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected",
    "The user doesn't want to take this action right now. STOP",
)
"""The CLI's texts for a refusal without a reason. Some versions use them for an interrupt too."""

_DENIED_BY_HOOK = re.compile(r"\w+ operation blocked by hook")
_NEEDS_APPROVAL, _BLOCKED = (
    " needs approval. The path is ",
    "' was blocked. For security, Claude Code may only ",
)
"""The same, somewhere in the first line."""


class ToolAnswer(Struct, gc=False):
    """The result of one call."""

    text: str
    """All its text, without the mark that the CLI puts around errors."""
    content: str | list[ContentPart]
    """As it came: text, or parts."""
    structured: JsonValue
    """`tool_use_result`: an object or a list, mostly; "Error: …" for failures; None where the CLI gives none."""
    fields: JsonObject
    """The structured result if it is an object; otherwise empty."""
    reason: Reason | None
    """Why it failed; None if it did not."""
    error: str | None
    """Why it failed, in the tool's own words."""
    refused_input: bool
    """True when the CLI did not even accept the arguments."""

    @property
    def parts(self) -> list[ContentPart]:
        """Its parts; a single text part if it is a string."""
        return [text_part(self.content)] if isinstance(self.content, str) else self.content

    @property
    def images(self) -> list[ContentPart] | None:
        """Its images, if there are any."""
        if isinstance(self.content, str):
            return None
        return [part for part in self.content if part.type == "image"] or None

    @property
    def ran(self) -> bool:
        """False if the tool never started, or if that is unknown."""
        if self.reason is None:
            return True
        if self.refused_input or self.reason == "denied":
            return False
        if self.text.startswith(_STOPPED):
            return _INTERRUPTED.match(self.text) is not None
        return not (self.text.startswith(_NEVER_BEGAN_OPENS) and _NEVER_BEGAN.match(self.text))


def read(
    block: ToolResultBlock, tool_use_result: Json | None, *, permission_outcome: PermissionOutcome | None
) -> ToolAnswer:
    """Read a result; `permission_outcome` is the outcome of its permission request, None without one."""
    content = block.content if isinstance(block.content, str) else parts(block.content)
    plain = content if isinstance(content, str) else _text(content)
    # A command may print the mark, too: only what failed carries the CLI's own.
    refused = bool(block.is_error) and plain.startswith(_OPENS) and plain.rstrip().endswith(_CLOSES)
    if refused:
        plain = plain.rstrip()[len(_OPENS) : -len(_CLOSES)]
    reason: Reason | None = None
    error: str | None = None
    if block.is_error:
        reason = "denied" if permission_outcome == "denied" else _reason(plain, permission_outcome)
        error = _error(plain, tool_use_result)
    return ToolAnswer(plain, content, tool_use_result, fields(tool_use_result), reason, error, refused)


def _text(content: list[ContentPart]) -> str:
    return "\n".join([part.text for part in content if part.text is not None])


def _error(plain: str, structured: JsonValue) -> str:
    """Newer versions add advice to the model behind the tool's own words."""
    if isinstance(structured, str):
        said = structured.removeprefix("Error: ")
        if said and plain.startswith(said):
            return said
    return plain


def image(data: str | None, media_type: str | None) -> ContentPart:
    """Return an image of base64 text as a part."""
    return ContentPart(type="image", media_type=media_type, size=_size(data), base64=data)


def document(data: str | None, media_type: str | None, title: str | None = None) -> ContentPart:
    """Return a document of base64 text as a part."""
    return ContentPart(type="document", media_type=media_type, size=_size(data), base64=data, title=title)


def text_part(content: str) -> ContentPart:
    """Return text as a part."""
    return ContentPart(type="text", text=content)


def exit_code(content: str) -> tuple[int | None, str]:
    """Return the exit code of a failed command and the text behind it; None where the CLI names none."""
    found = _EXIT.match(content)
    return (None, content) if found is None else (int(found[1]), content[found.end() :])


def is_its_own(code: int | None) -> bool:
    """Return whether a command with this exit code ended on its own. Then all of its text is its output."""
    return code is not None and 0 <= code <= _KILLED


def _reason(content: str, permission_outcome: PermissionOutcome | None) -> Reason:
    code, content = exit_code(content)
    if is_its_own(code):
        return "failed"
    if _INTERRUPTED.match(content) or content.rstrip().endswith(_ABORTED):
        return "interrupted"
    if content.startswith(_STOPPED):
        # Nobody refused what nobody was asked for.
        return "denied" if permission_outcome == "asked" else "interrupted"
    if content.startswith(_DENIED) or _DENIED_BY_HOOK.match(content):
        return "denied"
    first_line = content.partition("\n")[0]
    return "denied" if _NEEDS_APPROVAL in first_line or _BLOCKED in first_line else "failed"


def parts(content: Sequence[AnyBlock] | None) -> list[ContentPart]:
    """Return blocks as parts."""
    return [_part(block) for block in content or []]


def _part(block: AnyBlock) -> ContentPart:
    match block:
        case TextBlock():
            return text_part(block.text)
        case ImageBlock():
            return _sourced(block.source, image(text(block.source, "data"), text(block.source, "media_type")))
        case DocumentBlock():
            source = block.source
            if text(source, "type") == "text":
                return ContentPart(type="document", text=text(source, "data"), title=block.title)
            return _sourced(source, document(text(source, "data"), text(source, "media_type"), block.title))
        case ToolReferenceBlock():
            return ContentPart(type="reference", title=block.tool_name)
        case UnknownBlock():
            return ContentPart(type="unknown", raw=shallow(block.raw))
        case ThinkingBlock():
            return ContentPart(type="unknown", raw={"type": "thinking", "thinking": block.thinking})
        case RedactedThinkingBlock():
            return ContentPart(type="unknown", raw={"type": "redacted_thinking", "data": block.data})
        case ToolUseBlock() | ServerToolUseBlock():
            raw: JsonObject = {
                "type": "tool_use",
                "id": block.id,
                "name": block.name,
                "input": shallow(block.input),
            }
            return ContentPart(type="unknown", raw=raw)
        case ToolResultBlock():
            return ContentPart(type="unknown", raw={"type": "tool_result", "tool_use_id": block.tool_use_id})
    assert_never(block)


def _sourced(source: JsonObject, part: ContentPart) -> ContentPart:
    url = text(source, "url")
    return part if url is None else replace(part, url=url)


def _size(data: str | None) -> int | None:
    return None if data is None else len(data.rstrip("=")) * 3 // 4

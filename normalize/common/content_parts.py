"""Content blocks as the parts that events show."""

from collections.abc import Iterable
from typing import assert_never

from msgspec import Struct, field

from turnwire.normalize.payloads.fields import fields, shallow, text
from turnwire.normalize.payloads.files import ContentPart
from turnwire.protocol.acp.content import (
    AnyContent,
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    UnknownContent,
)
from turnwire.protocol.json_values import Json
from turnwire.protocol.parsing.lenient import build


class _Blocks(Struct):
    blocks: list[AnyContent] = field(default_factory=list)


def part(block: AnyContent) -> ContentPart:
    """Return a content block as a published part."""
    match block:
        case TextContent():
            return ContentPart(type="text", text=block.text)
        case ImageContent():
            return ContentPart(
                type="image",
                media_type=block.mime_type,
                base64=block.data or None,
                size=_size(block.data),
                url=block.uri,
            )
        case AudioContent():
            return ContentPart(
                type="document", media_type=block.mime_type, base64=block.data or None, size=_size(block.data)
            )
        case ResourceLink():
            return ContentPart(
                type="reference", url=block.uri, title=block.title or block.name, media_type=block.mime_type
            )
        case EmbeddedResource():
            inner = fields(block.resource)
            data = text(inner, "blob")
            return ContentPart(
                type="document",
                text=text(inner, "text"),
                url=text(inner, "uri"),
                media_type=text(inner, "mimeType"),
                base64=data,
                size=_size(data),
            )
        case UnknownContent():
            return ContentPart(type="unknown", raw=shallow(block.raw))
    assert_never(block)


def blocks_of(value: Json) -> list[AnyContent]:
    """Return the blocks of a list of JSON, such as a prompt."""
    return build(_Blocks, {"blocks": value if isinstance(value, list) else [value]}).blocks


def prompt_of(blocks: Iterable[AnyContent]) -> tuple[str, list[ContentPart] | None]:
    """Return a message's text, and its parts that are not text."""
    found = [*blocks]
    words = "\n\n".join(block.text for block in found if isinstance(block, TextContent))
    return words, [part(block) for block in found if not isinstance(block, TextContent)] or None


def _size(data: str | None) -> int | None:
    return None if not data else len(data) * 3 // 4 - data[-2:].count("=")

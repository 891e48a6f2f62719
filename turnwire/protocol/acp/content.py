"""Content blocks, and the contents of tool calls: text, images, resources, diffs, terminals."""

from typing import TypeAlias

from msgspec import Struct, field

from turnwire.protocol.json_values import Foreign, Json, JsonObject


class Content(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", rename="camel"):
    """The base of every content block."""


class TextContent(Content, frozen=True, gc=False, tag="text", omit_defaults=False):
    """Text, Markdown mostly."""

    text: str = ""
    """The text, or a piece of it."""


class ImageContent(Content, frozen=True, gc=False, tag="image"):
    """An image."""

    data: str | None = None
    """The bytes, base64 encoded."""
    mime_type: str | None = None
    """Such as `image/png`."""
    uri: str | None = None
    """Where it is from."""


class AudioContent(Content, frozen=True, gc=False, tag="audio"):
    """Sound."""

    data: str | None = None
    """The bytes, base64 encoded."""
    mime_type: str | None = None
    """Such as `audio/wav`."""


class ResourceLink(Content, frozen=True, gc=False, tag="resource_link"):
    """Something that the agent can read itself."""

    uri: str = ""
    """Where it is."""
    name: str | None = None
    """Its name."""
    title: str | None = None
    """The same, for humans."""
    mime_type: str | None = None
    """Its type."""


class EmbeddedResource(Content, frozen=True, gc=False, tag="resource"):
    """Something with its content."""

    resource: JsonObject = field(default_factory=dict)
    """`{"uri", "mimeType", "text"}`, or with `blob`, base64 encoded, for `text`."""


class UnknownContent(Content, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """A block of another type, or none at all; `raw` has it whole."""


AnyContent: TypeAlias = (
    TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource | UnknownContent
)
"""Every content block."""


class Shown(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", rename="camel"):
    """Base of everything that a tool call shows."""


class ShownContent(Shown, frozen=True, gc=False, tag="content", omit_defaults=False):
    """A content block."""

    content: AnyContent = field(default_factory=lambda: UnknownContent(raw=None))
    """The block."""


class Diff(Shown, frozen=True, gc=False, tag="diff"):
    """A change of a file: the old and new text of the whole file, or of the passage, depending on the agent."""

    path: str = ""
    """The file."""
    old_text: str | None = None
    """The old text; absent for a new file."""
    new_text: str | None = None
    """The new text."""
    changes: list[JsonObject] | None = None
    """Version 2: `{"operation", "path", …}` for each file."""
    patch: JsonObject | None = None
    """Version 2: `{"format": "git_patch", "text"}`."""
    meta: Json = field(name="_meta", default=None)
    """`kind`: add, update or delete, of some agents."""


class Terminal(Shown, frozen=True, gc=False, tag="terminal"):
    """A terminal's output: the client's own terminal, or one that the agent describes in `_meta`."""

    terminal_id: str = ""
    """Which."""


class UnknownShown(Shown, Foreign, frozen=True, gc=False, tag="\x00unknown"):
    """Any other content. `raw` has all of it."""


AnyShown: TypeAlias = ShownContent | Diff | Terminal | UnknownShown
"""Everything a tool call shows."""


class Location(Struct, frozen=True, gc=False, omit_defaults=True):
    """A place that a tool call is about."""

    path: str = ""
    """The file or folder."""
    line: int | None = None
    """Its line, from 1 or 0: agents differ."""

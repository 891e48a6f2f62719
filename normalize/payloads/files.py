"""Payload bodies of the tools that read, change and search files."""

from typing import Literal

from msgspec.structs import force_setattr

from turnwire.normalize.model import JsonValue, Published
from turnwire.normalize.payloads.diff import Approximate


class ContentPart(Published, frozen=True, kw_only=True):
    """A part of a tool's result other than plain text (wire fact: images and documents in results)."""

    type: Literal["text", "image", "document", "reference", "unknown"]
    """The part's type."""
    text: str | None = None
    """The text, of a text part."""
    media_type: str | None = None
    """MIME type of an image or a document, such as `image/png`."""
    size: int | None = None
    """Size of the decoded bytes."""
    base64: str | None = None
    """The bytes, base64 encoded."""
    url: str | None = None
    """Where the part is, when it is not inline."""
    title: str | None = None
    """Name of a document, or of a referenced tool."""
    cell_id: str | None = None
    """The notebook cell it belongs to."""
    cell_type: str | None = None
    """`code`, `markdown` or `output`, of a notebook."""
    raw: JsonValue = None
    """The unchanged block, for a type that this version does not know."""


class ReadOutput(Published, frozen=True, kw_only=True):
    """The result of a read."""

    content: str | None = None
    """The text, without the line numbers the CLI shows to the model."""
    line_count: int | None = None
    """Number of lines in `content`, as the CLI numbers them: an empty one follows a newline at the end."""
    truncated: bool | None = None
    """True when the file has more than `content` shows."""
    start_line: int | None = None
    """Number of the first line in `content`, from 1."""
    total_lines: int | None = None
    """Number of lines of the whole file."""
    parts: list[ContentPart] | None = None
    """Images, PDF pages and notebook cells."""
    unchanged: bool | None = None
    """True when the CLI returned nothing, the file being as it was when last read."""


class ReadFile(Published, frozen=True, kw_only=True):
    """A file is read."""

    file_path: str
    """Path as the agent gave it."""
    offset: int | None = None
    """First requested line, from 1."""
    limit: int | None = None
    """Number of requested lines."""
    pages: str | None = None
    """Requested pages of a PDF: `3` or `1-5`."""
    output: ReadOutput | None = None
    """Present once the call has a result."""


class Mutation(Published, frozen=True, kw_only=True):
    """One change to a file."""

    type: Literal["create", "overwrite", "edit", "insert", "delete"]
    """The change: a new file, a replaced file, a replaced passage, a notebook cell added or removed.

    An agent tells by the result alone whether a file is new or replaced. Until then a call that writes a whole file says `create`;
    a permission request of a live session says what turnwire finds on the disk.
    """
    content: str | None = None
    """The whole new content, of create, overwrite and insert."""
    old_content: str | None = None
    """The replaced passage."""
    new_content: str | None = None
    """The passage that replaces it."""
    diff: str | None = None
    """Unified diff with the file's true line numbers, as far as they are known. `git apply` accepts it, unless `relative`.

    It is a diff of the file as the agent reads it: with CR LF read as LF, and with U+FFFD for bytes that are not UTF-8.
    """
    file_path: str | None = None
    """The file, where one call changes several and it is another than the call's first."""
    relative: bool | None = None
    """True when the diff counts lines from the beginning of the passage, the file's own numbers being unknown."""
    approximate: bool | None = None
    """True when the diff shows more lines as changed than have changed: the texts are too large for the shortest one."""
    replace_all: bool | None = None
    """True when every occurrence is replaced."""
    cell_id: str | None = None
    """The changed notebook cell."""
    cell_type: str | None = None
    """`code` or `markdown`, of a notebook cell."""

    def __post_init__(self) -> None:
        """Set `approximate` for an approximate diff, whoever made it."""
        if isinstance(self.diff, Approximate):
            force_setattr(self, "diff", str(self.diff))
            force_setattr(self, "approximate", True)


class ModifyOutput(Published, frozen=True, kw_only=True):
    """The result of a modification."""

    applied: bool
    """True when the file was changed."""
    created: bool | None = None
    """True when the file did not exist before, False when it was overwritten."""
    added_lines: int | None = None
    """Lines the diff adds."""
    removed_lines: int | None = None
    """Lines the diff removes."""
    user_modified: bool | None = None
    """True when a human changed the proposal before it was applied."""
    message: str | None = None
    """The tool's message; the full text if it failed."""


class ModifyFile(Published, frozen=True, kw_only=True):
    """A file is created, overwritten or edited."""

    file_path: str
    """Path as the agent gave it."""
    mutations: list[Mutation]
    """The changes, in order."""
    output: ModifyOutput | None = None
    """Present once the call has a result."""


class SearchMatch(Published, frozen=True, kw_only=True):
    """One line of a content search."""

    file: str | None = None
    """The file, when the output names it."""
    line: int | None = None
    """Line number, from 1, when the output has it."""
    text: str
    """The line."""
    context: bool | None = None
    """True when the line is context and not a match."""


class SearchOutput(Published, frozen=True, kw_only=True):
    """The result of a search."""

    files: list[str] | None = None
    """Files found."""
    file_count: int | None = None
    """Number of files; 0 if the tool reports no match."""
    truncated: bool | None = None
    """True when there is more than was returned."""
    match_count: int | None = None
    """Number of matches, in the content and count modes."""
    matches: list[SearchMatch] | None = None
    """The lines, in the content mode."""
    counts: dict[str, int] | None = None
    """Matches per file, in the count mode."""


class CodeSearch(Published, frozen=True, kw_only=True):
    """Files or their content are searched."""

    query: str | None = None
    """The text to find in the content."""
    pattern: str | None = None
    """The pattern as the tool got it: a glob of file names or a regular expression."""
    path: str | None = None
    """Where to look."""
    glob: str | None = None
    """Which file names to look at."""
    file_type: str | None = None
    """Which file type to look at."""
    mode: str | None = None
    """files_with_matches, content or count."""
    line_numbers: bool | None = None
    """Whether line numbers were requested, if the agent said so."""
    case_insensitive: bool | None = None
    """True when upper and lower case count as equal."""
    multiline: bool | None = None
    """True when a match may span lines."""
    before: int | None = None
    """Requested lines of context before each match."""
    after: int | None = None
    """Requested lines of context after each match."""
    limit: int | None = None
    """Requested number of lines or files."""
    output: SearchOutput | None = None
    """Present once the call has a result."""

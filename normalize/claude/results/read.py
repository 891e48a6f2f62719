"""Results of reading files: text, images, notebooks, documents."""

import re

from msgspec.structs import replace

from turnwire.normalize.claude.results import numbered
from turnwire.normalize.claude.results.answer import ToolAnswer, document, image, text_part
from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads.fields import fields, flag, objects, text, texts, whole
from turnwire.normalize.payloads.files import ContentPart, ReadFile, ReadOutput

_CELL = re.compile(r'<cell id="([^"\n]*)">(?:<cell_type>(\w+)</cell_type>)?(?:<language>[^<]*</language>)?')
_OPENING = '<cell id="'
_SHORT = re.compile(r"The file has (\d{1,9}) lines")
_REMINDER = "<system-reminder>"
_UNCHANGED = "File unchanged since last read"


def read(body: ReadFile, answer: ToolAnswer) -> ReadFile:
    """Return a read with its content."""
    if answer.reason is not None:
        return body
    file = fields(answer.fields.get("file"))
    match text(answer.fields, "type"):
        case "text" if "content" in file:
            output = _text(file)
        case "image":
            output = ReadOutput(parts=[image(text(file, "base64"), text(file, "type"))])
        case "notebook":
            output = _notebook([part for cell in objects(file, "cells") for part in _cell(cell)])
        case "pdf":
            output = ReadOutput(
                parts=[document(text(file, "base64"), "application/pdf", text(file, "filePath"))]
            )
        case "parts":
            output = ReadOutput(parts=_pages(answer))
        case "file_unchanged":
            output = ReadOutput(unchanged=True)
        case _:
            output = _from_parts(body, answer)
    return replace(body, output=output)


def _text(file: JsonObject) -> ReadOutput:
    content = text(file, "content") or ""
    start, count, total = whole(file, "startLine"), whole(file, "numLines"), whole(file, "totalLines")
    count = content.count("\n") + 1 if count is None else count
    first = 1 if start is None else start
    more = total is not None and first + count - 1 < total
    return ReadOutput(
        content=content,
        line_count=count,
        truncated=first > 1 or more or flag(file, "truncatedByTokenCap") or False,
        start_line=first,
        total_lines=total,
    )


def _from_parts(body: ReadFile, answer: ToolAnswer) -> ReadOutput:
    """Read the form that the model sees."""
    if cells := _parts_of_cells(answer.parts):
        return _notebook(cells)
    if any(part.type != "text" for part in answer.parts):
        return ReadOutput(parts=answer.parts)
    if answer.text.startswith(_UNCHANGED):
        return ReadOutput(unchanged=True)
    if answer.text.startswith(_REMINDER):
        short = _SHORT.search(answer.text)
        return ReadOutput(content="", line_count=0, total_lines=int(short[1]) if short else None)
    start, lines, _ = numbered.parse(answer.text)
    if not lines:
        return ReadOutput(content=answer.text, line_count=answer.text.count("\n") + 1 if answer.text else 0)
    return ReadOutput(
        content="\n".join(lines),
        line_count=len(lines),
        start_line=start,
        # With fewer lines than asked for, or than the default of 2000, the end was reached.
        truncated=start > 1 or (None if len(lines) >= (body.limit or 2000) else False),
    )


def _notebook(parts: list[ContentPart]) -> ReadOutput:
    sources = [part.text or "" for part in parts if part.cell_type != "output" and part.type == "text"]
    content = "\n\n".join(sources)
    return ReadOutput(content=content, line_count=content.count("\n") + 1 if content else 0, parts=parts)


def _cell(cell: JsonObject) -> list[ContentPart]:
    cell_id = text(cell, "cell_id", "id")
    source = text(cell, "source")
    if source is None:
        source = "".join(texts(cell, "source") or [])
    kind = text(cell, "cellType", "cell_type")
    parts = [ContentPart(type="text", text=source, cell_id=cell_id, cell_type=kind)]
    for output in objects(cell, "outputs"):
        said = text(output, "text")
        if said is not None:
            parts.append(ContentPart(type="text", text=said, cell_id=cell_id, cell_type="output"))
        picture = fields(output.get("image"))
        if picture:
            part = image(text(picture, "image_data", "base64", "data"), text(picture, "media_type"))
            parts.append(replace(part, cell_id=cell_id, cell_type="output"))
    return parts


def _parts_of_cells(parts: list[ContentPart]) -> list[ContentPart]:
    """Read a notebook as the model sees it: cells and their outputs as text, with images between; none if it is none."""
    found: list[ContentPart] = []
    for part in parts:
        last = found[-1].cell_id if found else None
        if part.type == "text":
            cells = _cells(part.text or "", last)
            if not (found or cells):
                return []
            found += cells
        elif last is None:
            return []
        else:
            found.append(replace(part, cell_id=last, cell_type="output"))
    return found


def _cells(said: str, last: str | None) -> list[ContentPart]:
    """Read `<cell id="c1">…</cell id="c1">` one after the other, each with its outputs behind it.

    Text before the first one is output of the `last` cell, if there is one; without it, the text has no cells.
    """
    parts: list[ContentPart] = []
    at = 0
    if last is not None:
        at = said.find(_OPENING)
        at = len(said) if at < 0 else at
        parts += _output(said[:at], last)
    while opening := _CELL.match(said, at):
        closing = f'</cell id="{opening[1]}">'
        end = said.find(closing, opening.end())
        if end < 0:
            break
        source, kind = said[opening.end() : end], opening[2] or "code"
        parts.append(ContentPart(type="text", text=source, cell_id=opening[1], cell_type=kind))
        following = said.find(_OPENING, end + len(closing))
        at = len(said) if following < 0 else following
        parts += _output(said[end + len(closing) : at], opening[1])
    return parts


def _output(said: str, cell_id: str) -> list[ContentPart]:
    output = said.strip("\n")
    return [ContentPart(type="text", text=output, cell_id=cell_id, cell_type="output")] if output else []


def _pages(answer: ToolAnswer) -> list[ContentPart]:
    pages = [image(text(page, "base64"), text(page, "mediaType")) for page in objects(answer.fields, "pages")]
    return [*pages, text_part(answer.text)] if answer.text and not pages else pages

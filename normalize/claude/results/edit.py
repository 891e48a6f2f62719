"""Results of tools that change files: the changes as diffs with true line numbers."""

from msgspec.structs import replace

from turnwire.normalize.claude.results import hunks, numbered
from turnwire.normalize.claude.results.answer import ToolAnswer
from turnwire.normalize.model import JsonObject
from turnwire.normalize.payloads import diff
from turnwire.normalize.payloads.fields import fields, flag, objects, parsed, text
from turnwire.normalize.payloads.files import ModifyFile, ModifyOutput, Mutation

_CREATED = "File created successfully at"
_SNIPPET = "on a snippet of the edited file:\n"
_AROUND = 4
"""Lines of context before the edit in a snippet. Fewer if the file begins sooner."""


def modify(body: ModifyFile, answer: ToolAnswer) -> ModifyFile:
    """Return a modification with its result."""
    result = answer.fields
    failure = answer.error or text(result, "error") or None
    if failure is not None:
        output = ModifyOutput(applied=False, message=failure)
        return replace(body, output=output)
    mutations, created = _mutations(body, answer)
    added, removed = _counts(mutations)
    output = ModifyOutput(
        applied=True,
        created=created,
        added_lines=added,
        removed_lines=removed,
        user_modified=flag(result, "userModified"),
        message=answer.text.partition("\n")[0] or None,
    )
    return replace(body, mutations=mutations, output=output)


def _counts(mutations: list[Mutation]) -> tuple[int | None, int | None]:
    """Return how many lines were added and removed; None if a diff does not show it."""
    added: int | None = None
    removed: int | None = None
    for mutation in mutations:
        if mutation.diff is None:
            continue
        if mutation.type == "create" and mutation.old_content is None:
            # All lines of a new file are added: it may be large, and its diff need not be searched.
            more, less = diff.line_count(mutation.content or ""), 0
        else:
            more, less = diff.counts(mutation.diff)
        added, removed = (added or 0) + more, (removed or 0) + less
    return added, removed


def _mutations(body: ModifyFile, answer: ToolAnswer) -> tuple[list[Mutation], bool | None]:
    """Return the changes as they were applied, and whether they made the file."""
    if len(body.mutations) != 1:
        return _several(body, text(answer.fields, "originalFile")), None
    only = body.mutations[0]
    if only.cell_id is not None or "new_source" in answer.fields:
        return [_cell(body.file_path, only, answer.fields)], None
    if only.type in {"create", "overwrite"}:
        return _written(body.file_path, only, answer)
    if only.type == "edit":
        return _edited(body.file_path, only, answer)
    return [only], None


def _written(path: str, only: Mutation, answer: ToolAnswer) -> tuple[list[Mutation], bool | None]:
    result = answer.fields
    content = text(result, "content") or only.content or ""
    created = text(result, "type") == "create" if "type" in result else answer.text.startswith(_CREATED)
    original = text(result, "originalFile")
    if created:
        change = diff.of_new_file(path, content)
        return [Mutation(type="create", content=content, diff=change)], True
    patch = hunks.of_result(path, result, original, content)
    if patch is None and original is not None:
        patch = diff.of_files(path, original, content)
    return [Mutation(type="overwrite", content=content, old_content=original, diff=patch)], False


def _edited(path: str, only: Mutation, answer: ToolAnswer) -> tuple[list[Mutation], bool | None]:
    result = answer.fields
    old = _or(text(result, "oldString"), only.old_content)
    new = _or(text(result, "newString"), only.new_content)
    everywhere = flag(result, "replaceAll") if "replaceAll" in result else only.replace_all
    original = text(result, "originalFile")
    created = not old and not original
    # The CLI also finds text whose quotes are curly where the model's are straight, and then curls the new ones, too.
    as_asked = only.old_content is None or only.old_content == old
    known = original is not None and as_asked and old in original
    after = _applied(original or "", old, new, everywhere=bool(everywhere)) if known or created else None
    if created and after is not None and "originalFile" in result:
        patch: str | None = diff.of_new_file(path, after)
    else:
        patch = hunks.of_result(path, result, original, after)
        if patch is None and original is not None and after is not None:
            patch = diff.of_files(path, original, after)
    if patch is None:
        patch = _from_snippet(path, old, new, answer.text)
    change = replace(
        only,
        old_content=old,
        new_content=new,
        replace_all=everywhere,
        diff=diff.of_passages(path, old, new) if patch is None else patch,
        relative=True if patch is None else None,
        approximate=None,
    )
    return [change], created


def _applied(original: str, old: str, new: str, *, everywhere: bool) -> str:
    """Return the file after an edit; with a line's whole text the CLI also removes the line's end."""
    if not old:
        return new
    if not new and not old.endswith("\n") and f"{old}\n" in original:
        old = f"{old}\n"
    return original.replace(old, new, -1 if everywhere else 1)


def _from_snippet(path: str, old: str, new: str, said: str) -> str | None:
    """Find the edit in the numbered snippet that versions without structured results print.

    The snippet has four lines before the edit and four behind it, where the file has them. An edit that could be in
    several places is not guessed at.
    """
    _, marker, snippet = said.partition(_SNIPPET)
    start, lines, _ = numbered.parse(snippet)
    if not (marker and lines and new):
        return None
    after = "\n".join(lines)
    if not old and after == new:
        return diff.of_new_file(path, new)
    # The first line that the edit may begin in, and the end of the last one.
    first = 0 if start == 1 else _AROUND
    begin = len("\n".join(lines[:first])) + bool(first)
    end = len("\n".join(lines[: _AROUND + 1])) + len(new)
    at = after.find(new, begin, end)
    if at < 0 or after.find(new, at + 1, end) >= 0:
        return None
    before = after[:at] + old + after[at + len(new) :]
    if after.count("\n", at + len(new)) < _AROUND:
        return diff.of_files(path, before, after, start=start)
    return diff.of_part(path, before, after, start=start)


def _several(body: ModifyFile, original: str | None) -> list[Mutation]:
    """Return several edits of one file. If the file is known, each has the diff of its own step."""
    changed: list[Mutation] = []
    current = original
    for mutation in body.mutations:
        old, new = mutation.old_content or "", mutation.new_content or ""
        if current is None or old not in current:
            current = None
            changed.append(mutation)
            continue
        after = _applied(current, old, new, everywhere=bool(mutation.replace_all))
        step = {"diff": diff.of_files(body.file_path, current, after), "relative": None, "approximate": None}
        changed.append(replace(mutation, **step))
        current = after
    return changed


def _cell(path: str, only: Mutation, result: JsonObject) -> Mutation:
    """Return the change of a notebook cell; its diff counts the cell's own lines."""
    cell_id = text(result, "cell_id") or only.cell_id
    old = text(result, "old_source")
    if old is None and only.type != "insert":
        old = _cell_source(text(result, "original_file"), cell_id)
    new = _or(text(result, "new_source"), only.new_content or only.content)
    update: dict[str, object] = {"cell_id": cell_id, "cell_type": only.cell_type or text(result, "cell_type")}
    match only.type:
        case "insert":
            change = diff.of_files(path, "", _ended(new))
            update |= {"content": new, "diff": change, "relative": True}
        case "delete":
            if old is not None:
                update |= {"old_content": old, "diff": diff.of_files(path, _ended(old), ""), "relative": True}
        case _:
            if old is not None:
                change = diff.of_files(path, _ended(old), _ended(new))
                update |= {"old_content": old, "new_content": new, "diff": change, "relative": True}
    return replace(only, **update)


def _cell_source(notebook: str | None, cell_id: str | None) -> str | None:
    for place, cell in enumerate(objects(fields(parsed(notebook or "")), "cells")):
        # Cells without an id are addressed by place.
        if cell_id in {text(cell, "id"), f"cell-{place}"}:
            source = cell.get("source")
            if isinstance(source, list):
                return "".join(line for line in source if isinstance(line, str))
            return source if isinstance(source, str) else None
    return None


def _ended(source: str) -> str:
    return source if not source or source.endswith("\n") else source + "\n"


def _or(actual: str | None, asked: str | None) -> str:
    return (asked or "") if actual is None else actual

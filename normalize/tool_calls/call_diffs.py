"""Changes of files as agents tell them, as mutations with unified diffs that `patch` takes.

A diff of the protocol holds two texts: whole files of some agents, of most the passage with or without what is around
it, and nobody says which. Line numbers are true in two cases: the agent also sends hunks (Claude's structured result,
a patch in the result), or it is known to send whole files. Otherwise the diff counts from its own first line.
"""

import re
from collections.abc import Sequence

from turnwire.normalize.payloads import diff
from turnwire.normalize.payloads.fields import fields, flag, objects, text, texts, whole
from turnwire.normalize.payloads.files import Mutation
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.normalize.tool_calls.tool_call_state import ToolCallState
from turnwire.protocol.acp.content import Diff
from turnwire.protocol.json_values import JsonObject

_HUNK = re.compile(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.MULTILINE)
_MOST = 1000
"""Changes of one call that are looked at."""


def mutations(facts: ToolCallState, quirks: CallQuirks, *, path: str) -> list[Mutation]:
    """Return the changes that a call makes, as far as it has told; `path` is the call's own file."""
    shown = facts.diffs[:_MOST]
    if shown:
        return [
            mutation for block in shown for mutation in _shown(block, facts, quirks, path, len(shown) == 1)
        ]
    return _of_arguments(facts, path)


def _shown(block: Diff, facts: ToolCallState, quirks: CallQuirks, path: str, alone: bool) -> list[Mutation]:
    if block.patch is not None or block.changes is not None:
        return _patched(block, path)
    name = block.path or path
    other = name if name != path else None
    kind = text(fields(block.meta), "kind", "operation")
    old, new = block.old_text, block.new_text or ""
    if (hunks := _kept_hunks(block, name)) is not None:
        # hunks may be far apart: their texts together are no passage
        is_passage = len(_HUNK.findall(hunks)) == 1
        return [
            Mutation(
                type="edit",
                file_path=other,
                old_content=old if is_passage else None,
                new_content=new if is_passage else None,
                diff=hunks,
            )
        ]
    told = _response_diff(facts, name) if alone else None
    if told is None and alone and old is not None:
        told = _told_patch(facts, name)
    if (
        kind == "delete"
        or (block.new_text is None and old is not None)
        or (facts.kind == "delete" and not new)
    ):
        return [
            Mutation(
                type="delete",
                file_path=other,
                old_content=old,
                diff=told or (diff.of_files(name, old, "") if old else None),
            )
        ]
    if old is None or kind == "add" or (not old and quirks.shows_whole_files):
        overwritten = fields(facts.response).get("originalFile") is not None
        return [
            Mutation(
                type="overwrite" if overwritten else "create",
                file_path=other,
                content=new,
                diff=told or diff.of_new_file(name, new),
            )
        ]
    if quirks.shows_whole_files:
        return [
            Mutation(
                type="edit",
                file_path=other,
                old_content=old,
                new_content=new,
                diff=told or diff.of_files(name, old, new),
            )
        ]
    arguments = facts.arguments
    relative = None if told else True
    return [
        Mutation(
            type="edit",
            file_path=other,
            old_content=old,
            new_content=new,
            diff=told or diff.of_passages(name, old, new),
            relative=relative,
            replace_all=flag(arguments, "replace_all", "replaceAll") or None,
        )
    ]


def _kept_hunks(block: Diff, name: str) -> str | None:
    """Return the diff with the file's own line numbers that a file of the agent's own has."""
    hunks = text(fields(block.meta), "turnwire/diff")
    return None if hunks is None else of_patch(hunks, name)


def _of_arguments(facts: ToolCallState, path: str) -> list[Mutation]:
    """Return the change that the arguments tell of; agents often show no diff before they ask, or none at all."""
    arguments = facts.arguments
    told = _response_diff(facts, path) or _told_patch(facts, path)
    edits = objects(arguments, "edits")[:_MOST]
    found: list[Mutation] = []
    for edit in edits or [arguments]:
        old = text(edit, "old_string", "old_str", "oldString", "oldText", "old_text", "old")
        new = text(edit, "new_string", "new_str", "newString", "newText", "new_text", "new")
        if old is None and new is None:
            continue
        old, new = old or "", new or ""
        found.append(
            Mutation(
                type="edit",
                old_content=old,
                new_content=new,
                diff=diff.of_passages(path, old, new) if told is None or len(edits) > 1 else told,
                relative=True if told is None or len(edits) > 1 else None,
                replace_all=flag(edit, "replace_all", "replaceAll") or None,
            )
        )
    if found:
        return found
    content = text(arguments, "content", "file_text", "contents", "text")
    if content is not None and facts.kind not in ("delete", "move"):
        overwritten = text(fields(facts.response), "originalFile") is not None
        return [
            Mutation(
                type="overwrite" if overwritten else "create",
                content=content,
                diff=told or diff.of_new_file(path, content),
            )
        ]
    if facts.kind == "delete":
        return [Mutation(type="delete")]
    return [Mutation(type="edit", diff=told)] if told else []


def _response_diff(facts: ToolCallState, path: str) -> str | None:
    """Return the diff of Claude's structured result: hunks with the file's own line numbers."""
    response = fields(facts.response)
    hunks = objects(response, "structuredPatch")[:_MOST]
    original = text(response, "originalFile")
    if not hunks:
        written = text(response, "content")
        if original is not None and written is not None:
            return diff.of_files(path, original, written) or None
        return None
    body: list[str] = []
    for hunk in hunks:
        numbers = [whole(hunk, name) for name in ("oldStart", "oldLines", "newStart", "newLines")]
        lines = texts(hunk, "lines")
        if lines is None or any(number is None for number in numbers):
            return None
        old_start, old_lines, new_start, new_lines = (number or 0 for number in numbers)
        body.append(diff.header(old_start, old_lines, new_start, new_lines))
        body += lines
    if original is not None and _lost_its_mark(body) and (changed := _edited(original, response)) is not None:
        return diff.of_files(path, original, changed)
    return diff.document(path, body)


def _lost_its_mark(body: Sequence[str]) -> bool:
    """Tell whether a line is removed and added as it was: hunks are told without the mark of a file that ends within a line."""
    removed = {line[1:] for line in body if line.startswith("-")}
    return any(line[1:] in removed for line in body if line.startswith("+"))


def _edited(original: str, response: JsonObject) -> str | None:
    """Return the file after the edit that a structured result tells of; None where it does not fit."""
    old, new = text(response, "oldString"), text(response, "newString")
    if not old or not new or old not in original:
        return text(response, "content")
    return original.replace(old, new, -1 if flag(response, "replaceAll") else 1)


def _told_patch(facts: ToolCallState, path: str) -> str | None:
    """Return the unified diff of one file that a result or the arguments hold, under this path."""
    result, arguments = fields(facts.raw_output), facts.arguments
    metadata = fields(result.get("metadata"))
    for place, names in (
        (metadata, ("diff",)),
        (result, ("diff", "patch", "detailedContent")),
        (arguments, ("diff",)),
    ):
        told = text(place, *names)
        if told is not None and (found := of_patch(told, path)) is not None:
            return found
    return None


def of_patch(patch: str, path: str) -> str | None:
    """Return the hunks of a patch of one file as a diff of this path; None if it has none, or several files."""
    first = _HUNK.search(patch)
    if first is None or patch.count("\n--- ", 0, first.start()) + patch.startswith("--- ") > 1:
        return None
    lines = patch[first.start() :].split("\n")
    while lines and not lines[-1]:
        lines.pop()
    # a line of context that lost its blank is one of nothing; no other line is one of a hunk, nor is the head of another file
    lines = [line or " " for line in lines]
    if any(not line.startswith((" ", "+", "-", "@", "\\")) for line in lines):
        return None
    return diff.document(path, lines)


def _patched(block: Diff, path: str) -> list[Mutation]:
    """Return the changes of version 2: operations, and one git patch for all of them."""
    patch = text(fields(block.patch), "text")
    changes = [fields(change) for change in (block.changes or [])][:_MOST]
    if len(changes) > 1 and patch is not None:
        return [_change(change, path, None) for change in changes[:-1]] + [_change(changes[-1], path, patch)]
    return [_change(changes[0] if changes else {}, path, patch)]


def _change(change: JsonObject, path: str, patch: str | None) -> Mutation:
    name = text(change, "path") or path
    operation = text(change, "operation") or "modify"
    told = None
    if patch is not None:
        told = of_patch(patch, name) if operation != "delete" else None
        told = told or patch
    if told is not None and operation in ("add", "create"):
        told = told.replace("--- " + name, "--- /dev/null", 1) if told.startswith("--- " + name) else told
    return Mutation(
        type="create" if operation in ("add", "create") else "delete" if operation == "delete" else "edit",
        file_path=name if name != path else None,
        diff=told,
    )


def counted(found: Sequence[Mutation]) -> tuple[int | None, int | None]:
    """Return how many lines all changes add and remove; None where a diff is missing."""
    if not found or any(mutation.diff is None for mutation in found):
        return None, None
    pairs = [diff.counts(mutation.diff or "") for mutation in found]
    return sum(added for added, _ in pairs), sum(removed for _, removed in pairs)

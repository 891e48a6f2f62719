"""Diffs against the workspace's real files, as they were before and after each call."""

import base64
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from patches import git_applied

from recordings import FIXTURES, Recording, recordings
from tests.normalize.translating import as_json, of_session

JsonObject = dict[str, Any]
Files = dict[str, bytes | None]

FOLDER = "/workspace/project"

WITH_FILES = [
    recording
    for recording in recordings()
    if recording.folder.is_relative_to(FIXTURES) and (recording.folder / "files.jsonl").exists()
]


def steps(recording: Recording) -> Iterator[tuple[list[str], Files, Files]]:
    """The calls of each answer of the model, and the files before and after them."""
    files: Files = {}
    answers: list[tuple[list[str], Files]] = []
    for line in (recording.folder / "files.jsonl").read_bytes().splitlines():
        row = json.loads(line)
        for path, content in row["changed"].items():
            files[path] = None if content is None else base64.b64decode(content)
        if row["key"] is not None:
            answers.append(([call["id"] for call in row["tools"]], dict(files)))
    for (calls, before), (_, after) in pairwise(answers):
        yield calls, before, after


def applied(before: bytes | None, mutations: list[JsonObject]) -> str | None:
    """The file after the changes, or None where a diff does not claim to be one of the whole file."""
    content = None if before is None else before.decode()
    for mutation in mutations:
        if mutation.get("diff") is None or mutation.get("relative"):
            return None
        if mutation["diff"] == "" and content is None:
            content = ""
        elif mutation["diff"]:
            new = mutation["diff"].startswith("--- /dev/null")
            content = git_applied(None if new else content, mutation["diff"])
    return content


@pytest.mark.parametrize("recording", WITH_FILES, ids=str)
def test_git_applies_every_diff_to_the_real_file_and_gives_the_real_new_one(recording: Recording) -> None:
    updates = {
        event["tool_call_id"]: event["normalized"]["modify_file"]
        for event in as_json(of_session(recording)[0])
        if event["type"] == "tool_update" and "modify_file" in event.get("normalized", {})
    }
    for calls, before, after in steps(recording):
        changes = [updates[call] for call in calls if call in updates and updates[call]["output"]["applied"]]
        paths: dict[str, list[JsonObject]] = {
            change["file_path"]: [] for change in changes if not change["file_path"].startswith("~")
        }
        for change in changes:
            paths.get(change["file_path"], []).extend(change["mutations"])
        for path, mutations in paths.items():
            whole = path if path.startswith("/") else f"{FOLDER}/{path}"
            result = applied(before.get(whole), mutations)
            real = after.get(whole)
            if result is not None:
                assert result == (None if real is None else real.decode()), f"{recording}: {path}"


def test_enough_diffs_are_held_against_real_files() -> None:
    found = sum(
        mutation.get("diff") is not None and not mutation.get("relative")
        for recording in WITH_FILES
        for event in as_json(of_session(recording)[0])
        if event["type"] == "tool_update" and "modify_file" in event.get("normalized", {})
        for mutation in event["normalized"]["modify_file"]["mutations"]
    )
    assert found > 60

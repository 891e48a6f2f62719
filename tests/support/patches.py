"""Applying a unified diff, the strict way and git's own: oracles for the diffs we publish."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
NO_NEWLINE = "\\ No newline at end of file"


def patched(original: str, diff: str) -> str:
    """Apply a unified diff, insisting that every context and every removed line is where the diff says."""
    old = re.findall(r"[^\n]*\n|[^\n]+", original)
    new: list[str] = []
    at = 0
    lines = diff.split("\n")
    assert lines.pop() == ""
    assert lines[0].startswith("--- ")
    assert lines[1].startswith("+++ ")
    position = 2
    while position < len(lines):
        found = HUNK.fullmatch(lines[position])
        assert found is not None, lines[position]
        start, length, new_start, new_length = map(int, found.groups())
        position += 1
        begin = start - 1 if length else start
        new += old[at:begin]
        at = begin
        assert new_start == len(new) + (1 if new_length else 0)
        removed = added = 0
        while position < len(lines) and not lines[position].startswith("@@"):
            mark, content = lines[position][:1], lines[position][1:] + "\n"
            position += 1
            if position < len(lines) and lines[position] == NO_NEWLINE:
                content = content[:-1]
                position += 1
            assert mark in " -+"
            if mark in " -":
                assert old[at] == content
                at += 1
                removed += 1
            if mark in " +":
                new.append(content)
                added += 1
        assert (removed, added) == (length, new_length)
    return "".join(new + old[at:])


def git_applied(original: str | None, diff: str) -> str:
    """Apply the diff of one file with `git apply`; `original` is None where there is no file yet.

    Raises AssertionError with git's words when it refuses.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f")
        if original is not None:
            path.write_text(original, encoding="utf-8", newline="")
        lines = diff.split("\n")
        lines[:2] = ["--- /dev/null" if original is None else "--- f", "+++ f"]
        done = subprocess.run(
            ["git", "apply", "-p0", "--whitespace=nowarn", "-"],
            input="\n".join(lines).encode(),
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": folder, "GIT_CEILING_DIRECTORIES": folder},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode() + diff
        return path.read_bytes().decode() if path.exists() else ""

"""`turnwire export FILE`: any recording as a document, wherever it lies."""

import subprocess
from pathlib import Path

import pytest
from acp_recordings import ACP

from recordings import recording
from turnwire.history.recorded_file import export_file
from turnwire.tracing.prices import prices
from turnwire_process import TURNWIRE, environment

MADE = recording("2.1.330", "perm-allow").folder


def exported(path: Path, form: str = "markdown") -> str:
    return export_file(path, prices, "html" if form == "html" else "markdown", redact=False)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_recording_is_a_document_with_what_it_says_of_itself(form: str) -> None:
    folder, file = (exported(path, form) for path in (MADE, MADE / "stdout.jsonl"))
    for text in (folder, file):
        assert "claude-opus-5-5" in text
        assert "Cost" in text
    # what was sent is in the folder alone: the prompts, and the answers that were given
    assert folder.count("touch made.txt") >= file.count("touch made.txt") >= 1


def test_so_is_that_of_another_agent() -> None:
    assert "## Prompt" in exported(min(ACP.glob("*/*/timeline.jsonl")).parent)


def test_the_command_takes_files_folders_and_standard_input(tmp_path: Path) -> None:
    file = MADE / "stdout.jsonl"
    env = environment(tmp_path)
    call = [*TURNWIRE, "export", "-"]
    piped = subprocess.run(
        call, input=file.read_bytes(), capture_output=True, check=True, timeout=60, env=env
    )
    # who has asked nothing in it is called as its file
    assert piped.stdout.decode().splitlines()[1:] == exported(file).splitlines()[1:]
    page = tmp_path / "page.html"
    subprocess.run([*TURNWIRE, "export", "--redact", str(MADE), str(page)], check=True, timeout=60, env=env)
    assert page.read_text().startswith("<!doctype html>")

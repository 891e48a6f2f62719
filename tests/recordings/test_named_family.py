"""`--family NAME` names the family whose lines a recording has, where they do not tell."""

import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from turnwire.normalize.families import UnknownFamily
from turnwire.recordings.filters.translate import run
from turnwire.sidecar.checks.doctor.drift import finding
from turnwire.sidecar.cli import filters, live  # noqa: F401 - they register their commands
from turnwire.sidecar.cli.application import app
from turnwire.sidecar.cli.translate import main as translate

LINE = {"type": "weather", "session_id": "s"}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A line that says nothing to anybody."""
    file = tmp_path / "stdout.jsonl"
    file.write_text(json.dumps(LINE) + "\n")
    return file


def test_translate_reads_it_so(log: Path) -> None:
    out = io.BytesIO()
    run(log, out, field_limit=1 << 20, stats=False, family="gemini")
    assert [json.loads(line)["type"] for line in out.getvalue().splitlines()] == ["unknown", "process_status"]
    with pytest.raises(UnknownFamily):
        run(log, out, field_limit=1 << 20, stats=False, family="smalltalk")


def test_a_name_that_is_no_familys_is_one_sentence(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert translate(["--family", "smalltalk", str(log)]) == 1
    told = capsys.readouterr().err
    assert told.startswith("turnwire: there is no family 'smalltalk'; choose one of claude, ")


@pytest.mark.parametrize("command", ["inspect", "replay"])
def test_so_do_the_others(command: str, log: Path) -> None:
    done = CliRunner().invoke(app, [command, "--family", "gemini", str(log)])
    assert (done.exit_code, "1 unknown" in done.output or "weather" in done.output) == (0, True)
    refused = CliRunner().invoke(app, [command, "--family", "smalltalk", str(log)])
    assert refused.exit_code == 1


def test_doctor_says_what_a_family_does_not_know(log: Path) -> None:
    assert "types gemini weather" in finding(log, "gemini").found

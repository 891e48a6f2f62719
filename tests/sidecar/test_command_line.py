"""Commands called in this process: what they print, and what a wrong call is answered with."""

import json
import os
import socket
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from recordings import recording
from turnwire._runtime.version import VERSION
from turnwire.sidecar.cli.application import plain_errors
from turnwire.sidecar.cli.commands import application


def called(*arguments: str, given: bytes = b"") -> Result:
    return CliRunner().invoke(application(), list(arguments), input=given)


def test_the_version_is_said_without_a_command() -> None:
    done = called("--version")
    assert (done.exit_code, done.stdout) == (0, f"turnwire {VERSION}\n")


@pytest.mark.parametrize("what", ["events", "commands", "frames", "asyncapi"])
def test_each_schema_is_json(what: str) -> None:
    done = called("schema", what)
    assert done.exit_code == 0
    assert set(json.loads(done.stdout)) & {"$defs", "asyncapi"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("agui", "--connect", "nonsense"), "--connect 'nonsense' is not the address of a hub"),
        (("agui", "--connect", "http://[bad"), "--connect 'http://[bad' is not the address of a hub"),
        (("acp", "--connect", "ftp://127.0.0.1#token=x"), "--connect 'ftp://127.0.0.1' is not the address"),
        (("conform", "agent", "--family", "acp"), "--family says what the command after `--` speaks"),
        (("conform", "agent", "--agent", "x", "--", "y"), "a command after `--` and an agent's name"),
        (("agent", "nowhere.yaml"), "nowhere.yaml: no such file"),
        (("translate", "--field-limit", "1"), "1024"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_call_is_a_sentence_with_the_exit_code_2(
    arguments: Sequence[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = called(*arguments)
    assert done.exit_code == 2
    assert words in done.output + capfd.readouterr().err


def test_a_taken_port_of_agui_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = called("agui", "--port", str(port))
    assert done.exit_code == 1
    said = f"cannot listen on 127.0.0.1:{port}: Address already in use; take another with --host and --port"
    assert said in done.output


def test_a_journal_is_set_aside_whole_and_only_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite3"
    path.write_bytes(b"damaged")
    done = called("journal", "set-aside", "--state-dir", str(tmp_path))
    assert done.exit_code == 0, done.output
    (moved,) = [file for file in tmp_path.iterdir() if file.read_bytes() == b"damaged"]
    assert done.stdout.startswith(f"{path} is now {moved.name}; the next start")
    again = called("journal", "set-aside", "--state-dir", str(tmp_path))
    assert (again.exit_code, f"there is no journal {path}" in again.output) == (1, True)


def test_a_recording_may_come_by_standard_input_or_by_a_pipe_of_the_shell(tmp_path: Path) -> None:
    file = recording("2.1.330", "plain-text").folder / "stdout.jsonl"
    expected = json.loads(called("inspect", str(file), "--json").stdout)["turns"]
    assert json.loads(called("inspect", "-", "--json", given=file.read_bytes()).stdout)["turns"] == expected
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writing.start()
    done = called("inspect", str(pipe), "--json")
    writing.join()
    assert json.loads(done.stdout)["turns"] == expected


def test_an_empty_recording_is_told_with_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    done = called("inspect", str(tmp_path / "empty.jsonl"))
    assert (done.exit_code, "the file is empty; give a recording" in done.output) == (1, True)


def test_an_interrupt_is_the_exit_code_that_a_shell_expects() -> None:
    with pytest.raises(typer.Exit) as left, plain_errors():
        raise KeyboardInterrupt
    assert left.value.exit_code == 130


def test_a_taken_port_of_the_kit_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = called("conform", "frontend", "--port", str(port), "--", "sleep", "600")
    assert done.exit_code == 1
    assert f"cannot listen on port {port} (Address already in use)" in done.output
    assert "give another with --port" in done.output


def test_a_wrong_option_is_explained_without_the_words_of_a_library() -> None:
    result = called("run", "--policy", "careful")
    assert result.exit_code == 2
    assert "'careful' is not one of 'autonomous', 'supervised', 'plan'" in result.output
    assert "Value error" not in result.output

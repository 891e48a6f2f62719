"""`turnwire record` as a process, and `turnwire conform recording` of what it has written."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pseudo_terminal import on_a_terminal

from live import descendants, gone
from recordings import ROOT
from turnwire.config.agents import Agent, AgentNotFoundError, AgentSetting
from turnwire.config.settings import Settings
from turnwire.sidecar.checks.conform.recording import judge
from turnwire.sidecar.streams.record.command import RecordError, command_of
from turnwire.sidecar.streams.record.command import record as run
from turnwire_process import DEADLINE, TURNWIRE, environment

STREAM = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
PROMPT = b'{"type":"user","message":{"role":"user","content":"/help"}}\n'
SECRET = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2 + "ABCDEFGHIJKLMNOPQRS-abcdefgAA"


def record(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*TURNWIRE, "record", *arguments],
        cwd=folder,
        env=environment(folder / "home", PYTHONPATH=str(ROOT)),
        input=given,
        capture_output=True,
        timeout=DEADLINE,
        check=False,
    )


def verdicts(folder: Path, **options: Any) -> dict[str, str]:
    return {finding.check: finding.verdict for finding in judge(folder, **options)}


def test_what_an_agent_reads_and_writes_is_passed_on_and_kept(tmp_path: Path) -> None:
    done = record(tmp_path, "demo", "--out", "new", "--", *STREAM, given=PROMPT)
    assert done.returncode == 0
    assert (tmp_path / "new" / "stdout.jsonl").read_bytes() == done.stdout
    assert (tmp_path / "new" / "stdin.jsonl").read_bytes() == PROMPT
    [run] = json.loads((tmp_path / "new" / "meta.json").read_bytes())["runs"]
    assert run["argv"][-len(STREAM) :] == list(STREAM)
    assert "HOME" in run["env"]
    assert str(tmp_path / "home") not in json.dumps(run["env"])
    assert set(verdicts(tmp_path / "new").values()) == {"held"}


HOSTILE = f"""
import os, sys
print("{{\\"key\\": \\"{SECRET}\\"}}", flush=True)
sys.stdout.write("x" * 300_000 + chr(10) + chr(27) + "]0;title" + chr(7))
open("made", "w").write("{SECRET}")
sys.exit(7)
"""


def test_hostile_words_are_kept_redacted_and_no_terminal_obeys_them(tmp_path: Path) -> None:
    done = record(tmp_path, sys.executable, "--redact", "--out", "new", "--", "-c", HOSTILE)
    assert done.returncode == 7
    assert SECRET.encode() in done.stdout
    kept = b"".join(path.read_bytes() for path in (tmp_path / "new").iterdir())
    assert SECRET.encode() not in kept
    assert len(kept) > 300_000
    assert not list(tmp_path.glob(".turnwire-record-*"))
    code, shown = on_a_terminal(
        tmp_path,
        environment(tmp_path / "home", PYTHONPATH=str(ROOT)),
        "record",
        sys.executable,
        "--out",
        "again",
        "--",
        "-c",
        HOSTILE,
    )
    assert (code, "\x1b]0;" in shown, "⟨U+001B⟩]0;title" in shown) == (7, False, True)


async def test_ctrl_c_ends_the_agent_with_all_that_it_started_and_the_recording_stands(
    tmp_path: Path,
) -> None:
    script = "import subprocess, sys; print('begun', flush=True); subprocess.run(['sleep', '900'])"
    process = await asyncio.create_subprocess_exec(
        *TURNWIRE, "record", sys.executable, "--out", "new", "--", "-c", script,
        cwd=tmp_path,
        env=environment(tmp_path / "home", PYTHONPATH=str(ROOT)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    async with asyncio.timeout(DEADLINE):
        assert await process.stdout.readline() == b"begun\n"
        started = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        await process.communicate()
        await gone(started)
    [run] = json.loads((tmp_path / "new" / "meta.json").read_bytes())["runs"]
    assert run["exit"] != 0


@pytest.mark.parametrize(
    ("lines", "check"),
    [
        ('{"type":"what_is_this"}\n', "every line is of a known type"),
        ("no json\n", "every line is a message"),
        ('{"type":"system","subtype":"init","session_id":"s"}\n{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}\n', "something of it is told"),
    ],
)  # fmt: skip
def test_what_turnwire_does_not_read_is_broken(tmp_path: Path, lines: str, check: str) -> None:
    source = tmp_path / "stdout.jsonl"
    source.write_text(lines)
    found = verdicts(source, family="claude")
    assert found[check] == ("held" if check == "something of it is told" else "broken")
    assert found["it says how the process ended"] == "not tested"


def test_an_edit_that_left_no_trace_is_broken(tmp_path: Path) -> None:
    folder = ROOT / "fixtures" / "2.1.330" / "tool-write-edit"
    copy = tmp_path / "new"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    assert "files that were edited have changed" not in verdicts(copy)
    (copy / "files-after.txt").write_text("git status:\n")
    assert verdicts(copy)["files that were edited have changed"] == "broken"


def test_a_folder_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="name a folder that is not"):
        run(Agent("x", ("true",)), tmp_path, tmp_path, Settings(), redact=False)


def test_an_agent_is_its_program_with_the_arguments_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gemini = tmp_path / "gemini"
    gemini.write_text("")
    gemini.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    mine = AgentSetting(command=[str(gemini), "--mine"], env={"A": "1"})
    settings = Settings(agents={"mine": mine})
    assert command_of("gemini", ["-p", "hi"], settings).argv == (str(gemini), "-p", "hi")
    assert command_of("gemini", [], settings).argv[0] == str(gemini)
    given = command_of("mine", ["-p"], settings)
    assert (given.argv, given.env) == ((str(gemini), "--mine", "-p"), {"A": "1"})
    assert command_of("demo", ["-p"], settings).argv[-1] == "-p"
    with pytest.raises(AgentNotFoundError, match="no program 'nowhere'"):
        command_of("nowhere", ["x"], settings)

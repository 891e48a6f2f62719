"""`turnwire stdio` before and beside its relaying: what it says and starts nothing, and what is kept of a session."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from preloaded import ran
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Received, SessionInput
from turnwire.protocol.claude.decode import decode
from turnwire.sidecar.streams.stdio.arguments import USAGE
from turnwire.sidecar.streams.stdio.command import run
from turnwire.sidecar.streams.stdio.observed import Observed, ObservedInputs
from turnwire_process import environment


def test_help_is_said_without_an_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--agent=nobody", "--help"]) == 0
    assert capsys.readouterr().out == USAGE


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--as=klingon"], 2, "--as must be one of"),
        (["--config=nowhere.toml"], 2, "nowhere.toml: No such file"),
        (["--agent=nobody"], 1, "there is no agent 'nobody'"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_starts_nothing(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("turnwire: ")
    assert (words in said.err, said.err.count("\n")) == (True, 1)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "'http/json'"),
        ({"OTEL_LOGS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "'http/json'"),
        ({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_COMPRESSION": "zip"}, '"zip"'),
        ({"OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_COMPRESSION": "zip"}, '"zip"'),
        ({"TURNWIRE_RECORD": "1", "TURNWIRE_RECORD_DIR": "/proc/nowhere"}, "/proc/nowhere"),
    ],
)
def test_what_cannot_be_observed_is_one_line_and_the_agent_is_relayed(
    tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    program = tmp_path / "cli"
    program.write_text('#!/bin/sh\necho \'{"type":"keep_alive"}\'\nexit 7\n')
    program.chmod(0o755)
    config = tmp_path / "turnwire.toml"
    config.write_text(f'[agents]\nunder = ["{program}"]\n')
    env = environment(tmp_path / "home", **variables)
    done = ran(["stdio", "--agent=under", f"--config={config}"], env=env, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (7, b'{"type":"keep_alive"}\n')
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("turnwire: ")
    assert words in line


def test_the_version_is_the_clis_own_and_so_is_its_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "cli"
    program.write_text('#!/bin/sh\necho "9.9.9 $1"\nexit 7\n')
    program.chmod(0o755)
    config = tmp_path / "turnwire.toml"
    config.write_text(f'[agents]\nunder = ["{program}"]\n')
    assert run(["--agent=under", f"--config={config}", "--version"]) == 7
    assert capfd.readouterr().out == "9.9.9 -v\n"


def test_an_agent_of_another_dialect_says_a_version_that_the_sdk_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "turnwire.toml"
    config.write_text(f'dialect = "miriad"\n[agents]\nunder = ["{sys.executable}"]\n')
    assert run(["--agent=under", f"--config={config}", "-v"]) == 0
    assert capsys.readouterr().out.startswith("2.0.0 (turnwire ")


def test_who_watches_sees_each_line_with_the_events_it_makes() -> None:
    seen: list[tuple[SessionInput, list[str]]] = []

    def observe(item: SessionInput, events: Sequence[AgentEvent]) -> None:
        seen.append((item, [event.type for event in events]))

    line = b'{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/","tools":[]}'
    items = [
        Received(line, decode(line)),
        Received(b'{"type":"keep_alive"}', decode(b'{"type":"keep_alive"}')),
    ]
    ObservedInputs(Observed([observe, observe])).on_inputs(items)
    assert seen == [(items[0], ["session_status", "session_info", "turn_started"])] * 2 + [(items[1], [])] * 2


def test_a_session_is_recorded_where_that_is_wanted(tmp_path: Path) -> None:
    env = environment(
        tmp_path / "home", TURNWIRE_RECORD="1", TURNWIRE_RECORD_DIR=str(tmp_path / "recordings")
    )
    done = ran(["stdio", "--agent=demo"], cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr.decode()
    files = (tmp_path / "recordings").iterdir()
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert "exit" in {row["event"] for row in rows}

"""`turnwire inspect`: time is given to what was waited for, and each turn gets a verdict."""

import json
import subprocess
from pathlib import Path

import pytest
from acp_recordings import ACP

from cases import for_each
from recordings import Recording, recording, recordings
from turnwire.normalize import events as ev
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import Ended
from turnwire.normalize.payloads import ShellExecPayload
from turnwire.normalize.payloads.work import ShellExec
from turnwire.recordings.filters.inspection import MOST_REFUSED, Inspector, Report, inspect
from turnwire.recordings.filters.report import draw
from turnwire.recordings.reading import read
from turnwire.tracing.prices import prices
from turnwire_process import TURNWIRE, environment

CALL = ev.ToolCall(
    tool_status="running",
    tool_call_id="t",
    tool_name="Bash",
    tool_title="ls",
    normalized=ShellExecPayload(shell_exec=ShellExec(command="ls")),
)
ASKED = ev.PermissionRequest(
    pending_id="p", permission_title="ls", permission_options=[], action_type="command"
)
ALLOWED = ev.PermissionResolved(pending_id="p", behavior="allow", by="ada")
DONE = ev.ToolUpdate(tool_call_id="t", tool_status="complete")
STARTED = ev.TurnStarted(operation_id="turn-1", origin="user")


def complete(
    outcome: ev.Outcome = "completed", errors: list[str] | None = None, cost: float | None = 0.5
) -> ev.Complete:
    data = ev.CompleteData(
        outcome=outcome, is_error=bool(errors), errors=errors, cost_usd=cost, total_cost_usd=0.5
    )
    return ev.Complete(operation_id="turn-1", data=data)


def report(*told: tuple[float | None, AgentEvent]) -> Report:
    inspector = Inspector(prices)
    for at, event in told:
        inspector.handle(at, Ended("end_of_input"), [event])
    return inspector.report


def test_what_has_no_time_takes_none_at_the_beginning_either() -> None:
    told = report(
        (None, ev.MessageChunk(text="early")), (1.8e9, STARTED), (None, CALL), (1.8e9 + 3, complete())
    )
    assert told.seconds == told.turns[0].seconds == 3


def test_time_goes_to_the_human_before_the_tool_and_to_the_tool_before_the_model() -> None:
    (turn,) = report(
        (10, STARTED),
        (12, CALL),
        (13, ASKED),
        (20, ALLOWED),
        (24, DONE),
        (25, ev.MessageChunk(text="hm")),
        (26, complete()),
    ).turns
    assert (turn.where.model, turn.where.tool, turn.where.human, turn.where.stalled) == (4, 5, 7, 0)
    assert turn.verdict == "done"


def test_what_the_sandbox_refused_is_told_with_its_turn(capsys: pytest.CaptureFixture[str]) -> None:
    denied = ev.SandboxDenied(kind="host", target="files.example.org:443", reason="nobody allowed it")
    told = report((0, STARTED), (1, CALL), *[(2, denied)] * (MOST_REFUSED + 1), (3, DONE), (4, complete()))
    assert told.turns[0].refused == ["files.example.org:443: nobody allowed it"] * MOST_REFUSED
    draw(told, Path("recorded"))
    shown = [line.split() for line in capsys.readouterr().out.splitlines() if "refused" in line]
    assert shown == [["refused", "files.example.org:443:", "nobody", "allowed", "it"]] * MOST_REFUSED


def test_a_long_silence_of_the_model_is_called_stalled() -> None:
    (turn,) = report((0, STARTED), (100, ev.MessageChunk(text="at last")), (101, complete())).turns
    assert (turn.where.model, turn.where.stalled) == (1, 100)


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (complete("interrupted"), "interrupted"),
        (complete("error", ["no credit"]), "error: no credit"),
        (complete("max_turns"), "max turns"),
        (complete("process_exited", ["gone"]), "the CLI ended in the middle: gone"),
    ],
)
def test_the_verdict_says_how_a_turn_ended(last: ev.Complete, verdict: str) -> None:
    assert report((0, STARTED), (1, last)).turns[0].verdict == verdict


def test_a_turn_without_an_end_never_ended() -> None:
    assert report((0, STARTED)).turns[0].verdict == "never ended"


def test_a_recording_costs_what_its_turns_cost_whatever_the_totals_say() -> None:
    found = report((0, complete(cost=0.5)), (1, complete(cost=0.0)), (2, complete(cost=0.25)))
    assert (found.cost_usd, found.cost_is_whole) == (0.75, True)


def test_a_turn_whose_share_is_not_known_makes_the_cost_a_lower_bound() -> None:
    found = report((0, complete(cost=0.5)), (1, complete(cost=None)))
    assert (found.cost_usd, found.cost_is_whole) == (0.5, False)


def test_a_recording_of_another_agent_names_it_and_its_turns_of_two_sessions() -> None:
    report = inspect(read(ACP / "codex-acp-2.6.0" / "two-sessions"), prices)
    assert (report.agent, report.model) == ("@agentclientprotocol/codex-acp", "gpt-5.5[medium]")
    assert [(turn.prompts, turn.verdict) for turn in report.turns] == [(["One."], "done"), (["Two."], "done")]


@for_each("made", recordings(version="2.1.330"))
def test_every_recording_has_a_report_whose_times_add_up(made: Recording) -> None:
    found = inspect(read(made.folder), prices)
    for turn in found.turns:
        assert turn.ended is not None
        spent = turn.where.model + turn.where.tool + turn.where.human + turn.where.stalled
        assert spent == pytest.approx(turn.ended - turn.began, abs=1e-6)


def test_the_command_prints_a_report_and_json(tmp_path: Path) -> None:
    folder = recording("2.1.330", "perm-allow").folder
    for option in ([], ["--json"]):
        result = subprocess.run(
            [*TURNWIRE, "inspect", str(folder), *option],
            capture_output=True,
            check=True,
            timeout=60,
            env=environment(tmp_path),
        )
        if option:
            turns = json.loads(result.stdout)["turns"]
            assert [turn["verdict"] for turn in turns] == ["done", "done"]
        else:
            assert "turn-1 (user): done" in result.stdout.decode()


def test_nothing_that_a_recording_holds_is_an_order_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = "\\u001b]52;c;eA==\\u001b\\\\"
    file = tmp_path / "x\x1b[2J.jsonl"
    file.write_text(
        f'{{"type":"system","subtype":"init","session_id":"s","cwd":"/","tools":[],"model":"{order}","claude_code_version":"{order}"}}\n'
        f'{{"type":"user","message":{{"role":"user","content":"{order}"}}}}\n'
        f'{{"type":"assistant","message":{{"id":"m","content":[{{"type":"tool_use","id":"t","name":"{order}","input":{{}}}}]}}}}\n'
        f'{{"type":"result","subtype":"success","is_error":true,"result":"{order}","session_id":"s"}}\n'
    )
    draw(inspect(read(file), prices), file)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert shown.count("⟨U+001B⟩]52;c;eA==⟨U+001B⟩") == 7


def test_what_a_turn_does_not_tell_is_left_blank(capsys: pytest.CaptureFixture[str]) -> None:
    draw(report((0, STARTED), (1, complete("process_exited", ["gone"], cost=None))), Path("recorded"))
    shown = capsys.readouterr().out
    assert "0 tokens" not in shown
    assert "0 rounds" not in shown


def test_a_turn_that_asked_no_model_leaves_the_cost_whole() -> None:
    failed = ev.Complete(operation_id="turn-1", data=ev.CompleteData(outcome="process_exited", is_error=True))
    assert report((0, STARTED), (1, failed)).cost_is_whole
    assert not report((0, STARTED), (1, ev.MessageChunk(text="hi")), (2, failed)).cost_is_whole
    told = ev.MessageChunk(text="Please log in.", source="synthetic")
    assert report((0, STARTED), (1, told), (2, failed)).cost_is_whole


def test_a_turn_whose_cost_the_next_one_has_is_not_estimated() -> None:
    data = ev.CompleteData(outcome="completed", is_error=False, input_tokens=9, tokens_of="lines")
    found = report(
        (0, STARTED), (1, ev.Complete(operation_id="turn-1", data=data)), (2, STARTED), (3, complete())
    )
    assert (found.cost_usd, found.cost_is_whole, found.estimated_usd) == (0.5, True, 0.0)

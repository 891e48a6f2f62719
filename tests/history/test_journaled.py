"""What only turnwire's own log knows of a conversation counts with what is in the agent's file."""

import json
import os
import shutil
from pathlib import Path

import pytest
from kept_sessions import kept
from typer.testing import CliRunner

from turnwire.config.settings import Settings
from turnwire.history.history import History
from turnwire.history.index import LogPiece
from turnwire.history.visibility import VisibleConversations
from turnwire.normalize.recordings.session_files import Answer
from turnwire.recordings.session_file import format_of, survey_of
from turnwire.sidecar.cli.commands import application

TURN = 0.00062085
"""Dollars of each request of the recording: an answer, a compaction, an answer."""

TOKENS = (100, 20, 7, 5)


def journaled(library: History, file: Path, *, session: str = "s", cost: float | None = TURN) -> None:
    """Put the recording's three turns into the index, as the sidecar that ran them would."""
    (told,) = [one for one in library.index.newest(limit=9) if one.id == file.stem]
    found = format_of(file)
    assert found is not None
    first, last = (one.at or 0 for one in survey_of(file, found.files).outline().answers)
    # what the compaction used is counted with the turn behind it
    turns = [
        (first - 1, first, TOKENS),
        (None, first + 0.05, (0, 0, 0, 0)),
        (None, last + 1, (200, 40, 14, 10)),
    ]
    piece = LogPiece("epoch", 9, [], [], told._replace(id=f"live:{session}", path=file.stem))
    known = first
    for number, (since, at, tokens) in enumerate(turns):
        key = f"live:{file.stem:36}:{session}:turn-{number}"
        piece.answers.append(
            Answer(key, at, "claude-sonnet-4-5-20250929", *tokens, cost, began=since or known)
        )
        known = at
    # a piece may begin in the middle: the index knows when the turn before it ended
    for one, seq in ((piece.answers[:1], 3), (piece.answers[1:], 9)):
        library.index.log(
            session,
            LogPiece("epoch", seq, [], [one[0]._replace(began=one[0].began if seq == 3 else None), *one[1:]],
                     piece.listed, after=library.index.logged(session, "epoch")),
        )  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "projects"
    shutil.copytree(kept("2.0.14", "compact").folder / "projects", folder)
    monkeypatch.setenv("TURNWIRE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("TURNWIRE_HISTORY_DIRS", json.dumps([str(folder)]))
    return folder


def a_library(home: Path, state: Path) -> History:
    library = History(Settings.model_validate({"history_dirs": [home], "state_dir": state}))
    library.look()
    return library


def test_a_compaction_that_stands_in_no_file_counts_everywhere(home: Path, tmp_path: Path) -> None:
    library = a_library(home, tmp_path / "state")
    (file,) = home.glob("*/*.jsonl")
    (before,) = library.index.newest(limit=9)
    assert before.cost_usd == pytest.approx(2 * TURN)
    journaled(library, file)
    (listed,) = library.index.newest(limit=9)
    assert listed.cost_usd == pytest.approx(3 * TURN)
    (spent,) = library.index.usage(["session"])
    assert (spent.answers, spent.input_tokens, spent.output_tokens) == (2, 300, 60)
    assert (spent.cache_read_input_tokens, spent.cache_creation_input_tokens) == (21, 15)
    assert spent.cost_usd == pytest.approx(3 * TURN)
    by_model = {one.group["model"]: one for one in library.index.usage(["model"])}
    assert by_model["(other)"].cost_usd == pytest.approx(TURN)
    assert by_model["(other)"].answers == 0
    nobody = VisibleConversations((), frozenset())
    assert library.index.usage([], within=nobody) == []
    library.close()
    report = CliRunner().invoke(application(), ["inspect", str(file), "--json"])
    assert json.loads(report.stdout)["cost_usd"] == pytest.approx(3 * TURN)


def test_turns_whose_cost_nobody_told_add_nothing_to_a_file(home: Path, tmp_path: Path) -> None:
    library = a_library(home, tmp_path / "state")
    (file,) = home.glob("*/*.jsonl")
    journaled(library, file, cost=None)
    assert [one.cost_usd for one in library.index.newest(limit=9)] == pytest.approx([2 * TURN])
    assert [one.group["model"] for one in library.index.usage(["model"])] == ["claude-sonnet-4-5-20250929"]
    library.close()


def test_what_a_terminal_said_at_another_time_is_not_taken_for_the_logs(home: Path, tmp_path: Path) -> None:
    """A log of one turn is compared with the answers of its own time."""
    (file,) = home.glob("*/*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[-3:]:
        line["timestamp"] = line["timestamp"].replace("2026-11-22", "2026-11-23")
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    os.utime(file, (1, 1))
    library = a_library(home, tmp_path / "state")
    (listed,) = library.index.newest(limit=9)
    key = f"live:{file.stem:36}:s:turn-1"
    began = (listed.began or 0) - 1
    answer = Answer(key, began + 60, "claude-sonnet-4-5-20250929", *TOKENS, TURN, began=began)
    library.index.log("s", LogPiece("epoch", 3, [], [answer], listed._replace(id="live:s")))
    (spent,) = library.index.usage([])
    assert spent.cost_usd == pytest.approx(2 * TURN)
    library.close()


def test_what_a_fork_copied_under_its_own_time_is_not_taken_from_its_turn(home: Path, tmp_path: Path) -> None:
    """2.0.14 gives the copies of what followed a compaction the fork's time, and the answers' own ids."""
    (file,) = home.glob("*/*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    fork = file.with_name("0f0f0f0f-0000-4000-8000-000000000001.jsonl")
    for line in lines:
        line["sessionId"] = fork.stem
        if "timestamp" in line:
            line["timestamp"] = line["timestamp"].replace("2026-11-22", "2026-11-23")
    own = next(line for line in reversed(lines) if line["type"] == "assistant")
    (own["uuid"], own["message"]["id"]) = "0f0f0f0f-0000-4000-8000-000000000002", "msg_of_the_fork"
    fork.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    library = a_library(home, tmp_path / "state")
    listed = library.index.find(fork.stem)
    assert listed is not None
    assert listed.cost_usd == pytest.approx(TURN)
    assert len(library.index.copied(fork.stem)) == 1
    began = listed.began or 0
    turn = Answer(
        f"live:{fork.stem:36}:f:turn-1",
        (listed.ended or 0) + 1,
        "claude-sonnet-4-5-20250929",
        *TOKENS,
        2 * TURN,
        began=began - 1,
    )
    library.index.log(
        "f", LogPiece("epoch", 3, [], [turn], listed._replace(id="live:f", path=fork.stem, cost_usd=2 * TURN))
    )
    found = library.index.find(fork.stem)
    assert found is not None
    assert found.cost_usd == pytest.approx(2 * TURN)
    spent = {one.group["session"]: one.cost_usd for one in library.index.usage(["session"])}
    assert spent[fork.stem] == pytest.approx(2 * TURN)
    library.close()
    report = json.loads(CliRunner().invoke(application(), ["inspect", str(fork), "--json"]).stdout)
    assert report["cost_usd"] == pytest.approx(2 * TURN)
    assert report["estimated_usd"] == pytest.approx(TURN)


@pytest.mark.parametrize("fork_id", ["0f0f0f0f", "ff0f0f0f"])
def test_a_fork_takes_nothing_from_its_parent_that_goes_on(home: Path, tmp_path: Path, fork_id: str) -> None:
    (file,) = home.glob("*/*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    last = next(line for line in reversed(lines) if line["type"] == "assistant")

    def later(session: str, day: str) -> dict[str, object]:
        own = {
            **last,
            "uuid": f"{session}-own",
            "parentUuid": last["uuid"],
            "sessionId": session,
            "requestId": session,
        }
        return {
            **own,
            "timestamp": f"2026-11-{day}T05:06:07.000Z",
            "message": {**last["message"], "id": f"of-{session}"},
        }

    fork = file.with_name(f"{fork_id}-0000-4000-8000-000000000001.jsonl")
    copies = [{**line, "sessionId": fork.stem} for line in lines]
    fork.write_text("".join(f"{json.dumps(line)}\n" for line in [*copies, later(fork.stem, "23")]))
    library = a_library(home, tmp_path / "state")
    journaled(library, file)
    assert sum(one.cost_usd or 0 for one in library.index.usage([])) == pytest.approx(4 * TURN)
    with file.open("a") as parent:
        parent.write(f"{json.dumps(later(file.stem, '24'))}\n")
    library.look()
    (spent,) = library.index.usage([])
    assert spent.cost_usd == pytest.approx(5 * TURN)
    assert spent.output_tokens == 100
    costs = {one.group["session"]: one.cost_usd for one in library.index.usage(["session"])}
    assert costs == {one.id: one.cost_usd for one in library.index.newest(limit=9)}
    assert costs == {fork.stem: pytest.approx(TURN), file.stem: pytest.approx(4 * TURN)}
    library.close()
    report = CliRunner().invoke(application(), ["inspect", str(file), "--json"])
    assert json.loads(report.stdout)["cost_usd"] == pytest.approx(4 * TURN)

"""Which of several copies of an answer counts is found once, and again when files, logs or prices change."""

import json
from pathlib import Path

import pytest

from turnwire.config.settings import Settings
from turnwire.history.history import History

HOUR = "2026-03-01T10:0{}:00.000Z"
PROJECT = Path("projects") / "p"


def conversation(tmp_path: Path, name: str, answers: list[tuple[str, int]], prompted: int = 0) -> Path:
    """Write a file of Claude Code: a prompt at a minute, then answers by id, each with the minute it came."""
    session = f"{name * 8}-1111-4111-8111-{name * 12}"
    lines: list[dict[str, object]] = [
        {
            "type": "user",
            "uuid": f"{name}-0",
            "parentUuid": None,
            "message": {"role": "user", "content": "Go on."},
        }
    ]
    lines[0]["timestamp"] = HOUR.format(prompted)
    for number, (answer, minute) in enumerate(answers, 1):
        message = {
            "id": f"msg_{answer}",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-4-5",
            "content": [{"type": "text", "text": answer}],
            "usage": {"input_tokens": 1_000_000, "output_tokens": 0},
        }
        lines.append(
            {
                "type": "assistant",
                "uuid": f"{name}-{number}",
                "parentUuid": f"{name}-{number - 1}",
                "requestId": f"req_{answer}",
                "message": message,
                "timestamp": HOUR.format(minute),
            }
        )
    file = tmp_path / PROJECT / f"{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    common = {"sessionId": session, "cwd": "/work", "version": "2.0.14"}
    file.write_text("".join(json.dumps(line | common) + "\n" for line in lines))
    return file


def looked(tmp_path: Path, **settings: object) -> History:
    given = {"history_dirs": [tmp_path / "projects"], "state_dir": tmp_path / "state", **settings}
    library = History(Settings.model_validate(given))
    library.look()
    return library


def dollars(library: History) -> dict[str, tuple[float | None, float | None]]:
    """What each conversation cost: in the list, and by the sums of usage."""
    used = {one.group["session"]: one.cost_usd for one in library.index.usage(["session"])}
    return {one.id[0]: (one.cost_usd, used.get(one.id)) for one in library.index.newest(limit=9)}


def test_the_list_and_the_sums_take_the_same_original(tmp_path: Path) -> None:
    # the copy has an earlier time than the answer of the conversation that began first
    conversation(tmp_path, "a", [("one", 5)])
    conversation(tmp_path, "b", [("one", 2), ("two", 6)], prompted=1)
    library = looked(tmp_path)
    assert dollars(library) == {"a": (5, 5), "b": (5, 5)}
    library.close()


def test_a_copy_counts_once_its_original_is_gone(tmp_path: Path) -> None:
    first = conversation(tmp_path, "a", [("one", 2)])
    conversation(tmp_path, "b", [("one", 2), ("two", 6)], prompted=1)
    library = looked(tmp_path)
    assert dollars(library) == {"a": (5, 5), "b": (5, 5)}
    first.unlink()
    library.look()
    assert dollars(library) == {"b": (10, 10)}
    conversation(tmp_path, "a", [("one", 2)])
    library.look()
    assert dollars(library) == {"a": (5, 5), "b": (5, 5)}
    library.close()


def test_other_prices_count_at_once_and_for_all_that_use_the_index(tmp_path: Path) -> None:
    conversation(tmp_path, "a", [("one", 2)])
    mine = tmp_path / "prices.json"
    mine.write_text('{"models": {"claude-opus-4-5": [{"input": 7, "output": 7}]}}')
    library, other = looked(tmp_path), looked(tmp_path, prices=mine)
    for _ in range(2):
        assert dollars(library) == {"a": (5, 5)}
        assert dollars(other) == {"a": (7, 7)}
    library.close()
    other.close()


def test_sums_do_not_rank_all_answers_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation(tmp_path, "a", [("one", 2)])
    conversation(tmp_path, "b", [("one", 2)], prompted=1)
    library = looked(tmp_path)
    statements: list[str] = []
    library.index.usage(["day"])
    library.index._db.set_trace_callback(statements.append)
    assert library.index.usage(["day"])[0].answers == 1
    library.index.newest(limit=9)
    assert statements
    assert not [each for each in statements if "row_number" in each or "UPDATE" in each]
    library.close()

"""What usage is summed up by: days, weeks and months of local time, blocks of five hours, sessions."""

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from turnwire.history.index import Group, Index
from turnwire.history.show import time_of
from turnwire.tracing.prices import prices


@pytest.fixture(autouse=True)
def new_york(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Five hours behind UTC in winter, four in summer."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "EST5EDT,M3.2.0,M11.1.0")  # no database of zones is needed
        time.tzset()
        yield
    time.tzset()


def used(folder: Path, name: str, *times: str) -> None:
    """A conversation with an answer at each time, UTC."""
    lines: list[dict[str, object]] = [
        {"type": "user", "uuid": "p", "parentUuid": None, "message": {"role": "user", "content": "go"}}
    ]
    for number, at in enumerate(times):
        usage = {"input_tokens": 1, "output_tokens": 1}
        answer = {"id": f"{name}-{number}", "model": "m", "role": "assistant", "content": [], "usage": usage}
        lines.append(
            {
                "type": "assistant", "uuid": f"{name}-{number}", "parentUuid": "p", "message": answer,
                "timestamp": f"{at}:00.000Z",
            }
        )  # fmt: skip
    path = folder / "projects" / "-w" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps({**line, 'sessionId': name})}\n" for line in lines))


def groups(folder: Path, *by: Group, since: str | None = None) -> list[tuple[str | None, ...]]:
    """The groups, each with its answers behind it."""
    index = Index(None, prices(None))
    assert index.look([folder / "projects"]).failed == []
    found = index.usage(by, since=time_of(since, 0))
    index.close()
    return [(*one.group.values(), str(one.answers)) for one in found]


def test_days_weeks_and_months_are_those_of_local_time(tmp_path: Path) -> None:
    # the last minutes of Saturday, Sunday and Monday in New York; then the first of December, a Tuesday
    used(tmp_path, "one", "2026-11-29T04:59", "2026-11-30T04:59", "2026-11-30T05:00", "2026-12-01T05:00")
    assert groups(tmp_path, "day") == [
        ("2026-11-28", "1"),
        ("2026-11-29", "1"),
        ("2026-11-30", "1"),
        ("2026-12-01", "1"),
    ]
    assert groups(tmp_path, "week") == [("2026-11-23", "2"), ("2026-11-30", "2")]
    assert groups(tmp_path, "month") == [("2026-11", "3"), ("2026-12", "1")]
    assert groups(tmp_path, "day", since="2026-11-30") == [("2026-11-30", "1"), ("2026-12-01", "1")]


def test_a_day_begins_at_local_midnight_in_summer_and_in_winter() -> None:
    begun = [time_of(day, 0) for day in ("2026-07-01", "2026-11-30")]
    assert [datetime.fromtimestamp(at or 0, UTC).hour for at in begun] == [4, 5]
    day, next_day = time_of("2026-11-01", 0), time_of("2026-11-01", 1)
    assert (next_day or 0) - (day or 0) == 25 * 3600  # the clocks went back


def test_blocks_begin_with_the_hour_and_end_after_five_or_a_pause(tmp_path: Path) -> None:
    used(tmp_path, "one", "2026-11-30T10:30", "2026-11-30T14:59", "2026-11-30T15:01")
    used(tmp_path, "other", "2026-11-30T10:40", "2026-12-01T02:00", "2026-12-01T06:59")
    assert groups(tmp_path, "block") == [
        ("2026-11-30 05:00", "3"),  # 10:00 UTC, up to 15:00
        ("2026-11-30 10:00", "1"),
        ("2026-11-30 21:00", "2"),
    ]


def test_what_has_no_time_is_of_no_day_and_no_block(tmp_path: Path) -> None:
    used(tmp_path, "one", "no time", "2026-11-30T10:30")
    for by in ("day", "week", "month", "block"):
        assert [(name is None, count) for name, count in groups(tmp_path, by)] == [(True, "1"), (False, "1")]


def test_sessions_are_summed_up_one_by_one(tmp_path: Path) -> None:
    used(tmp_path, "one", "2026-11-30T10:30", "2026-12-01T10:30")
    used(tmp_path, "other", "2026-11-30T10:40")
    assert groups(tmp_path, "session") == [("one", "2"), ("other", "1")]
    assert groups(tmp_path, "month", "session") == [
        ("2026-11", "one", "1"),
        ("2026-11", "other", "1"),
        ("2026-12", "one", "1"),
    ]


@pytest.mark.parametrize("read_first", ["fork", "origin"])
def test_an_answer_is_of_the_session_that_asked_for_it_not_of_its_fork(
    tmp_path: Path, read_first: str
) -> None:
    used(tmp_path, "origin", "2026-11-30T10:30")
    (origin,) = (tmp_path / "projects").glob("*/origin.jsonl")
    told = [json.loads(line) for line in origin.read_text().splitlines()]
    fork = origin.with_name("fork.jsonl")
    fork.write_text(
        "".join(
            f"{json.dumps({**line, 'sessionId': 'fork', 'requestSessionId': 'origin'})}\n" for line in told
        )
    )
    for path in (origin, fork):
        os.utime(path, (2, 2) if path.stem == read_first else (1, 1))
    assert groups(tmp_path, "session") == [("origin", "1")]


def test_a_copied_answer_is_its_origins_also_where_the_origins_file_is_gone(tmp_path: Path) -> None:
    used(tmp_path, "origin", "2026-11-30T10:30")
    (origin,) = (tmp_path / "projects").glob("*/origin.jsonl")
    told = [json.loads(line) for line in origin.read_text().splitlines()]
    for fork in ("fork", "another"):
        copies = [{**line, "sessionId": fork, "requestSessionId": "origin"} for line in told]
        origin.with_name(f"{fork}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in copies))
    assert groups(tmp_path, "session") == [("origin", "1")]
    origin.unlink()
    assert groups(tmp_path, "session") == [("origin", "1")]
    assert groups(tmp_path, "day") == [("2026-11-30", "1")]


def test_a_request_counts_once_whatever_file_and_uuid_its_answer_has(tmp_path: Path) -> None:
    used(tmp_path, "one", "2026-11-30T10:30", "2026-11-30T10:31")
    (one,) = (tmp_path / "projects").glob("*/one.jsonl")
    told = [json.loads(line) for line in one.read_text().splitlines()]
    for number, line in enumerate(told[1:]):
        line["requestId"] = f"req-{number}"
    one.write_text("".join(f"{json.dumps(line)}\n" for line in told))
    for line in told[1:]:
        line["uuid"] = f"{line['uuid']}-copy"
    copied = "".join(f"{json.dumps({**line, 'sessionId': 'copy'})}\n" for line in told)
    one.with_name("copy.jsonl").write_text(copied)
    agent = one.with_name("one") / "subagents" / "agent-a.jsonl"
    agent.parent.mkdir(parents=True)
    of_agent = [{**line, "sessionId": "one", "isSidechain": True, "agentId": "a"} for line in told[:2]]
    agent.write_text("".join(f"{json.dumps(line)}\n" for line in of_agent))
    assert sum(int(count or 0) for _, count in groups(tmp_path, "session")) == 2

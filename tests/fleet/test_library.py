"""Many workers' conversations as one library."""

import pytest

from turnwire.fleet.directory import KnownWorker
from turnwire.fleet.history import asked, holder, merged
from turnwire.fleet.messages import WorkerSummary
from turnwire.hub.host import CommandRefused
from turnwire.hub.wire import frames
from turnwire.normalize.model import JsonObject


def worker(group: str | None = None, *labels: str) -> KnownWorker:
    about = WorkerSummary(
        name="-",
        version="1",
        workspaces=[],
        agents=[],
        max_sessions=1,
        max_processes=1,
        group=group,
        labels=[*labels],
    )
    return KnownWorker(about)


def row(group: dict[str, str | None], cost: float | None, *, whole: bool = True) -> JsonObject:
    return {
        "group": dict(group),
        "answers": 1,
        "input_tokens": 2,
        "output_tokens": 3,
        "cache_read_input_tokens": 4,
        "cache_creation_input_tokens": 5,
        "cost_usd": cost,
        "estimated_usd": 0.5,
        "cost_is_whole": whole,
    }


def test_what_was_used_is_asked_of_one_worker_of_each_group() -> None:
    workers = {"a": worker("g", "big"), "b": worker("g"), "c": worker(), "d": worker(None, "big")}
    assert asked(frames.LibraryUsage(type="library.usage", id="1"), workers) == ["a", "c", "d"]
    assert asked(frames.LibraryList(type="library.list", id="1"), workers) == ["a", "b", "c", "d"]
    assert asked(frames.LibraryList(type="library.list", id="1", worker="big"), workers) == ["a", "d"]


def test_what_was_used_is_summed_up_by_group() -> None:
    command = frames.LibraryUsage(type="library.usage", id="1", by=["agent"])
    answers: dict[str, JsonObject] = {
        "a": {"usage": [row({"agent": "x"}, 1.0), row({"agent": None}, None)], "complete": True},
        "b": {"usage": [row({"agent": "x"}, None, whole=False), row({"agent": "w"}, 2.0)], "complete": False},
    }
    assert merged(command, answers, []) == {
        "usage": [
            row({"agent": None}, None),
            row({"agent": "w"}, 2.0),
            {
                "group": {"agent": "x"},
                "answers": 2,
                "input_tokens": 4,
                "output_tokens": 6,
                "cache_read_input_tokens": 8,
                "cache_creation_input_tokens": 10,
                "cost_usd": 1.0,
                "estimated_usd": 1.0,
                "cost_is_whole": False,
            },
        ],
        "complete": False,
        "missing": [],
    }


def test_pages_of_all_workers_go_on_without_gap_or_repeat() -> None:
    kept = {"a": [9.5, 7.25, 3.0, 1.0], "b": [8.0, 7.25, 2.0], "c": []}

    def page(ends: list[float], name: str, before: str | None, limit: int) -> JsonObject:
        places = [(end, f"{name}{end}") for end in ends]
        if before is not None:
            end, _, identity = before.partition(":")
            places = [one for one in places if one < (float(end), identity)]
        rows: list[JsonObject] = [
            {"id": identity, "cursor": f"{end!r}:{identity}"} for end, identity in places[:limit]
        ]
        return {
            "conversations": [*rows],
            "next": rows[-1]["cursor"] if len(rows) == limit else None,
            "complete": True,
        }

    seen: list[str] = []
    before: str | None = None
    for _ in range(9):
        command = frames.LibraryList(type="library.list", id="1", limit=2, before=before)
        result = merged(command, {name: page(ends, name, before, 2) for name, ends in kept.items()}, [])
        rows = result["conversations"]
        assert isinstance(rows, list)
        seen += [str(one["id"]) for one in rows if isinstance(one, dict)]
        after = result["next"]
        if after is None:
            break
        before = str(after)
    assert seen == ["a9.5", "b8.0", "b7.25", "a7.25", "a3.0", "b2.0", "a1.0"]


def test_a_conversation_that_several_see_is_listed_once_by_whom_it_belongs_to() -> None:
    def told(**more: str | bool) -> JsonObject:
        return {"conversations": [{"id": "c", "cursor": "1.0:c", **more}], "complete": True}

    answers = {"a": told(running=True), "b": told(session="s-1"), "x": told()}
    result = merged(frames.LibraryList(type="library.list", id="1"), answers, ["z"])
    assert result["conversations"] == [
        {"id": "c", "cursor": "1.0:c", "session": "s-1", "running": True, "worker": "b"}
    ]
    assert (result["complete"], result["missing"]) == (False, ["z"])
    assert holder(answers) == "b"
    assert holder({"a": told(running=True), "x": told()}) == "a"
    assert holder({"a": {"conversations": []}, "b": {}}) is None


def test_hits_of_workers_take_turns_and_one_that_two_have_comes_once() -> None:
    def hits(*names: str) -> JsonObject:
        return {
            "hits": [{"source": "library", "id": name, "kind": "text"} for name in names],
            "complete": True,
        }

    command = frames.LibrarySearch(type="library.search", id="1", text="x", limit=4)
    found = merged(command, {"a": hits("1", "2", "3"), "b": hits("4", "1", "5", "6")}, [])["hits"]
    assert isinstance(found, list)
    assert [(one["id"], one["worker"]) for one in found if isinstance(one, dict)] == [
        ("1", "a"), ("4", "b"), ("2", "a"), ("3", "a"),
    ]  # fmt: skip


def test_a_fleet_without_workers_has_no_conversations_to_ask_for() -> None:
    with pytest.raises(CommandRefused, match="start one with `turnwire serve --worker NAME`") as refused:
        asked(frames.LibraryList(type="library.list", id="1"), {})
    assert refused.value.code == "no_worker"


def test_a_conversation_that_is_open_anywhere_is_listed_as_open_and_one_of_an_odd_place_last() -> None:
    answers: dict[str, JsonObject] = {
        "a": {"conversations": [{"id": "x", "cursor": "2.0:x"}, {"id": "odd", "cursor": "no number:odd"}]},
        "b": {"conversations": [{"id": "x", "cursor": "2.0:x", "running": True}]},
    }
    told = merged(frames.LibraryList(type="library.list", id="1"), answers, [])
    assert told["conversations"] == [
        {"id": "x", "cursor": "2.0:x", "running": True, "worker": "a"},
        {"id": "odd", "cursor": "no number:odd", "running": False, "worker": "a"},
    ]

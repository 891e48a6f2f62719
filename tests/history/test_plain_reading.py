"""The index reads only what it needs. These tests read the same files plainly, line by line with Python's own parser, and compare."""

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from kept_sessions import Kept, all_kept

from turnwire.config.settings import Settings
from turnwire.history.history import History
from turnwire.history.show import short_ids
from turnwire.recordings.session_file import format_of, survey_of


def records_of(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


def answers_of(kept: Kept) -> dict[str, tuple[str, list[int]]]:
    """The model and the tokens of each answer, by its message: its last line has them whole."""
    found: dict[str, tuple[str, list[int]]] = {}
    for file in kept.folder.glob("projects/**/*.jsonl"):
        for record in records_of(file):
            message = record.get("message") or {}
            if record["type"] != "assistant" or message["model"] == "<synthetic>":
                continue
            usage = message["usage"]
            names = (
                "input_tokens",
                "output_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
            )
            found[message["id"]] = message["model"], [usage.get(name) or 0 for name in names]
    return found


@pytest.mark.parametrize("kept", all_kept(), ids=str)
def test_usage_is_that_of_a_plain_reading(kept: Kept, tmp_path: Path) -> None:
    shutil.copytree(kept.folder / "projects", tmp_path / "projects")
    library = History(
        Settings.model_validate({"history_dirs": [tmp_path / "projects"], "state_dir": tmp_path / "state"})
    )
    library.look()
    sums: dict[str, list[int]] = {}
    for model, tokens in answers_of(kept).values():
        sums[model] = [had + more for had, more in zip(sums.get(model, [0] * 4), tokens, strict=True)]
    told = {
        one.group["model"]: [
            one.input_tokens, one.output_tokens, one.cache_read_input_tokens, one.cache_creation_input_tokens
        ]
        for one in library.index.usage(["model"])
        if one.group["model"] != "(other)"
    }  # fmt: skip
    library.close()
    assert told == sums


def last(records: list[dict[str, Any]], name: str) -> Any:
    return next((record[name] for record in reversed(records) if record.get(name)), None)


@pytest.mark.parametrize("kept", all_kept(), ids=str)
def test_a_list_shows_what_a_plain_reading_finds(kept: Kept) -> None:
    for file in kept.files:
        found = format_of(file)
        assert found is not None
        told = survey_of(file, found.files).outline()
        records = list(records_of(file))
        main = [record for record in records if not record.get("isSidechain")]
        times = [
            datetime.fromisoformat(record["timestamp"]).timestamp()
            for record in main
            if record.get("uuid") and record.get("timestamp")
        ]
        beside = sum(len(list(records_of(one))) for one in file.with_suffix("").glob("subagents/*.jsonl"))
        assert (told.lines, told.unreadable) == (len(records) + beside, 0)
        assert (told.began, told.ended) == ((min(times), max(times)) if times else (None, None))
        assert (told.session_id, told.version) == (last(main, "sessionId"), last(main, "version"))
        assert told.folder == next((record["cwd"] for record in main if record.get("cwd")), None)
        assert told.git_branch == last([one for one in main if one.get("gitBranch") != "HEAD"], "gitBranch")
        given = last(main, "customTitle") or last(main, "aiTitle")
        assert given is None or told.title == given
        models = [
            one["message"]["model"] for one in main if one["type"] == "assistant" and not one.get("agentId")
        ]
        assert told.model == next((model for model in reversed(models) if model != "<synthetic>"), None)


def test_short_ids_have_as_many_characters_as_tell_them_apart() -> None:
    first, second = "01a2b3c4-d5e6-7000-8000-00000000000a", "01a2b3c4-d5e7-7000-8000-00000000000b"
    random, named = "9f" * 16, "ses_1234567890abcdef"
    assert short_ids([first, second, random, named]) == {
        first: first[:13],
        second: second[:13],
        random: random[:8],
        named: "ses_12345678",
    }
    assert short_ids([]) == {}

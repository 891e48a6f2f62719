"""What real agents did that was told wrongly once, each in a recording of that agent."""

from pathlib import Path
from typing import Any

import msgspec

from recordings import FIXTURES
from turnwire.normalize.events import to_lines
from turnwire.normalize.families import recorded_core
from turnwire.recordings.reading import read
from turnwire.recordings.recorded import timed_happenings


def told(folder: Path) -> list[dict[str, Any]]:
    events = [event for _, one in timed_happenings(recorded_core(), read(folder)) for event in one]
    return [msgspec.json.decode(line) for line in to_lines(events).splitlines()]


def end_of(events: list[dict[str, Any]]) -> dict[str, Any]:
    (end,) = (event["data"] for event in events if event["type"] == "complete")
    found: dict[str, Any] = end
    return found


def test_a_turn_of_kimi_whose_request_failed_says_that_nothing_came_of_it() -> None:
    """It answers `end_turn`; the conversation's title, its first prompt, is all that it says."""
    events = told(FIXTURES / "acp" / "kimi-acp-2.1.0" / "api-400")
    assert end_of(events)["outcome"] == "completed"
    kinds = [event["kind"] for event in events if event["type"] == "notice"]
    assert kinds == ["session_title_changed", "no_output"]


def test_an_interrupt_of_qwen_is_an_interrupt_though_its_process_ends_without_a_result() -> None:
    events = told(FIXTURES / "qwen-0.15.10" / "interrupt-text")
    assert (end_of(events)["outcome"], end_of(events)["is_error"]) == ("interrupted", False)
    assert "error" not in [event["type"] for event in events]


def test_an_empty_output_of_codex_does_not_show_what_the_permission_asked() -> None:
    """codex-acp 0.16 leaves the question's text on the call."""
    events = told(FIXTURES / "acp" / "codex-acp-0.16.0" / "perm-empty-output")
    (update,) = (event for event in events if event["type"] == "tool_update")
    assert update["tool_status"] == "complete"
    assert update["normalized"]["shell_exec"]["output"] == {"exit_code": 0}
    assert "Available Decisions" not in str(update)

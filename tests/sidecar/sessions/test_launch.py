"""From the settings to what an agent is started with."""

from pathlib import Path

from journal.sessions import SessionRecord
from sidecar.config.rulebook import Rulebook
from sidecar.config.settings import Settings
from sidecar.sessions.launch import options_for
from sidecar.sessions.records.resume_point import NEW


def test_what_an_agent_is_waited_for_and_held_to_is_configured(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {
            "agent": "demo",
            "check_uncommitted": False,
            "agent_start_timeout_s": 7,
            "agent_answer_timeout_s": 3,
            "agent_exit_timeout_s": 13,
            "max_line_bytes": 1 << 20,
            "stall_after_s": 11,
            "max_pending": 5,
        }
    )
    record = SessionRecord(session="s", created="", workspace=str(tmp_path))
    options = options_for(record, settings, Rulebook(), NEW, {})
    assert not options.check_uncommitted
    assert (options.initialize_deadline, options.control_deadline, options.stall_after) == (7, 3, 11)
    assert options.stop.close == 13
    assert (options.line_limit, options.max_pending) == (1 << 20, 5)

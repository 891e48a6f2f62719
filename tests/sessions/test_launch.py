"""From the settings to what an agent is started with."""

from dataclasses import replace
from pathlib import Path

import pytest

from turnwire.adapter.options import CommandError
from turnwire.config.rulebook import Rulebook
from turnwire.config.settings import Settings
from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.launch import options_for
from turnwire.sessions.records.options import sandbox_of, with_options
from turnwire.sessions.records.resume_point import NEW


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


def test_what_a_record_has_that_this_release_does_not_take_is_refused_by_its_name(tmp_path: Path) -> None:
    settings = Settings.model_validate({"agent": "demo"})
    record = SessionRecord(session="s", created="", workspace=str(tmp_path))
    odd = with_options(record, agent_options={"max_turns": "many"})
    with pytest.raises(CommandError, match=r"^max_turns: this version does not accept the session's record"):
        options_for(odd, settings, Rulebook(), NEW, {})
    with pytest.raises(CommandError, match="must be autonomous, supervised or plan, not 'careful'"):
        options_for(replace(record, policy="careful"), settings, Rulebook(), NEW, {})
    walled = with_options(record, sandbox="walled")
    with pytest.raises(CommandError, match=r"^sandbox: must be one of off, files, network, not 'walled'"):
        options_for(walled, settings, Rulebook(), NEW, {})
    assert sandbox_of(walled, settings) == "network", "not the configured one, which holds less"

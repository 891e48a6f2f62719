"""Where a CLI goes on, for every way a session can have begun and been left."""

from dataclasses import replace

import pytest

from turnwire.adapter.families import FAMILIES
from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.records.options import RecordOptions, with_options
from turnwire.sessions.records.resume_point import NEW, ResumePoint

BEGUN = SessionRecord(
    session="s", created="", cli_session_id="cli", resume_token="t2", retry_token="t1", turns=2
)
FRESH = SessionRecord(session="s", created="")
BRANCH = ResumePoint("parent", "t9", branch=True)


def back(record: SessionRecord) -> ResumePoint:
    return ResumePoint.back(record, FAMILIES["claude"].capabilities(record.cli_version))


def test_a_session_goes_on_where_it_was_or_at_a_message() -> None:
    assert ResumePoint.on(FRESH) == NEW
    assert ResumePoint.on(BEGUN) == ResumePoint("cli")
    assert ResumePoint.on(BEGUN, "t1") == ResumePoint("cli", "t1")


def test_a_session_in_which_nothing_was_said_begins_as_it_first_began() -> None:
    empty = replace(FRESH, cli_session_id="empty")
    assert ResumePoint.again(BEGUN) == ResumePoint("cli")
    assert ResumePoint.again(empty) == NEW
    assert ResumePoint.again(with_options(empty, origin=BRANCH.json())) == BRANCH
    assert ResumePoint.again(with_options(empty, going=BRANCH.json())) == BRANCH
    assert ResumePoint.again(with_options(empty, conversation="empty")) == ResumePoint("empty")


@pytest.mark.parametrize("way", [BRANCH, ResumePoint("cli", "t1"), ResumePoint(latest=True)])
def test_a_way_that_was_not_gone_to_its_end_is_gone_again(way: ResumePoint) -> None:
    left = with_options(BEGUN, going=way.json(), attached=2)
    assert ResumePoint.on(left) == way
    assert ResumePoint.on(left, "t0") == replace(way, at="t0")
    gone = with_options(left, going=None)
    assert ResumePoint.on(gone) == ResumePoint("cli")
    assert RecordOptions.from_record(gone) == RecordOptions(attached=2)


def test_a_retry_goes_back_to_before_the_last_prompt_or_to_how_the_session_began() -> None:
    assert back(BEGUN) == ResumePoint("cli", "t1")
    assert back(replace(BEGUN, retry_token=None, turns=1)) == NEW
    branched = with_options(replace(FRESH, turns=1, cli_session_id="cli"), origin=BRANCH.json())
    assert back(branched) == BRANCH


def test_where_there_is_no_way_back_a_retry_goes_on() -> None:
    old = replace(BEGUN, retry_token=None, cli_version="1.0.120")
    assert back(old) == ResumePoint("cli")
    assert back(replace(old, turns=1)) == NEW


def test_a_fork_branches_off_also_what_has_not_begun_yet() -> None:
    assert ResumePoint.fork(BEGUN, "t1") == ResumePoint("cli", "t1", branch=True)
    assert ResumePoint.fork(with_options(FRESH, going=BRANCH.json())) == BRANCH

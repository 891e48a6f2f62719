"""What was found once holds, and so does what is made of it: a fixed number of inputs, the same each time."""

import logging
import shutil

import pytest

from tests.fuzz.fuzzing import KEPT, Campaign, fails, fuzz, kept
from tests.fuzz.rows import Features
from tests.fuzz.targets import TARGETS, Target

INPUTS = {
    "http-head": 2000,
    "conversation": 2000,
    "stdio": 2000,
    "journal": 200,
    "journal-redis": 300,
    "claude-junk": 1500,
    "auto": 1500,
    "session-file": 2000,
    "kept-file": 600,
}
"""So many, where the other targets get DEFAULT: a minute for all of them."""
DEFAULT = 5000


def told(campaign: Campaign) -> list[str]:
    return [f"{finding.data[:1500]!r}\n{finding.why}" for finding in campaign.findings]


def needs(name: str) -> None:
    program = TARGETS[name].program
    if program is not None and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed; `make system` does it")


@pytest.mark.parametrize("name", TARGETS)
def test_what_was_found_once_holds(name: str, caplog: pytest.LogCaptureFixture) -> None:
    needs(name)
    caplog.set_level(logging.CRITICAL)
    for path in kept(TARGETS[name]):
        assert fails(TARGETS[name], path.read_bytes()) is None, path


def test_every_kept_input_has_its_target() -> None:
    assert {path.name for path in KEPT.iterdir()} <= set(TARGETS)


@pytest.mark.long
@pytest.mark.parametrize("name", TARGETS)
def test_wrong_inputs_break_no_promise(name: str, caplog: pytest.LogCaptureFixture) -> None:
    needs(name)
    caplog.set_level(logging.CRITICAL)
    campaign = fuzz(TARGETS[name], 20261122, inputs=INPUTS.get(name, DEFAULT))
    assert told(campaign) == []
    assert campaign.inputs == INPUTS.get(name, DEFAULT)


def test_the_fuzzer_finds_what_is_wrong_and_makes_it_small() -> None:
    def breaks(data: bytes) -> Features:
        assert b"null" not in data
        return {len(data) // 100}

    seeds = [
        b'{"type":"x","text":"a word"}\n{"type":"system","subtype":"init","tools":["a","b"]}\n{"type":"y"}'
    ]
    campaign = fuzz(Target("broken", lambda: seeds, breaks), 1, inputs=1000)
    assert [finding.data for finding in campaign.findings] == [b"null"]
    assert "breaks" in campaign.findings[0].why
    assert campaign.inputs == 1000

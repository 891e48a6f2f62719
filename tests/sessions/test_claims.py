"""Whether a session's agent is believed when it says which conversation it has."""

import math
from dataclasses import replace

import pytest

from turnwire.journal.sessions import SessionRecord
from turnwire.sessions.claims import Claim, conversation_of, is_anothers, is_believed, steered_by
from turnwire.sessions.records.options import with_options

NOON = 1_767_268_800.0
NOBODYS = SessionRecord(session="a", created="2026-01-01T12:00:00.000000Z", cli_session_id="c")
ANNS = replace(NOBODYS, owner="ann")


def claiming(record: SessionRecord, since: float, *, resumed: bool = False) -> SessionRecord:
    return with_options(record, claim=Claim("c", since, resumed).json())


def test_an_agent_is_believed_as_long_as_nobody_steers_it_who_sees_less() -> None:
    assert is_believed(NOBODYS)
    assert not is_believed(ANNS)
    assert is_believed(steered_by(ANNS, "eve", sees_all=True))
    assert steered_by(NOBODYS, "eve", sees_all=True) is NOBODYS
    for record in (NOBODYS, steered_by(ANNS, "eve", sees_all=True)):
        steered = steered_by(record, "eve", sees_all=False)
        assert not is_believed(steered)
        assert not is_believed(steered_by(steered, "eve", sees_all=True))


def test_a_session_has_for_certain_what_turnwire_opened() -> None:
    assert conversation_of(NOBODYS, "c") == "c"
    assert conversation_of(ANNS, "c") is None
    assert conversation_of(with_options(ANNS, conversation="opened"), "c") == "opened"


def test_a_claim_is_read_as_it_was_kept() -> None:
    assert Claim.of(replace(NOBODYS, cli_session_id=None)) is None
    assert Claim.of(claiming(NOBODYS, 7.0)) == Claim("c", 7.0, resumed=False)
    # what was not kept, or is of another conversation, was claimed when the session began
    assert Claim.of(NOBODYS) == Claim("c", NOON, resumed=False)
    assert Claim.of(replace(claiming(NOBODYS, 7.0), cli_session_id="d")) == Claim("d", NOON, resumed=False)
    copied = Claim("c", 7.0, resumed=True, origin="o")
    assert Claim.of(with_options(NOBODYS, claim=copied.json())) == copied
    assert Claim.of(with_options(NOBODYS, origin={"resume": "x"})) == Claim("c", NOON, resumed=True)
    assert Claim.of(replace(NOBODYS, created="soon")) == Claim("c", math.inf, resumed=False)
    assert Claim.of(with_options(NOBODYS, claim={"conversation": "c", "since": "x"})) == Claim(
        "c", NOON, resumed=False
    )


@pytest.mark.parametrize(
    ("resumed", "began", "ended", "expected"),
    [
        (False, None, None, False),
        (False, 101.0, 200.0, False),
        (False, 99.0, 200.0, False),
        (False, 50.0, 200.0, True),
        (True, 50.0, 200.0, False),
        (True, 50.0, 90.0, True),
    ],
)
def test_a_conversation_that_was_there_before_is_anothers(
    resumed: bool, began: float | None, ended: float | None, expected: bool
) -> None:
    assert is_anothers(Claim("c", 100.0, resumed), ANNS, [ANNS], began, ended) is expected


def test_of_two_sessions_that_name_one_conversation_the_first_has_it() -> None:
    bobs = replace(NOBODYS, session="b", owner="bob")
    first, second = Claim("c", 100.0, resumed=False), Claim("c", 101.0, resumed=False)
    assert is_anothers(second, ANNS, [claiming(bobs, 100.0)], None, None)
    assert not is_anothers(first, ANNS, [claiming(bobs, 101.0)], None, None)
    assert not is_anothers(second, ANNS, [claiming(replace(bobs, owner="ann"), 100.0)], None, None)
    assert is_anothers(
        first, ANNS, [with_options(replace(bobs, cli_session_id=None), conversation="c")], None, None
    )


def test_of_a_session_that_others_command_no_conversation_counts_as_its_owners() -> None:
    claim, owners = Claim("c", 101.0, resumed=False), claiming(replace(ANNS, session="b"), 100.0)
    assert not is_anothers(claim, steered_by(ANNS, "ann", sees_all=False), [owners], None, None)
    shared = steered_by(ANNS, "eve", sees_all=False)
    assert is_anothers(claim, shared, [owners], None, None)
    assert is_anothers(claim, steered_by(shared, "ann", sees_all=False), [owners], None, None)
    nobodys = claiming(replace(NOBODYS, session="b"), 100.0)
    assert is_anothers(claim, steered_by(NOBODYS, "eve", sees_all=False), [nobodys], None, None)


@pytest.mark.parametrize(
    ("origin_began", "expected"), [(None, False), (50.0, False), (51.0, False), (20.0, True), (80.0, True)]
)
def test_a_copy_begins_as_what_was_resumed_did(origin_began: float | None, expected: bool) -> None:
    claim = Claim("c", 100.0, resumed=True, origin="o")
    assert is_anothers(claim, ANNS, [ANNS], 50.0, 200.0, origin_began=origin_began) is expected

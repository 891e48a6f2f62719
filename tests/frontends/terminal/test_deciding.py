"""When a key decides in the terminal: never at once, never unseen, and never for good without a second key."""

from turnwire.client.events import PermissionOption
from turnwire.frontends.terminal.deciding import ARMED_AFTER, Gate

ALLOW = PermissionOption(option_id="a", name="Allow", kind="allow_once")
ALWAYS = PermissionOption(option_id="b", name="Always", kind="allow_always")
DENY = PermissionOption(option_id="c", name="Deny", kind="reject_once")


def stood(gate: Gate, ticks: int = ARMED_AFTER, *, end_in_view: bool = True) -> Gate:
    for _ in range(ticks):
        gate.tick(0, 10 if end_in_view else 5, 10)
    return gate


def test_a_key_within_the_first_second_decides_nothing() -> None:
    gate = stood(Gate(), ARMED_AFTER - 1)
    assert gate.press(ALLOW) is None
    assert gate.press(DENY) is None
    gate.tick(0, 10, 10)
    assert gate.press(ALLOW) is ALLOW


def test_nothing_is_allowed_whose_end_was_not_in_view() -> None:
    gate = stood(Gate(), end_in_view=False)
    assert gate.press(ALLOW) is None
    assert "scroll" in gate.refusal(ALLOW)
    assert gate.press(DENY) is DENY
    gate.tick(0, 10, 10)
    assert gate.press(ALLOW) is ALLOW


def test_what_is_remembered_wants_a_second_key_a_second_later() -> None:
    gate = stood(Gate())
    assert gate.press(ALWAYS) is None
    assert gate.confirming is ALWAYS
    assert gate.press(ALWAYS) is None
    assert stood(gate).press(ALWAYS) is ALWAYS


def test_going_back_from_the_confirmation_begins_the_second_anew() -> None:
    gate = stood(Gate())
    gate.press(ALWAYS)
    gate.back()
    assert gate.confirming is None
    assert gate.press(ALLOW) is None
    assert stood(gate).press(ALLOW) is ALLOW


def test_what_moves_is_unarmed() -> None:
    gate = stood(Gate())
    gate.moved()
    assert gate.press(ALLOW) is None


def test_what_is_remembered_has_to_be_in_view_to_its_end_as_well() -> None:
    gate = stood(Gate())
    gate.press(ALWAYS)
    stood(gate, end_in_view=False)
    assert gate.press(ALWAYS) is None
    assert "remembered" in gate.refusal(ALWAYS)
    gate.tick(0, 10, 10)
    assert gate.press(ALWAYS) is ALWAYS


def test_a_jump_to_the_end_is_no_look_at_what_is_between() -> None:
    gate = stood(Gate(), end_in_view=False)
    gate.tick(8, 10, 10)
    assert gate.press(ALLOW) is None
    assert gate.reached == 5
    gate.tick(5, 10, 10)
    assert gate.press(ALLOW) is ALLOW


def test_lines_that_are_wrapped_anew_are_looked_at_anew() -> None:
    gate = stood(Gate(), end_in_view=False)
    gate.tick(5, 10, 20)
    assert gate.reached == 0
    assert gate.press(ALLOW) is None

"""The words of permission options, whoever offers them."""

import pytest
from msgspec.structs import replace

from turnwire.normalize.common.option_effects import described
from turnwire.normalize.events.control_events import PermissionOption, PermissionRequest, RememberedRule


def option(option_id: str, kind: str, name: str = "Allow", **more: object) -> PermissionOption:
    return PermissionOption(option_id=option_id, name=name, kind=kind, **more)  # type: ignore[arg-type]


def test_an_answer_that_holds_once_says_so() -> None:
    allow, reject = described([option("a", "allow_once"), option("r", "reject_once", "Reject")])
    assert allow.effect == "Allows this call alone. The next one is asked again."
    assert reject.effect == "Refuses this call alone. The next one is asked again."


def test_of_what_an_agent_does_not_say_the_words_say_that_it_does_not() -> None:
    always, never = described(
        [option("a", "allow_always", "Always allow"), option("n", "reject_always", "No, never")]
    )
    assert always.effect == (
        "Allows this call, and later ones without asking. Which calls, where and until when: "
        "the agent says only “Always allow”."
    )
    assert never.effect == (
        "Refuses this call, and later ones without asking. Which calls, where and until when: "
        "the agent says only “No, never”."
    )
    [known] = described([option("a", "allow_always", "Always", destination="userSettings")])
    assert known.effect == (
        "Allows this call, and later ones without asking. It holds in all your projects. "
        "Which calls: the agent says only “Always”."
    )


def test_an_answer_that_is_offered_twice_is_shown_once() -> None:
    rules = [RememberedRule(rule="Bash(ls)", destination="session")]
    told = described(
        [
            option("one", "allow_always", remembers=rules),
            option("two", "allow_always", "Always", remembers=[*rules, *rules]),
            option("three", "allow_once"),
            option("three", "allow_once"),
        ]
    )
    assert [one.option_id for one in told] == ["one", "three"]


@pytest.mark.parametrize("kinds", [("reject_once", "allow_always"), ("allow_always", "reject_once")])
def test_of_two_answers_with_one_id_the_wider_is_shown(kinds: tuple[str, str]) -> None:
    [told] = described([option("same", kind) for kind in kinds])
    assert told.kind == "allow_always"


def test_answers_that_an_agent_gives_one_name_are_told_apart() -> None:
    told = described(
        [option("first", "allow_once"), option("second", "allow_always"), option("third", "allow_always")]
    )
    assert [one.name for one in told] == ["Allow (“first”)", "Allow (“second”)", "Allow (“third”)"]
    assert len({one.effect for one in told}) == 3
    assert "Its id is “third”." in str(told[2].effect)


def test_answers_whose_ids_read_alike_as_well_are_numbered() -> None:
    ids = ["x" * 500 + middle + "x" * 500 for middle in "abc"]
    told = described([option(one, "allow_once") for one in ids])
    assert [one.option_id for one in told] == ids
    assert len({one.name for one in told}) == len({one.effect for one in told}) == 3
    assert told[2].name == "Allow (answer 3)"


def test_a_name_hides_nothing_and_is_short() -> None:
    [told] = described([option("a", "allow_once", "Allow\u202e\n" + "y" * 100_000)])
    assert told.name.startswith("Allow⟨U+202E⟩⟨U+000A⟩yy")
    assert len(told.name) < 400
    assert told.option_id == "a"
    assert described([option("a", "allow_once", "  ")])[0].name == "a"


def test_a_request_names_what_holds_for_one_call_and_says_so_if_nothing_does() -> None:
    offered = [
        option("never", "reject_always"),
        option("no", "reject_once", "Reject"),
        option("ever", "allow_always", "Always", effect="Allows it for ever."),
        option("yes", "allow_once"),
    ]
    request = PermissionRequest(
        pending_id="p", permission_title="", permission_options=offered, action_type="other"
    )
    assert (request.allow_once(), request.deny()) == ("yes", "no")
    assert [one.label() for one in offered] == ["Allow", "Reject", "Allows it for ever.", "Allow"]
    with pytest.raises(LookupError, match=r"Request p has no option .* its options: never \(reject_always\)"):
        replace(request, permission_options=offered[:1]).allow_once()
    assert replace(request, permission_options=offered[:1]).deny() == "never"
    with pytest.raises(LookupError, match="its options: none"):
        replace(request, permission_options=[]).deny()

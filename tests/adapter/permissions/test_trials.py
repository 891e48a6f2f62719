"""What was tried of an agent decides whether the policy supervised holds for it: by version and kind of folder."""

import pytest

from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.permissions.trials import Trial, rules_in_doubt, standing

HELD = Trial({"plain": {"command": "held", "write": "held", "edit": "held"}}, "2.1.330")


@pytest.mark.parametrize(
    ("version", "since", "is_held"),
    [
        ("2.1.330", None, True),
        ("2.9.0-beta.1", None, True),
        ("v2", None, True),
        ("2.0.14", None, True),
        ("3.0.0", None, False),
        ("1.0.120", None, False),
        ("1.0.120", "1.0.98", True),
        ("1.0.60", "1.0.98", False),
        ("3.0.0", "1.0.98", False),
        ("nightly", None, False),
        (None, None, False),
    ],
)
def test_a_trial_holds_for_its_major_version(
    version: str | None, since: str | None, *, is_held: bool
) -> None:
    found = standing(Trial(HELD.asked, HELD.version, since), version, "plain")
    assert (found.refusal is None) is is_held
    assert (found.notice is not None) is (is_held and version != HELD.version)


def test_a_trial_without_a_version_holds_for_every_one() -> None:
    assert standing(Trial(HELD.asked), None, "plain") == standing(HELD, "2.1.330", "plain")


def test_what_was_not_tried_is_not_held() -> None:
    assert "never tried" in str(standing(None, "1.0", "plain").refusal)
    assert "was not tried in a git folder" in str(standing(HELD, "2.1.330", "git").refusal)
    partly = Trial({"git": {"command": "held", "write": "not tried", "edit": "held"}})
    assert "nobody knows whether it asks about new files" in str(standing(partly, None, "git").refusal)


def test_what_does_not_ask_about_one_of_all_changes_is_not_held() -> None:
    trial = Trial({"git": {"command": "held", "write": "not held", "edit": "not held"}})
    assert (
        standing(trial, None, "git").refusal
        == "does not ask about new files and changes of files in a git folder"
    )


def test_an_older_trial_without_edits_is_told() -> None:
    found = standing(Trial({"plain": {"command": "held", "write": "held"}}), None, "plain")
    assert found.refusal is None
    assert "changes of files were not tried" in str(found.notice)


def test_rules_about_what_an_agent_was_not_seen_to_ask_about_are_named() -> None:
    rules = read_rules(
        [
            {"action": "allow", "tool": "Write"},
            {"action": "deny", "input": {"command": "rm *"}},
            {"action": "deny", "input": {"file_path": "secret/*"}, "reason": "keys"},
            {"action": "ask", "regex": {"url": "evil"}},
            {"action": "deny", "tool": "mcp__docs__*"},
            {"action": "deny", "tool": "Task"},
        ]
    )
    trial = Trial({"git": {"command": "held", "write": "not held", "edit": "held", "outside": "held"}}, "2.1")
    said = rules_in_doubt(rules, trial, "2.1", "git")
    assert said is not None
    assert said.startswith("was not seen to ask about new files and web pages in a git folder")
    assert said.endswith("cannot enforce rule 3 (keys), rule 4 (ask * url evil), rule 6 (deny Task)")
    assert rules_in_doubt(rules[:2], trial, "2.1", "git") is None
    for unknown in (
        rules_in_doubt(rules[:2], None, "2.1", "git"),
        rules_in_doubt(rules[:2], trial, "3.0", "git"),
    ):
        assert "rule 2 (deny * command rm *)" in str(unknown)

"""What a permission dialog offers, and what an "always" answer sends back."""

from turnwire.normalize.claude.requests.options import options, updates
from turnwire.normalize.model import JsonObject

RULE: JsonObject = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "touch made.txt"}],
    "behavior": "allow",
    "destination": "localSettings",
}
DIRECTORY: JsonObject = {"type": "addDirectories", "directories": ["/workspace"], "destination": "session"}
MODE: JsonObject = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def ids(suggestions: list[JsonObject] | None) -> list[str]:
    return [option.option_id for option in options(suggestions)]


def test_without_suggestions_an_answer_holds_only_once() -> None:
    assert ids(None) == ids([]) == ["allow_once", "reject_once", "reject_interrupt"]
    assert [option.kind for option in options(None)] == ["allow_once", "reject_once", "reject_once"]


def test_a_suggested_rule_can_be_remembered_for_the_session_or_where_the_cli_proposes() -> None:
    assert ids([RULE]) == [
        "allow_once",
        "allow_always:session",
        "allow_always:localSettings",
        "reject_once",
        "reject_interrupt",
    ]
    assert options([RULE])[1].name == "Always allow Bash(touch made.txt) for this session"


def test_a_suggested_mode_is_an_option_of_its_own() -> None:
    assert ids([MODE]) == ["allow_once", "allow_always:mode:acceptEdits", "reject_once", "reject_interrupt"]
    assert updates("allow_always:mode:acceptEdits", [RULE, DIRECTORY, MODE]) == [DIRECTORY, MODE]


def test_a_rule_never_drags_a_wider_mode_along() -> None:
    sent = updates("allow_always:localSettings", [RULE, DIRECTORY, MODE])
    assert sent == [RULE, DIRECTORY]


def test_what_is_suggested_for_the_session_is_not_kept_beyond_it() -> None:
    offered = [RULE, DIRECTORY]
    assert updates("allow_always:localSettings", offered) == offered
    assert [option.name for option in options(offered)][1:3] == [
        "Always allow Bash(touch made.txt), access to /workspace for this session",
        "Always allow Bash(touch made.txt) in this project, for me, and access to /workspace for this session",
    ]
    for_now = {**RULE, "destination": "session"}
    kept = {**RULE, "rules": [{"toolName": "Read"}], "destination": "projectSettings"}
    assert updates("allow_always:projectSettings", [for_now, kept]) == [for_now, kept]
    assert updates("allow_always:session", [for_now, kept]) == [for_now, {**kept, "destination": "session"}]


def test_what_holds_for_the_session_is_kept_no_longer() -> None:
    assert updates("allow_always:session", [RULE]) == [{**RULE, "destination": "session"}]


def test_directories_beside_a_mode_need_the_mode() -> None:
    assert ids([DIRECTORY, MODE])[1:-2] == ["allow_always:mode:acceptEdits"]
    assert ids([DIRECTORY])[1:-2] == ["allow_always:session"]


def test_answers_that_hold_once_update_nothing() -> None:
    for option in ("allow_once", "reject_once", "reject_interrupt", "allow_always:mode:plan", "nonsense"):
        assert updates(option, [RULE, MODE]) == []


def test_a_suggested_denial_is_not_offered_as_an_allowance() -> None:
    assert ids([{**RULE, "behavior": "deny"}]) == ["allow_once", "reject_once", "reject_interrupt"]


def test_odd_suggestions_are_still_named() -> None:
    odd: list[JsonObject] = [
        {"type": "addRules", "rules": "all"},
        {"type": "addDirectories", "directories": 1},
    ]
    assert options(odd)[1].name == "Always allow this for this session"
    whole_tool: list[JsonObject] = [{"type": "addRules", "rules": [{"toolName": "mcp__x__y"}, 7]}]
    assert options(whole_tool)[1].name == "Always allow mcp__x__y for this session"
    named: list[JsonObject] = [{"type": "setMode", "mode": "wild"}, {**RULE, "destination": "elsewhere"}]
    assert [option.name for option in options(named)][2:4] == [
        "Always allow Bash(touch made.txt) (elsewhere)",
        "Switch to the mode wild",
    ]


def test_an_answer_that_switches_the_mode_tells_the_directories_that_go_with_it() -> None:
    kept = {**DIRECTORY, "destination": "localSettings"}
    [option] = [one for one in options([kept, MODE]) if one.option_id.startswith("allow_always:mode:")]
    assert option.remembers is not None
    told = [(one.rule, one.destination, one.file) for one in option.remembers]
    assert ("permission mode acceptEdits", "session", None) in told
    assert [place for _, *place in told if place[0] != "session"] == [
        ["localSettings", ".claude/settings.local.json"]
    ]

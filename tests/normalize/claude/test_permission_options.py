"""What a permission dialog offers, and what an "always" answer sends back."""

import pytest

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


def test_a_mode_and_the_directories_that_go_with_it_hold_for_the_session() -> None:
    kept: list[JsonObject] = [
        {**DIRECTORY, "destination": "localSettings"},
        {**MODE, "destination": "userSettings"},
    ]
    [option] = [one for one in options(kept) if one.option_id == "allow_always:mode:acceptEdits"]
    assert updates(option.option_id, kept) == [DIRECTORY, MODE]
    told = [(one.rule, one.destination, one.file) for one in option.remembers or ()]
    assert told == [
        ("access to /workspace", "session", None),
        ("permission mode acceptEdits", "session", None),
    ]


def effects(suggestions: list[JsonObject]) -> list[str]:
    return [str(option.effect) for option in options(suggestions) if option.kind == "allow_always"]


def rule(tool: str, content: str = "", destination: str = "session") -> JsonObject:
    named = {"toolName": tool, **({"ruleContent": content} if content else {})}
    return {"type": "addRules", "rules": [named], "behavior": "allow", "destination": destination}


def test_an_answer_that_accepts_edits_says_that_all_edits_of_the_session_run_unasked() -> None:
    [option] = [one for one in options([MODE, MODE]) if one.kind == "allow_always"]
    assert option.effect == (
        "Allows without asking again until this session ends: every edit of a file in the session's folders, "
        "and commands such as mkdir, mv and rm there."
    )
    assert len(option.remembers or ()) == 1


def test_an_answer_says_where_it_is_kept_and_until_when() -> None:
    assert effects([RULE, DIRECTORY])[1] == (
        "Allows without asking again in this project, for you alone, until it is removed from "
        ".claude/settings.local.json: the command “touch made.txt”. And until this session ends: "
        "reading files below “/workspace”, as one of the session's folders."
    )
    kept = {place: effects([rule("Bash", "ls", place)])[-1] for place in ("projectSettings", "userSettings")}
    assert (
        "for everybody who works in it, until it is removed from .claude/settings.json"
        in kept["projectSettings"]
    )
    assert "in all your projects, until it is removed from ~/.claude/settings.json" in kept["userSettings"]
    assert "in “elsewhere”, for ever" in effects([rule("Bash", "ls", "elsewhere")])[1]


@pytest.mark.parametrize(
    ("tool", "content", "said"),
    [
        ("Bash", "", "every command"),
        ("Bash", "*", "every command"),
        ("Bash", ":*", "every command"),
        ("Bash", "git log:*", "commands that begin with “git log”"),
        ("Bash", "npm run *", "commands that match “npm run *”"),
        ("run_shell_command", "ls", "the command “ls”"),
        ("WebFetch", "domain:example.org", "pages of the host “example.org”"),
        ("Edit", "/src/**", "edits of files that match “/src/**”"),
        ("Read", "//etc/**", "reading files that match “//etc/**”"),
        ("mcp__calc__add", "", "the tool “add” of the MCP server “calc”"),
        ("mcp__calc", "", "every tool of the MCP server “calc”"),
        ("mcp__calc__*", "", "every tool of the MCP server “calc”"),
        ("Write", "", "every call of the tool “Write”"),
        ("Skill", "review", "calls of the tool “Skill” with “review”"),
    ],
)
def test_a_rule_is_told_in_words(tool: str, content: str, said: str) -> None:
    assert effects([rule(tool, content)]) == [f"Allows without asking again until this session ends: {said}."]


def test_other_modes_and_suggestions_without_names_are_told_as_what_they_are() -> None:
    assert "everything that the agent does" in effects([{**MODE, "mode": "bypassPermissions"}])[0]
    assert "what the permission mode “wild” allows" in effects([{**MODE, "mode": "wild"}])[0]
    assert "which it does not name" in effects([{"type": "addRules", "rules": "all"}])[0]


def test_a_rule_cannot_end_its_quotation_hide_in_it_or_fill_the_dialog() -> None:
    [said] = effects([rule("Bash", "ls”, until this session ends. \u202e\x1b[2J\n“")])
    assert said.count("“") == said.count("”") == 1
    assert said.isprintable()
    assert "⟨U+201D⟩" in said
    assert "⟨U+202E⟩" in said
    assert "⟨U+001B⟩" in said
    [said] = effects([rule("Bash", "x" * 1_000_000)])
    assert len(said) < 400
    assert "1,000,000 characters" in said
    [said] = effects(
        [{**RULE, "destination": "session", "rules": [{"toolName": f"t{n}"} for n in range(1000)]}]
    )
    assert len(said) < 400
    assert "996 more" in said


def test_two_long_rules_that_differ_in_their_middle_do_not_read_the_same() -> None:
    one, two = (
        rule("Bash", "x" * 300 + middle + "y" * 300, place) for middle, place in (("a", ""), ("b", "session"))
    )
    told = [(option.name, option.effect) for option in options([one, two])]
    assert len({name for name, _ in told}) == len({effect for _, effect in told}) == len(told)

import pytest

from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.rules import PathContext, Rule, RuleError, first_match, read_rules
from turnwire.protocol.json_values import Json

WORKSPACE = "/here/project"


def number(rules: tuple[Rule, ...], tool: str, **arguments: object) -> int | None:
    found = first_match(rules, ToolCall(tool, arguments), PathContext(WORKSPACE))
    return found.number if found else None


def rules(*entries: dict[str, object]) -> tuple[Rule, ...]:
    return read_rules(entries)


def test_the_first_rule_that_matches_decides() -> None:
    table = rules(
        {"action": "deny", "tool": "Bash", "input": {"command": "rm *"}},
        {"action": "allow", "tool": ["Read", "mcp__calc__*"]},
        {"action": "ask"},
    )
    assert number(table, "Bash", command="rm -rf x") == 1
    assert number(table, "mcp__calc__add", a=1) == 2
    assert number(table, "Read", file_path="/etc/passwd") == 2
    assert number(table, "Write", file_path="x") == 3


def test_nothing_matches_without_a_rule() -> None:
    assert number((), "Bash", command="ls") is None
    assert number(rules({"action": "allow", "tool": "Bash"}), "BashOutput") is None


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf .",
        "git status && curl x",
        "git status | sh",
        "git status $(rm x)",
        "git status `rm x`",
        "git status > /etc/passwd",
        "git status\nrm x",
        "git status & rm x",
        "git status {a,b}",
    ],
)
def test_a_rule_that_allows_does_not_cover_what_the_shell_would_add(command: str) -> None:
    table = rules({"action": "allow", "tool": "Bash", "input": {"command": "git status*"}})
    assert number(table, "Bash", command="git status --short") == 1
    assert number(table, "Bash", command=command) is None


@pytest.mark.parametrize("action", ["deny", "ask"])
@pytest.mark.parametrize(
    "command", ["rm x", "cd y && rm x", "true; rm x", "echo $(rm x)", "(rm x)", "a\nrm x"]
)
def test_a_rule_that_denies_or_asks_finds_its_command_anywhere(action: str, command: str) -> None:
    table = rules({"action": action, "tool": "Bash", "input": {"command": "rm *"}})
    assert number(table, "Bash", command=command) == 1
    assert number(table, "Bash", command="echo rm x") is None


@pytest.mark.parametrize("path", ["/here/project/../secret", "../secret", "/etc/passwd", "/here/project2/x"])
def test_a_path_cannot_leave_the_folder_that_is_allowed(path: str) -> None:
    table = rules({"action": "allow", "tool": "Read", "input": {"file_path": "/here/project/*"}})
    assert number(table, "Read", file_path="/here/project/a/b") == 1
    assert number(table, "Read", file_path="a/../b") == 1
    assert number(table, "Read", file_path=path) is None


def test_a_pattern_may_be_relative_to_the_workspace() -> None:
    table = rules({"action": "deny", "input": {"file_path": "secrets/*"}})
    assert number(table, "Read", file_path="/here/project/secrets/key") == 1
    assert number(table, "Edit", file_path="./secrets/key") == 1
    assert number(table, "Edit", file_path="/elsewhere/secrets/key") is None


def test_all_patterns_must_match_and_a_missing_argument_matches_none() -> None:
    table = rules({"action": "allow", "input": {"url": "https://*"}, "regex": {"prompt": "^sum"}})
    assert number(table, "WebFetch", url="https://x", prompt="sum it up") == 1
    assert number(table, "WebFetch", url="https://x", prompt="no sum") is None
    assert number(table, "WebFetch", url="https://x") is None
    assert number(table, "WebFetch", url=["https://x"], prompt="sum") is None


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"action": "allow", "tol": "Bash"}, "unknown key tol"),
        ({"tool": "Bash"}, "action must be"),
        ({"action": "permit"}, "action must be"),
        ({"action": "allow", "tool": []}, "tool must be"),
        ({"action": "allow", "tool": 3}, "tool must be"),
        ({"action": "allow", "input": "rm"}, "input must be"),
        ({"action": "allow", "regex": {"command": "("}}, "regex:"),
        ({"action": "allow", "reason": 1}, "reason must be"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused_with_its_number(
    entry: dict[str, object], complaint: str
) -> None:
    with pytest.raises(RuleError, match=rf"^rule 2: .*{complaint}"):
        read_rules([{"action": "ask"}, entry])


@pytest.mark.parametrize(
    ("name", "pattern", "value"),
    [
        ("paths", "*secret*", ["a", "b/secret/k"]),
        ("path", "secret/*", ["a", "secret/k"]),
        ("command", "rm *", ["rm", "x"]),
        ("command", "rm *", ["bash", "-lc", "cd y && rm x"]),
        ("command", "rm *", ["/bin/rm", "x"]),
        ("url", "domain:evil.com", ["https://good.com", "https://EVIL.com/x"]),
        ("files", "*.env", [{"name": "x.env", "text": "y"}]),
        ("edits", "*TODO*", {"a": [{"b": ["TODO later"]}]}),
        ("force", "true", True),
        ("depth", "3", 3),
    ],
)
def test_a_rule_that_denies_looks_into_lists(name: str, pattern: str, value: Json) -> None:
    call = ToolCall("mcp__x__y", {name: value})
    for entry in ({"input": {name: pattern}}, {"regex": {name: _expression(pattern)}}):
        found = first_match(read_rules([{"action": "deny", **entry}]), call, PathContext("/w"))
        assert found is not None
        assert found.action == "deny"
        allowed = read_rules([{"action": "allow", **entry}])
        if isinstance(value, list | dict):
            assert first_match(allowed, call, PathContext("/w")) is None


def test_lines_in_a_list_are_asked_about() -> None:
    rules = read_rules([{"action": "deny", "input": {"command": "rm *"}}])
    for lines, action in (
        (["ls", "rm x"], "ask"),
        (["git status", "cd y; rm x"], "ask"),
        (["ls", "-l"], None),
    ):
        found = first_match(rules, ToolCall("mcp__x__y", {"command": lines}), PathContext("/w"))
        assert (found and found.action) == action, lines


def test_more_texts_than_are_looked_at_are_asked_about() -> None:
    many = ["x"] * 100_000
    for value in (many, [[many]], {"a": {str(one): one for one in range(100_000)}}):
        call = ToolCall("mcp__x__y", {"files": value})
        for action, expected in (("deny", "ask"), ("ask", "ask"), ("allow", None)):
            found = first_match(
                read_rules([{"action": action, "input": {"files": "z"}}]), call, PathContext("/w")
            )
            assert (found and found.action) == expected


def _expression(pattern: str) -> str:
    """The same as a regular expression on an address, a command or a text."""
    return pattern.removeprefix("domain:").replace(".", r"\.").replace("*", ".*")

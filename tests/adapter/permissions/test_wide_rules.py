"""Rules that allow more than they seem to: what is said of them when they are loaded."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from cases import for_each
from recordings import ROOT
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.rules import PathContext, first_match, read_rules
from turnwire.adapter.permissions.wide_rules import PROGRAMS, offered, warnings
from turnwire.config.settings import Settings
from turnwire.sidecar.checks.doctor import checks
from turnwire_process import environment, turnwire

RULES = """
[[rules]]
action = "deny"
input = { command = "git *" }

[[rules]]
action = "allow"
tool = "Bash"
input = { command = "git *" }
"""


@for_each(
    "pattern",
    [
        *("git *", "git*", "/usr/bin/git *", "npm *", "python3 *", "docker *", "make *"),
        *(
            "git -c *",
            "git -C *",
            "git  *",
            "g?t *",
            "*git *",
            "sudo git *",
            "env *",
            "xargs *",
            "eval *",
        ),
    ],
)
def test_a_pattern_that_allows_a_program_which_runs_others_is_told_with_a_safe_form(pattern: str) -> None:
    (told,) = warnings(
        read_rules([{"action": "deny"}, {"action": "allow", "tool": "Bash", "input": {"command": pattern}}])
    )
    assert told.startswith(f"rule 2 allows {pattern!r}, and ")
    safe = told.rpartition("; allow what is meant: ")[2].split(", ")
    assert warnings(read_rules([as_rule(one) for one in safe])) == []


def as_rule(offered: str) -> dict[str, object]:
    """Return a rule with what a warning offers: a program by its name, or a pattern."""
    meant = tomllib.loads(offered) if offered.startswith("program = ") else {"input": {"command": offered}}
    return {"action": "allow", "tool": "Bash", **meant}


@for_each("pattern", [one for _, safe in PROGRAMS.values() for one in offered(safe).split(", ")])
def test_no_form_that_is_offered_is_told_of_in_turn(pattern: str) -> None:
    assert warnings(read_rules([as_rule(pattern)])) == []


@for_each("regex", ["^git ", "git", "^(git|hg) ", "^sudo "])
def test_a_regular_expression_is_told_of_in_the_same_way(regex: str) -> None:
    def told(*more: str) -> list[str]:
        both = {"command": regex, **({"description": more[0]} if more else {})}
        return warnings(read_rules([{"action": "allow", "tool": "Bash", "regex": both}]))

    assert told()[0].startswith(f"rule 1 allows {regex!r}, and ")
    assert len(told()) == len(told("^Show")) == 1
    narrow = {"regex": {"command": regex}, "program": "git log"}
    assert warnings(read_rules([{"action": "allow", "tool": "Bash", **narrow}])) == []


@for_each("regex", ["^git (status|fetch) ", "", "^[a-z -]+$"])
def test_other_expressions_are_not_told_of(regex: str) -> None:
    assert warnings(read_rules([{"action": "allow", "tool": "Bash", "regex": {"command": regex}}])) == []


@for_each(
    "pattern",
    [
        "git status*",
        "git log --oneline",
        "git",
        "ls *",
        "*",
        "git status && git *",
        "sudo git status",
        "time ls *",
        "* x",
    ],
)
def test_other_patterns_are_not_told_of(pattern: str) -> None:
    assert warnings(read_rules([{"action": "allow", "tool": "Bash", "input": {"command": pattern}}])) == []
    for action in ("deny", "ask"):
        assert warnings(read_rules([{"action": action, "input": {"command": pattern}}])) == []


def test_an_alias_of_git_runs_anything(tmp_path: Path) -> None:
    """What the warning says holds for the real git."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    line = PROGRAMS["git"][0].replace("!sh", "!touch made;:")
    subprocess.run(["sh", "-c", line], cwd=tmp_path, env=env, check=False, timeout=30)
    assert (tmp_path / "made").exists()


@for_each(
    "tool, covered",
    [
        ("mcp__docs__search", True),
        ("mcp__docs__search_all", True),
        ("mcp__docs__evil__search", False),  # tool "search" of a server "docs__evil"
        ("mcp__docs___search", False),  # perhaps of a server "docs_"
        ("mcp__docs_evil__search", False),
        ("mcp__docs", False),
    ],
)
def test_a_wildcard_for_the_tools_of_a_server_covers_no_other_server(tool: str, *, covered: bool) -> None:
    def matched(action: str) -> bool:
        rules = read_rules([{"action": action, "tool": "mcp__docs__*"}])
        return first_match(rules, ToolCall(tool), PathContext("/here")) is not None

    assert matched("allow") is covered
    assert matched("deny") is tool.startswith("mcp__docs__")


def test_a_wildcard_in_the_name_of_a_server_is_told() -> None:
    def told(*tools: str) -> list[str]:
        return warnings(read_rules([{"action": "allow", "tool": list(tools)}]))

    assert told("Read", "mcp__docs__*", "mcp__*", "*") == []
    assert [text.rpartition("; ")[2] for text in told("mcp__docs*", "mcp__do*__search")] == [
        "name the server: mcp__docs__*",
        "name the server: mcp__do__*",
    ]


def test_the_examples_in_the_documents_are_narrow() -> None:
    page = (ROOT / "docs" / "rules.md").read_text()
    examples = [part.partition("```")[0] for part in page.split("```toml\n")[1:]]
    rules = [rule for example in examples for rule in tomllib.loads(example).get("rules", [])]
    assert len(rules) >= 4
    assert warnings(read_rules(rules)) == []


async def test_the_doctor_tells_of_them(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(RULES)
    found = await checks.rules(Settings(rules=file))
    assert found.status == "note"
    assert "rule 2 allows 'git *'" in found.found


@pytest.mark.long
async def test_a_start_tells_of_them(tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES)
    async with turnwire(tmp_path, "serve", "--rules", "rules.toml", env=environment(tmp_path / "home")):
        pass
    said = (tmp_path / "turnwire.log").read_text()
    assert said.count("rule 2 allows 'git *', and git runs other programs") == 1


@for_each(
    "pattern, program",
    [
        *(
            ("git log *", "git log"),
            ("git diff*", "git diff"),
            ("go test *", "go test"),
            ("cargo test *", "cargo test"),
        ),
        *(
            ("uv run pytest *", "uv run pytest"),
            ("npx tsc *", "npx tsc"),
            ("sort *", "sort"),
            ("find *", "find"),
            ("rg *", "rg"),
        ),
    ],
)
def test_a_pattern_that_lets_through_a_harmful_option_is_told_with_the_program(
    pattern: str, program: str
) -> None:
    (told,) = warnings(read_rules([{"action": "allow", "tool": "Bash", "input": {"command": pattern}}]))
    assert told.startswith(f"rule 1 allows {pattern!r}, and ")
    assert told.endswith(f'program = "{program}"')

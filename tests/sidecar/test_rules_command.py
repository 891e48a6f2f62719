"""`turnwire rules explain`: what rules decide, as JSON lines and in words."""

import json
import subprocess
from pathlib import Path

import pytest

from turnwire_process import TURNWIRE, environment

RULES = """
[[rules]]
action = "deny"
tool = "Bash"
input = { command = "rm *" }
reason = "Nothing is removed."

[[rules]]
action = "allow"
tool = "Bash"
input = { command = "git log *" }

[[rules]]
action = "ask"
tool = "Write"
input = { file_path = "secrets/*" }

[[rules]]
action = "deny"
input = { url = "domain:evil.com" }
"""


def explained(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    (folder / "rules.toml").write_text(RULES)
    return subprocess.run(
        [*TURNWIRE, "rules", "explain", "--rules", "rules.toml", *arguments],
        cwd=folder,
        env=environment(folder / "home"),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_each_line_is_answered_and_a_bad_one_by_its_number(tmp_path: Path) -> None:
    lines = [
        b'{"command": "cd x && sudo rm y"}',
        b'{"command": "git log -1"}',
        b'{"command": "$X y"}',
        b"nonsense",
        b"[1]",
        b'{"command": "\xff"}',
        b"[" * 200,
        b"",
        b'{"command": "ls"}',
        b'{"command": 3}',
        '{"command": "git commit -m \\"fix: café"}'.encode(),
        b'{"command": "rm \\u001b[2J\\ud800"}',
    ]
    ran = explained(tmp_path, "--tool", "Bash", "--stdin", stdin=b"\n".join(lines) + b"\n")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [(one.get("decision"), one.get("rule")) for one in told] == [
        ("deny", 1),
        ("allow", 2),
        ("ask", 1),
        (None, None),
        (None, None),
        (None, None),
        (None, None),
        (None, None),
        ("none", None),
        ("none", None),
        ("ask", 1),
        ("deny", 1),
    ]
    errors = [(number, one["error"]) for number, one in enumerate(told, 1) if "error" in one]
    assert [number for number, _ in errors] == [4, 5, 6, 7, 8]
    for number, error in errors:
        assert error.startswith(f"line {number} is no tool input: ")
        assert error.endswith("; give one JSON object a line")
    assert all(set(one) == {"decision", "rule", "why"} and one["why"] for one in told if "error" not in one)
    assert told[0]["why"] == "rule 1 (deny command = 'rm *') matches, since the line runs 'rm y'"
    assert ran.returncode == 1
    assert ran.stdout.isascii()
    assert b"\x1b" not in ran.stdout


def test_other_tools_are_explained_too(tmp_path: Path) -> None:
    for tool, given, decision, rule in [
        ("Write", {"file_path": "secrets/key"}, "ask", 3),
        ("Write", {"file_path": "src/x"}, "none", None),
        ("WebFetch", {"url": "https://EV%69L.com/x"}, "deny", 4),
    ]:
        ran = explained(tmp_path, "--tool", tool, "--stdin", stdin=json.dumps(given).encode())
        told = json.loads(ran.stdout)
        assert (told["decision"], told["rule"]) == (decision, rule)
        assert ran.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cd x && rm y"], "deny: rule 1"),
        (["--", "rm", "-rf", "y"], "deny: rule 1"),
        (["ls"], "none: no rule matches, so the policy decides"),
        (["--", "git", "log", "-1"], "allow: rule 2"),
        (["su$@do rm x"], "only the shell knows the name of a command"),
        (["rm \x1b[2J"], "\\x1b[2J"),
    ],
)
def test_a_command_is_explained_in_words(arguments: list[str], says: str, tmp_path: Path) -> None:
    ran = explained(tmp_path, *arguments)
    assert ran.returncode == 0, ran.stderr
    assert says in ran.stdout.decode()
    assert b"\x1b" not in ran.stdout
    assert (b"the agent is told: Nothing is removed." in ran.stdout) is ("rule 1" in ran.stdout.decode())


@pytest.mark.parametrize("arguments", [[], ["ls", "--stdin"], ["--rules", "nowhere.toml", "ls"]])
def test_a_wrong_call_is_one_sentence(arguments: list[str], tmp_path: Path) -> None:
    ran = explained(tmp_path, *arguments)
    assert ran.returncode == 2
    assert len(ran.stderr.splitlines()) == 1
    assert b"Traceback" not in ran.stderr

"""Programs that rules allow by name: what their definitions cover, and that no option that they name does harm."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cases import for_each
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.grants import Grant
from turnwire.adapter.permissions.programs import Program, programs
from turnwire.adapter.permissions.rules import PathContext, RuleError, first_match, read_rules

KNOWN = tuple(dict.fromkeys(programs().values()))
HARMS = [line for one in KNOWN for line in one.harms]
COVERED = (
    *("git log --oneline -5", "git log -p --stat=80 -- src", "git log -n 5", "git log -n5 main..dev", "git diff --cached", "git diff HEAD~1 -- 'a b'"),
    *("git show HEAD:x.py", "rg -n 'foo bar' src", "rg -nil x", "grep -rn x src --include='*.py'", "find . -name '*.py' -type f", "find src -maxdepth 2"),
    *("sort -rnk2 f", "tar -tzf x.tgz", "tar -tf x", "pytest -q tests/unit", "uv run pytest -xvs -k 'a and b'", "python3 -m pytest tests"),
    *("npx tsc --noEmit", "npx eslint src --ext .ts", "go test ./... -run TestX -v", "go test --run=X ./a", "cargo test -p core", "git status -sb"),
    *("sed -n 1,20p a", "sed -n '/x/p' a", "sed 's/a/b/g; s/\\./x/' a", "sed -E 's/(a)+/b/2' a", "awk '{print $1}' a", "awk -F: '/x/ {s += $2} END {print s}' a", "awk -v n=3 'NR == n' a", "node --check x.js"),
    *("uniq -c", "diff -u a b", "jq -r '.a | .b' a", "date -d yesterday +%F", "date"),
    *("cargo test --lib foo -- --nocapture", "sort -- -o", "git log '--' --output=x"),
)  # fmt: skip
OTHERS = (
    *("git log --grep 'a -- b' --output=x", "git log --grep '' --output=x", "git log *", "git log --outp=x", "git log; rm x", "X=1 git log"),
    *("git log $(x)", "git -c a=b log", "git log --oneline --output x", "rg x *", "sudo git log", "git log -S", "find . -name", "git log \\--output=x"),
    *("git log '--output=x'", "git log \"--out\"put=x", "git log\n--output=x", "git log > x", "git log | sh", "git log --stat --ext-diff", "git log -p -O"),
    *("awk B* a", "awk B?GIN a", "sed s/x/y/w* a", "sed", "awk", "sed -n", "sed -- 'w x' a", "awk -- 'BEGIN{system(1)}'", "awk \"{print \\$1 > \\\"x\\\"}\" a", "awk 'BEGIN {print |& \"x\"}'", "sed 's/a/b/;w x' a", "sed '1p;e' a", "node", "uniq a b", "sed p -i a"),
    *("sort -nro x", "sort -no x", "sort ?o x", "sort --outpu x", "rg --pr=x y", "tar -tvIx f", "pytest -qp evil", "pytest '@x'", "gitlog", "git", "git log'"),
)  # fmt: skip


def covering(line: str) -> list[str]:
    return [one.name for one in KNOWN if one.covers(line)]


def test_a_definition_covers_the_options_that_it_names() -> None:
    assert [line for line in COVERED if not covering(line)] == []


def test_what_writes_a_file_or_runs_a_program_is_not_covered_in_any_spelling() -> None:
    spelled = [
        other
        for line in HARMS
        for other in (
            line,
            line.replace("--", "'--'"),
            line.replace("-", "\\-"),
            f"{line} -- x",
            line.replace("=", " "),
        )
    ]
    assert len(HARMS) > 90
    assert [line for line in (*spelled, *OTHERS) if covering(line)] == []


@for_each("line", ["git log --output=made --oneline", "git diff --no-index --output=made a b", "sort -o made a", "sort -ro made a", "sort --outp=made a", "find . -fprint made", "find . -exec touch made {} +", "sed wmade a", "sed -n s/x/y/wmade a", "sed -e wmade a", "sed 1etouch\tmade a", "awk {print>\"made\"} a", "awk BEGIN{system(\"touch\\tmade\")}", "awk {print|\"touch\\tmade\"} a", "uniq a made"])  # fmt: skip
def test_the_harm_is_real_with_the_installed_programs(line: str, tmp_path: Path) -> None:
    furnish(tmp_path)
    run(line.split(" "), tmp_path)
    assert (tmp_path / "made").exists()
    assert covering(line) == []


@pytest.mark.long
@for_each("name", ["git log", "git show", "git diff", "git status", "git blame", "git ls-files", "git grep", "grep", "find", "sort", "tar", "sed", "awk", "node --check", "uniq", "diff", "date", *filter(shutil.which, ["rg", "jq"])])  # fmt: skip
def test_no_option_that_a_definition_names_writes_a_file_or_runs_a_program(name: str, tmp_path: Path) -> None:
    """Each is tried with a program's path as its value: that is neither run nor written, and nothing is made."""
    program = programs()[name]
    furnish(tmp_path)
    before = seen(tmp_path)
    operands = {
        "git blame": ["a"],
        "tar": ["-tf", "a.tar"],
        "sort": ["a"],
        "grep": ["x", "a"],
        "rg": ["x", "a"],
        "git grep": ["x"],
        "sed": ["p", "a"],
        "awk": ["1", "a"],
        "node --check": ["a"],
        "jq": [".", "a"],
        "diff": ["a", "b"],
    }
    for option in program.options.split():
        bare = option.rstrip("=").removesuffix("[=]").removesuffix("[")
        tries = [[bare]] if not option.endswith(("=", "[=]")) else []
        if option.endswith(("=", "[=]")):
            tries += [[f"{bare}=./evil"] if bare.startswith("--") else [f"{bare}./evil"], [bare, "./evil"]]
        for words in tries:
            run([*name.split(), *words, *operands.get(name, [])], tmp_path)
            assert seen(tmp_path) == before, (name, words)


def test_a_rule_allows_a_program_by_its_definition() -> None:
    rules = read_rules(
        [
            {"action": "allow", "tool": "Bash", "program": ["git log", "uv run pytest"]},
            {"action": "allow", "tool": "Bash", "program": "make-report", "options": "-q --level="},
        ]
    )

    def decided(command: str) -> bool:
        call = ToolCall("Bash", {"command": command}, "execute")
        return first_match(rules, call, PathContext("/w")) is not None

    assert all(
        map(
            decided, ("git log -3", "uv run pytest -q", "make-report -q --level 3 x", "make-report --level=3")
        )
    )
    assert not any(map(decided, ("git log --output=x", "git diff", "pytest -q", "uv run pytest -p x", "make-report -x", "make-report --lev 3")))  # fmt: skip
    untold = ToolCall("Bash", {}, "execute", untold=("command",))
    assert first_match(rules, untold, PathContext("/w")) is None


@for_each(
    "entry, told",
    [
        ({"action": "allow", "program": "nobody knows"}, "knows no options of 'nobody knows'"),
        ({"action": "deny", "program": "git log"}, "program is for rules that allow"),
        ({"action": "allow", "program": [1]}, "program must be"),
        ({"action": "allow", "options": "-q"}, "options must be text"),
    ],
)
def test_a_rule_about_a_program_that_cannot_be_read_says_why(entry: dict[str, object], told: str) -> None:
    with pytest.raises(RuleError, match=told):
        read_rules([entry])


def test_always_for_the_beginning_of_a_command_means_its_definition() -> None:
    grant = Grant("Bash", "git log:*")
    assert grant.covers(ToolCall("Bash", {"command": "git log -3"}, "execute"))
    assert not grant.covers(ToolCall("Bash", {"command": "git log --output=x"}, "execute"))
    assert Grant("Bash", "make:*").covers(ToolCall("Bash", {"command": "make test"}, "execute"))


def test_a_definition_with_a_needed_option_wants_it() -> None:
    one = Program("x", "-t -f=", needed=("-t",))
    assert one.covers("x -tf a")
    assert not one.covers("x -f a")


def furnish(folder: Path) -> None:
    """A repository with a file, an archive, and a program that leaves a trace when it is run."""
    (folder / "a").write_text("x\ny\n")
    (folder / "b").write_text("z\n")
    (folder / "evil").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "evil").chmod(0o755)
    for words in (
        ["git", "init", "-q"],
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "x"],
        ["tar", "-cf", "a.tar", "a"],
    ):
        run(words, folder)


def seen(folder: Path) -> dict[str, int]:
    return {
        str(one.relative_to(folder)): one.stat().st_size for one in folder.iterdir() if one.name != ".git"
    }


def run(words: list[str], folder: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_PAGER": "cat", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        words, cwd=folder, env=env, check=False, timeout=30, capture_output=True, stdin=subprocess.DEVNULL
    )

"""What judging costs of lines and paths that an agent made long: calls of functions and memory are counted, not time."""

import sys
import tracemalloc
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from turnwire.adapter.permissions import protected, secret_places, shell
from turnwire.adapter.permissions.calls import ToolCall
from turnwire.adapter.permissions.patterns import covers, finds
from turnwire.adapter.permissions.policies import PermissionSettings, judge_call
from turnwire.adapter.permissions.real_paths import protected_places, real_paths_of_calls, session_places
from turnwire.adapter.permissions.rules import read_rules
from turnwire.adapter.permissions.shell import MAX_LENGTH, MAX_STEPS, read_line

CALLS = 500_000
"""Functions of Python and C that are called for one request: some 50 ms."""
BYTES = 20_000_000
"""That are taken at once for one request."""

BEGUN = (
    ("uv run ", "--x1 a "), ("sudo ", "--x a "), ("docker run ", "--x1 a "), ("npm exec ", "--x1 "), ("ls ", "a "),
    ("foo ", "'a b' "), ("foo ", "npx $R "), ("git ", "-c a.b=c "), ("git rebase ", "-x a "), ("git rebase -", "ax"),
    ("find . ", "-exec a ; "), ("fd ", "-x a "), ("cat ", "a/b "), ("cat ", "../"), ("cat ", "$HOME/"), ("cat ", "~/.ss?/* "),
    ("xargs ", "-I a "), ("xargs -I{} ", "{} "), ("su ", "-c a "), ("bwrap ", "a "), ("tmux ", "'a b' "), ("trap ", "a "),
    ("export ", "a=1 "), ("[[ ", "a || "), ("unset ", "a[1] "), ("echo ", "{a,b}"), ("echo '", "$(a) "), ("echo ", "$a"),
    ("for a in ", "b "), ("case x in ", "a) b;; "), ("cat <<E\n", " a\n"), ("ls ", "*a*"), ("cat ", "[a"), ("sh; echo ", "'a b' "),
    ("", "env "), ("", "sudo "), ("", "timeout 5 "), ("", "env A=1 sudo timeout 5 nice "), ("", "uv run --x1 a "), ("", "ssh h "),
    ("", "a | "), ("", "a; "), ("", "cat <<E\nx\nE\n"), ("", "A=1 "), ("", "A=1;"), ("", "export -x a=1;"), ("", "$("), ("", "`a` "),
    ("", "a[1"), ("", "if a; then "), ("", "f() { "), ("", "("), ("", "sh -c "), ("", "eval "), ("", "a\\\n"), ("", "'"), ("", '"'), ("", ">"),
    ("", "cd a; cat ./b; "), ("", "ln -s $X a; "), ("", "cd $X; cat a/b; "), ("", "turnwire $X; "), ("", "echo 'echo a' | sh; "),
)  # fmt: skip
NESTED = (
    ("echo ", "$((1+", "1))"), ("", "$(", ")"), ("echo ", "${A:-", "b}"), ("", "if a; then ", "b; fi;"), ("", "(", ")"),
    ("echo ", '"${A:-', 'b}"'), ("", "{ ", "a; }; "),
)  # fmt: skip
NUMBERED = (
    "cat *a{}*b ",
    "cat ~/*a{}/*b ",
    "cat a{0}/b{0}/c ",
    "cat $X/*turnwire{}/a ",
    "cd d{0}; cat e{0}/f; ",
    "a{} x; ",
)


def lines(size: int) -> Iterator[str]:
    """Lines of about so many characters, each of one shape."""
    for begin, unit in BEGUN:
        yield (begin + unit * size)[:size]
    for begin, unit, end in NESTED:
        times = size // len(unit + end)
        yield begin + unit * times + "a" + end * times
    for unit in NUMBERED:
        yield "".join(unit.format(number) for number in range(size // len(unit)))[:size]


class House:
    """Settings with a few rules, and counters."""

    def __init__(self, folder: Path) -> None:
        home, work = folder / "home", folder / "home" / "work"
        (home / ".local" / "state" / "turnwire").mkdir(parents=True)
        work.mkdir()
        rules = read_rules(
            [
                *(
                    {"action": "deny", "input": {"command": one}}
                    for one in ("rm *", "git push *", "*secret*k*x")
                ),
                {"action": "deny", "input": {"file_path": "secret/*"}},
                {"action": "deny", "input": {"url": "domain:evil.com"}},
            ]
        )
        self.settings = PermissionSettings(
            policy="supervised",
            rules=rules,
            workspace=str(work),
            places=session_places(rules, str(work), str(home)),
            protected=protected_places([str(home / ".local" / "state" / "turnwire")], str(home)),
        )

    def judge(self, call: ToolCall) -> None:
        judge_call(self.settings, (), call, real_paths=real_paths_of_calls([call], self.settings))

    def cost(self, call: ToolCall) -> int:
        """The calls of functions until a request is judged."""
        calls = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")
            if calls > CALLS:
                sys.setprofile(None)
                raise TooExpensive

        sys.setprofile(count)
        try:
            self.judge(call)
        except TooExpensive:
            pass
        finally:
            sys.setprofile(None)
        return calls


class TooExpensive(BaseException):
    """A request costs more than its budget; nothing in the way catches it, so that the test ends."""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def command(line: str) -> ToolCall:
    return ToolCall("Bash", {"command": line}, "execute")


def test_no_words_are_copied_again_for_each_place_where_a_command_may_begin(house: House) -> None:
    tracemalloc.start()
    try:
        house.judge(command("uv run " + "--x1 a " * 3000))
        assert tracemalloc.get_traced_memory()[1] < BYTES
        tracemalloc.reset_peak()
        house.judge(command("xargs " + "-I a " * 2000 + "sh " + "a " * 2000))
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "line", ["a | " * 2000 + "b", ">" * 5000, "a" * (MAX_LENGTH + 1), "a\0", "$((1+" * 4000]
)
def test_a_line_beyond_a_limit_is_not_parsed_first(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "parser", lambda: pytest.fail("it was parsed"))
    assert read_line(line).unread


@pytest.mark.parametrize(
    "call",
    [
        command("cat " + "[a" * 24_000),
        command("cat ~/" + "*a/" * 16_000),
        ToolCall("Glob", {"pattern": "[a" * 25_000}, "search"),
        ToolCall("Glob", {"pattern": "*a/" * 16_000}, "search"),
        ToolCall("Grep", {"pattern": "x", "glob": "[a" * 25_000}, "search"),
    ],
)
def test_an_agent_makes_no_long_patterns(
    house: House, call: ToolCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def compare(name: str, pattern: str) -> bool:
        compared.append(pattern)
        return fnmatchcase(name, pattern)

    for module in (protected, secret_places):
        monkeypatch.setattr(module, "fnmatchcase", compare)
    house.judge(call)
    assert len(compared) < 10_000
    assert max(map(len, compared), default=0) <= 300


@pytest.mark.long
@pytest.mark.parametrize("size", [12_000, MAX_LENGTH - 10, protected.MAX_LINE - 10])
def test_no_shape_of_a_line_costs_more_than_its_budget(house: House, size: int) -> None:
    costs = {line[:40]: house.cost(command(line)) for line in lines(size)}
    assert {line: cost for line, cost in costs.items() if cost > CALLS} == {}


@pytest.mark.long
@pytest.mark.parametrize(
    "call",
    [
        ToolCall("Read", {"file_path": "../" * 20_000}, "read"),
        ToolCall("Read", {"file_path": "/" + "a/" * 2000}, "read"),
        ToolCall("read_files", {"path": [f"{'a/' * 1500}{number}" for number in range(2000)]}),
        ToolCall("WebFetch", {"url": "https://" + "a@" * 25_000 + "x/"}, "fetch"),
        ToolCall("WebFetch", {"url": "https://" + "a." * 25_000 + "x/"}, "fetch"),
        ToolCall("many", {"command": ["rm x"] * 20_000}, "execute"),
        ToolCall("many", {"url": [f"https://x{number}.org" for number in range(20_000)]}, "fetch"),
    ],
)
def test_no_path_address_or_list_costs_more_than_its_budget(house: House, call: ToolCall) -> None:
    assert house.cost(call) < CALLS


def test_what_exceeds_the_budget_is_asked_about_and_covered_by_no_rule() -> None:
    for line in ("ls " + "a " * MAX_STEPS, "a | " * 900 + "a", "ls " + "a" * MAX_LENGTH, "ls $(" * 5000):
        reading = read_line(line)
        assert reading.unread
        assert finds("rm *", line) == "maybe"
        assert not covers("ls *", line)
        assert not covers("a*", line)


def test_a_large_script_of_every_day_is_within_the_budget() -> None:
    """As agents write files by a here-document, or run scripts that they have put into one line."""
    assert not read_line("cat > x.py <<'E'\n" + "if a(b) and c[1] > 2: print('x')\n" * 600 + "E").unread
    assert not read_line('if make -j4 CC=gcc test; then echo "ok $1"; fi\n' * 300).unread


@pytest.mark.parametrize(
    "line",
    [
        "ls *.json",
        "cat *.yml",
        "prettier --check '**/*.{json,md,yml}'",
        "ls conf*",
        "cat config*/*",
        "ls doc*/*.md",
    ],
)
def test_an_ordinary_pattern_is_not_compared_with_files_in_folders_that_it_does_not_name(
    house: House, line: str
) -> None:
    call = command(line)
    real = real_paths_of_calls([call], house.settings)
    assert judge_call(house.settings, (), call, real_paths=real).reason == "a human approves this tool"


@pytest.mark.parametrize(
    "line",
    [
        "cat ~/**/.aws/cred*",
        "tar c ~/.aw*",
        "cat ~/.a*/*",
        "cat ~/x*/../.aw*/x",
        "cat ~/*/*/*",
        "cp -r .aw? x",
    ],
)
def test_a_pattern_that_finds_a_secret_place_is_asked_about(house: House, line: str) -> None:
    call = command(line)
    real = real_paths_of_calls([call], house.settings)
    assert "gets at" in judge_call(house.settings, (), call, real_paths=real).reason

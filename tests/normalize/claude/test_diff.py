"""Diffs: computed ones apply, are minimal and carry true line numbers; the CLI's are checked against the file."""

import itertools
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from patches import git_applied, patched

from turnwire.normalize.claude.results import hunks
from turnwire.normalize.payloads import diff
from turnwire.normalize.payloads.files import Mutation
from turnwire.normalize.payloads.shortest import shortest

texts = st.lists(st.sampled_from(["a", "b", "c", "", "- x", "+ y", "@@", "\tindented"]), max_size=30).map(
    "\n".join
)


def body(change: str) -> list[str]:
    return change.split("\n")[2:-1]


def test_a_changed_line_is_shown_with_three_lines_around_it() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 21))
    change = diff.of_files("src/f", old, old.replace("line 10\n", "LINE 10\n"))
    assert change == (
        "--- src/f\n+++ src/f\n@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+LINE 10\n"
        " line 11\n line 12\n line 13\n"
    )


def test_changes_far_apart_become_hunks_of_their_own() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 41))
    change = diff.of_files("f", old, old.replace("line 2\n", "").replace("line 30\n", "line 30\nnew\n"))
    assert [line for line in body(change) if line.startswith("@@")] == [
        "@@ -1,5 +1,4 @@",
        "@@ -28,6 +27,7 @@",
    ]


def test_equal_texts_have_no_diff() -> None:
    assert diff.of_files("f", "a\nb\n", "a\nb\n") == ""
    assert diff.of_passages("f", "a", "a") == ""
    assert diff.of_files("f", "", "") == ""
    assert diff.counts("") == (0, 0)


def test_a_new_file_comes_from_nowhere() -> None:
    assert diff.of_new_file("f", "a\nb\n") == "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert body(diff.of_new_file("f", "a\n\nb")) == [
        "@@ -0,0 +1,3 @@",
        "+a",
        "+",
        "+b",
        "\\ No newline at end of file",
    ]
    assert diff.of_new_file("f", "") == ""


def test_an_emptied_file_ends_before_its_first_line() -> None:
    assert diff.of_files("f", "a\n", "") == "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"


def test_a_missing_newline_at_the_end_is_marked_as_git_does() -> None:
    change = diff.of_files("f", "a\nb", "a\nb\n")
    assert body(change) == ["@@ -1,2 +1,2 @@", " a", "-b", "\\ No newline at end of file", "+b"]


def test_a_passage_has_no_end_of_file() -> None:
    assert body(diff.of_passages("f", "a", "b")) == ["@@ -1,1 +1,1 @@", "-a", "+b"]
    assert body(diff.of_passages("f", "a", "")) == ["@@ -1,1 +0,0 @@", "-a"]
    assert body(diff.of_passages("f", "", "b")) == ["@@ -0,0 +1,1 @@", "+b"]


def test_a_passage_that_ends_in_a_newline_has_no_line_behind_it() -> None:
    change = diff.of_passages("f", "a\nb\n", "a\nB\n")
    assert body(change) == ["@@ -1,2 +1,2 @@", " a", "-b", "+B"]
    assert git_applied("a\nb\n", change) == "a\nB\n"


def test_a_passage_that_loses_its_newline_says_so() -> None:
    change = diff.of_passages("f", "a\n", "b")
    assert body(change) == ["@@ -1,1 +1,1 @@", "-a", "+b", "\\ No newline at end of file"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a\nb", r'"a\nb"'),
        ("tab\there", r'"tab\there"'),
        ('quo"te', r'"quo\"te"'),
        ("back\\slash", r'"back\\slash"'),
        ("bell\x07", r'"bell\007"'),
        ("two words", "two words\t"),
        ("größe", "größe"),
    ],
)
def test_a_path_is_written_as_git_does(path: str, name: str, tmp_path: Path) -> None:
    change = diff.of_files(path, "x\n", "y\n")
    assert change.startswith(f"--- {name}\n+++ {name}\n@@")
    (tmp_path / path).write_text("x\n")
    git = ["git", "apply", "-p0", "-"]
    subprocess.run(git, input=change.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / path).read_text() == "y\n"


def test_lines_are_counted_that_look_like_headers() -> None:
    assert diff.counts(diff.of_files("f", "-- a\n", "++ b\n++ c\n")) == (2, 1)


def test_a_change_is_not_all_old_lines_out_and_all_new_lines_in() -> None:
    old = "def greet(name):\n    print('hello')\n    return name\n"
    change = diff.of_passages("f", old, old.replace("hello", "bye"))
    assert diff.counts(change) == (1, 1)


def test_huge_changes_are_shown_whole_without_matching_lines() -> None:
    old = "".join(f"old {number}\n" for number in range(3000))
    new = "".join(f"new {number}\n" for number in range(3000))
    change = diff.of_files("f", f"head\n{old}tail\n", f"head\n{new}tail\n")
    assert diff.counts(change) == (3000, 3000)
    assert body(change)[:3] == ["@@ -1,3002 +1,3002 @@", " head", "-old 0"]
    assert body(change)[-1] == " tail"


@given(texts, texts)
def test_computed_diffs_give_the_new_text(old: str, new: str) -> None:
    change = diff.of_files("f", old, new)
    assert (change == "") == (old == new)
    if change:
        assert patched(old, change) == new


repeated = st.lists(st.sampled_from(["", "}", "\treturn nil", "  x", "a"]), max_size=40)


def test_a_hunk_among_equal_lines_has_context_to_its_end() -> None:
    block = "func {}() {{\n\tif err {{\n\t\treturn err\n\t}}\n\treturn nil\n}}\n\n"
    old = "".join(block.format(name) for name in "abcd")
    new = old.replace(f"{block.format('a')}{block.format('b')}", block.format("ab"))
    change = diff.of_files("f", old, new)
    assert patched(old, change) == new
    assert git_applied(old, change) == new


@settings(max_examples=50)
@given(repeated, repeated, repeated, repeated, st.booleans())
def test_git_applies_what_is_computed_among_repeated_lines(
    head: list[str], old: list[str], new: list[str], tail: list[str], ended: bool
) -> None:
    end = "\n" if ended else ""
    before, after = "\n".join([*head, *old, *tail]) + end, "\n".join([*head, *new, *tail]) + end
    change = diff.of_files("f", before, after)
    assume(change)
    assert git_applied(before, change) == after


hostile = st.lists(
    st.text(
        st.sampled_from(
            [
                "a",
                "b",
                " ",
                "\t",
                "\r",
                "\x0b",
                "\x0c",
                "\x85",
                "\u2028",
                "\u2029",
                "\ufeff",
                "+",
                "-",
                "@",
                "\\",
                "🎉",
            ]
        ),
        max_size=4,
    ),
    max_size=12,
).map("\n".join)


@settings(max_examples=50)
@given(hostile, hostile)
def test_git_applies_what_is_computed_between_hostile_files(old: str, new: str) -> None:
    change = diff.of_files("f", old, new)
    assume(change)
    assert git_applied(old, change) == new


@pytest.mark.parametrize("step", [1, 97, 5000])
def test_git_applies_what_is_computed_between_large_files(step: int) -> None:
    lines = [f"line {number % 1000}" for number in range(20_000)]
    changed = [f"{line}!" if number % step == 7 % step else line for number, line in enumerate(lines)]
    old, new = "\n".join(lines), "\n".join([*changed, "more"]) + "\n"
    assert git_applied(old, diff.of_files("f", old, new)) == new


def test_git_applies_the_diff_of_a_new_file() -> None:
    for content in ("a\n", "a", "\n", "a\n\n\u2028b"):
        assert git_applied(None, diff.of_new_file("f", content)) == content


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from(["", "}", "a"]), min_size=4, max_size=8),
    repeated,
    repeated,
    st.lists(st.sampled_from(["", "}", "a"]), min_size=4, max_size=8),
    st.sampled_from(["", "last\n", "last", "\n"]),
)
def test_git_applies_the_diff_of_a_part_wherever_the_file_ends(
    head: list[str], old: list[str], new: list[str], tail: list[str], rest: str
) -> None:
    above = "one\ntwo\n"
    before, after = "\n".join([*head, *old, *tail]), "\n".join([*head, *new, *tail])
    change = diff.of_part("f", before, after, start=3)
    assume(change)
    assert git_applied(f"{above}{before}\n{rest}", change) == f"{above}{after}\n{rest}"


@given(texts, texts, texts)
def test_diffs_of_the_end_of_a_file_have_the_files_line_numbers(head: str, old: str, new: str) -> None:
    start = head.count("\n") + 2
    change = diff.of_files("f", old, new, start=start)
    if change:
        assert patched(f"{head}\n{old}", change) == f"{head}\n{new}"


def test_the_patch_applier_of_these_tests_refuses_a_wrong_diff() -> None:
    change = "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-b\n+B\n"
    assert patched("a\nb\n", change) == "a\nB\n"
    with pytest.raises(AssertionError):
        patched("b\na\n", change)


def hunk(start: int, lines: list[str], new_start: int | None = None) -> dict[str, Any]:
    return {
        "oldStart": start,
        "oldLines": sum(line[0] in " -" for line in lines),
        "newStart": start if new_start is None else new_start,
        "newLines": sum(line[0] in " +" for line in lines),
        "lines": lines,
    }


def patch_of(original: str | None, *parts: Any, after: str | None = None) -> str | None:
    return hunks.of_result("f", {"structuredPatch": list(parts)}, original, after)


def test_hunks_of_the_cli_become_a_unified_diff() -> None:
    assert patch_of("a\nb\nc\n", hunk(1, [" a", "-b", "+B", " c"])) == (
        "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )


def test_a_side_without_lines_is_numbered_as_patch_wants_it() -> None:
    assert patch_of("", hunk(1, ["+a"])) == "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"
    assert patch_of("a\n", hunk(1, ["-a"])) == "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"


def test_hunks_that_do_not_fit_the_file_are_refused() -> None:
    assert patch_of("\ta\n", hunk(1, ["-  a", "+  b"])) is None


def test_hunks_that_do_not_give_the_new_file_are_refused() -> None:
    fitting = hunk(1, [" a", "+\tb"])
    assert patch_of("a\n", fitting, after="a\n\tb\n") == "--- f\n+++ f\n@@ -1,1 +1,2 @@\n a\n+\tb\n"
    assert patch_of("a\n", hunk(1, [" a", "+  b"]), after="a\n\tb\n") is None
    assert patch_of("a\nc\n", hunk(1, [" a", "+\tb"]), after="a\n\tb\nC\n") is None
    assert patch_of("x\na\n", hunk(2, [" a", "+b"]), after="y\na\nb\n") is None


def test_hunks_must_know_whether_the_last_line_is_ended() -> None:
    marked = hunk(1, ["-a", "\\ No newline at end of file", "+b"])
    assert patch_of("a", marked, after="b\n") is not None
    assert patch_of("a\n", marked) is None
    assert patch_of("a", hunk(1, ["-a", "+b"])) is None


def test_a_hunk_that_begins_with_a_mark_is_refused() -> None:
    assert patch_of("a\n", hunk(1, ["\\ No newline at end of file", "-a", "+b"])) is None


def test_hunks_are_taken_as_they_are_when_the_file_is_unknown() -> None:
    assert patch_of(None, hunk(3, ["-a", "+b"])) == "--- f\n+++ f\n@@ -3,1 +3,1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    "bad", [{}, {"oldStart": "x", "lines": ["-a"]}, {"oldStart": 1, "lines": []}, {"oldStart": 1}]
)
def test_hunks_of_the_wrong_shape_are_refused(bad: Any) -> None:
    assert patch_of("a\n", bad) is None


def test_no_hunks_are_no_diff() -> None:
    assert patch_of("a\n") is None
    assert hunks.of_result("f", {}, None) is None


@pytest.mark.parametrize("lines", [5000, 20_000])
def test_a_few_changes_in_a_large_file_are_a_few_lines(lines: int) -> None:
    old = [f"line {number}\n" if number % 3 else "same\n" for number in range(lines)]
    new = [f"changed {number}\n" if number % 49 == 1 else line for number, line in enumerate(old)]
    changed = sum(before != after for before, after in zip(old, new, strict=True))
    change = diff.of_files("f", "".join(old), "".join(new))
    assert diff.counts(change) == (changed, changed)
    assert git_applied("".join(old), change) == "".join(new)


@pytest.mark.parametrize("kinds", [1, 4, 50])
def test_a_few_changes_in_a_large_file_of_like_lines_are_a_few_lines(kinds: int) -> None:
    old = [f"    x = {number % kinds}\n" for number in range(5000)]
    new = [f"changed {number}\n" if number % 50 == 7 else line for number, line in enumerate(old)]
    new[2500:2500] = ["added\n", "added\n"]
    change = diff.of_files("f", "".join(old), "".join(new))
    assert diff.counts(change) == (102, 100)
    assert not isinstance(change, diff.Approximate)
    assert git_applied("".join(old), change) == "".join(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\n" * 5000, "b\nc\na\n" * 5000),
        # each diagonal leads through all of it
        ("x\n" + "a\n" * 99_000 + "y\n", "z\n" + "a\n" * 97_000 + "w\n"),
    ],
)
def test_a_large_file_that_takes_too_long_is_replaced_and_its_diff_is_true_and_approximate(
    old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diff, "STEPS", 100_000)
    change = diff.of_files("f", old, new)
    assert git_applied(old, change) == new
    whole = Mutation(type="edit", diff=change)
    assert whole.approximate
    assert type(whole.diff) is str
    assert replace(whole, diff="", approximate=None).approximate is None
    assert b'"approximate":true' in msgspec.json.encode(whole)


def test_equal_passages_between_the_changes_of_a_large_file_stay() -> None:
    same = "same\n" * 3000
    old = f"first\n{same}one\n{same}two\n{same}x\n"
    new = f"1\n{same}one\n{same}two\n{same}y\nz\n"
    change = diff.of_files("f", old, new)
    assert diff.counts(change) == (3, 2)
    assert git_applied(old, change) == new


@given(
    st.lists(st.sampled_from("abc"), max_size=12),
    st.lists(st.sampled_from("abc"), max_size=12),
    st.integers(0, 400),
)
def test_the_shortest_way_leads_from_one_list_to_the_other(old: list[str], new: list[str], work: int) -> None:
    found, left = shortest(old, new, work)
    assert 0 <= left <= work
    if found is None:
        return
    made: list[str] = []
    at = 0
    for step in found:
        made += old[at : step.old] + new[step.new : step.new_end]
        at = step.old_end
    assert made + old[at:] == new
    assert all(before.old_end < after.old for before, after in itertools.pairwise(found))


def test_no_way_is_found_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnwire.normalize.payloads.shortest.MOST_CHANGES", 20)
    assert shortest(["a"] * 20, ["b"], 10**9).steps is None
    assert shortest(["a"] * 19, ["b"], 10**9).steps == [(0, 19, 0, 1)]


def test_lines_that_moved_in_a_large_file_are_a_true_diff() -> None:
    old = [f"line {number}\n" for number in range(3000)]
    new = ["first\n", *old[1500:], "middle\n", *old[:1500], "last\n"]
    change = diff.of_files("f", "".join(old), "".join(new))
    assert git_applied("".join(old), change) == "".join(new)
    assert diff.counts(change) == (1503, 1500)

"""Diffs: computed ones apply, are minimal and carry true line numbers; the CLI's are checked against the file."""

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patches import patched

from normalize import diff, hunks

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
    assert body(diff.of_passages("f", "a", "b", start=7)) == ["@@ -7,1 +7,1 @@", "-a", "+b"]


def test_a_path_cannot_break_the_header() -> None:
    assert diff.of_passages("a\nb", "x", "y").startswith("--- a b\n+++ a b\n@@")


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


few = st.lists(st.sampled_from(["a", "b", "c", "", "x"]), max_size=4)
changed = st.lists(st.sampled_from(["new", "newer", "x"]), max_size=3)


@given(few, changed, changed, few)
def test_a_change_that_is_known_is_what_the_matcher_would_find(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    before, after = "\n".join([*head, *old, *tail]), "\n".join([*head, *new, *tail])
    known = diff.of_passages("f", before, after)
    with patch.object(diff, "_is_one_change", return_value=False):
        assert diff.of_passages("f", before, after) == known


def test_a_long_change_is_left_to_the_matcher() -> None:
    new = "".join(f"new {number}\n" for number in range(diff.POPULAR))
    assert diff.counts(diff.of_files("f", "head\nold\n", f"head\n{new}")) == (diff.POPULAR, 1)


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


def patch_of(original: str | None, *parts: Any) -> str | None:
    return hunks.of_result("f", {"structuredPatch": list(parts)}, original)


def test_hunks_of_the_cli_become_a_unified_diff() -> None:
    assert patch_of("a\nb\nc\n", hunk(1, [" a", "-b", "+B", " c"])) == (
        "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"
    )


def test_a_side_without_lines_is_numbered_as_patch_wants_it() -> None:
    assert patch_of("", hunk(1, ["+a"])) == "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"
    assert patch_of("a\n", hunk(1, ["-a"])) == "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n"


def test_hunks_that_do_not_fit_the_file_are_refused() -> None:
    assert patch_of("\ta\n", hunk(1, ["-  a", "+  b"])) is None


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

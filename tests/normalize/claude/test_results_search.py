"""Results of searches in each output mode: files, lines, counts; nothing found is nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_pairs import answered, output, recorded

from turnwire.normalize.claude.results import grep_lines

ALL = ["1.0.120", "2.0.14", "2.1.101", "2.1.330"]


def grep(content: str, structured: Any = None, **call: Any) -> Any:
    return output(answered("Grep", {"pattern": "x", **call}, content, structured))


def lines(content: str, **call: Any) -> list[tuple[str | None, int | None, str, bool]]:
    found = grep(content, output_mode="content", **call)["matches"]
    return [(one.get("file"), one.get("line"), one["text"], one.get("context", False)) for one in found]


@pytest.mark.parametrize("version", ALL)
def test_a_glob_lists_files(version: str) -> None:
    found = output(recorded(version, "tool-glob-grep", "Glob", 0))
    assert [file.removeprefix("/workspace/project/") for file in found["files"]] == [
        "src/app.py",
        "src/util.py",
    ]
    assert (found["file_count"], found["truncated"]) == (2, False)


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize(("name", "number"), [("Glob", 1), ("Grep", 3)])
def test_no_files_found_is_no_file(version: str, name: str, number: int) -> None:
    found = output(recorded(version, "tool-glob-grep", name, number))
    assert (found["files"], found["file_count"]) == ([], 0)


@pytest.mark.parametrize("version", ALL)
def test_a_grep_lists_files_without_its_heading(version: str) -> None:
    found = output(recorded(version, "tool-glob-grep", "Grep", 0))
    assert not any(file.startswith("Found ") for file in found["files"])
    assert found["file_count"] == len(found["files"]) == (2 if version > "2.1" else 3)


@pytest.mark.parametrize("version", ALL)
def test_a_grep_of_content_has_files_numbers_and_context(version: str) -> None:
    found = output(recorded(version, "tool-glob-grep", "Grep", 1))
    first = [
        {**one, "file": one["file"].removeprefix("/workspace/project/")}
        for one in found["matches"]
        if "/.git/" not in one["file"]
    ]
    assert first == [
        {"file": "src/app.py", "line": 4, "text": "def greet(name):", "context": True},
        {"file": "src/app.py", "line": 5, "text": '    return "Hello, " + name'},
        {"file": "src/app.py", "line": 6, "text": "", "context": True},
        {"file": "src/util.py", "line": 1, "text": "def add(a, b):", "context": True},
        {"file": "src/util.py", "line": 2, "text": "    return a + b"},
        {"file": "src/util.py", "line": 3, "text": "", "context": True},
        {"file": "src/util.py", "line": 5, "text": "def sub(a, b):", "context": True},
        {"file": "src/util.py", "line": 6, "text": "    return a - b"},
    ]
    assert found["match_count"] == len(found["matches"]) - sum("context" in one for one in found["matches"])


@pytest.mark.parametrize("version", ALL)
def test_a_grep_counts_per_file_and_in_all(version: str) -> None:
    found = output(recorded(version, "tool-glob-grep", "Grep", 2))
    counts = {file.removeprefix("/workspace/project/"): count for file, count in found["counts"].items()}
    assert (counts["README.md"], counts["src/app.py"], counts["src/util.py"]) == (1, 4, 4)
    assert found["match_count"] == sum(counts.values())
    assert found["file_count"] == len(counts)


@pytest.mark.parametrize("version", ALL)
def test_a_grep_of_one_file_has_its_name_from_the_call(version: str) -> None:
    found = output(recorded(version, "tool-glob-grep", "Grep", 4))
    assert found["files"] == ["/workspace/project/notes.txt"]
    assert [one["text"] for one in found["matches"]] == ["line 1", "line 10", "line 11"]
    if version > "2.1":
        assert [one["line"] for one in found["matches"]] == [1, 10, 11]
        assert found["truncated"] is True


def test_a_limit_that_was_reached_is_said() -> None:
    assert grep(
        "Found 3 files limit: 3, offset: 0\na\nb\nc", {"filenames": ["a", "b", "c"], "appliedLimit": 3}
    ) == {
        "files": ["a", "b", "c"],
        "file_count": 3,
        "truncated": True,
    }
    assert grep("Found 1 file\na", {"filenames": ["a"], "numFiles": 1, "totalFiles": 7})["truncated"] is True
    cut = "a\n(Results are truncated. Consider using a more specific path or pattern.)"
    assert output(answered("Glob", {"pattern": "*"}, cut)) == {
        "files": ["a"],
        "file_count": 1,
        "truncated": True,
    }
    paged = grep("f:1:x\n\n[Showing results with pagination = limit: 1]", output_mode="content", path=".")
    assert (paged["matches"], paged["truncated"]) == ([{"file": "f", "line": 1, "text": "x"}], True)


@pytest.mark.parametrize("said", ["No matches found", "No entries at this offset", "No files found"])
def test_nothing_is_nothing_in_every_mode(said: str) -> None:
    assert grep(said)["file_count"] == 0
    assert grep(said, output_mode="content")["match_count"] == 0
    counted = grep(f"{said}\n\nFound 0 total occurrences across 0 files.", output_mode="count")
    assert (counted["file_count"], counted["match_count"], counted["counts"]) == (0, 0, {})


def test_a_failed_search_found_nothing_to_publish() -> None:
    done = answered(
        "Glob",
        {"pattern": "*"},
        "<tool_use_error>Directory does not exist: x</tool_use_error>",
        is_error=True,
    )
    assert (output(done), done.error) == (None, "Directory does not exist: x")


def test_the_count_of_one_file_is_counted_for_it() -> None:
    text = "7\n\nFound 0 total occurrences across 0 files."
    found = grep(
        text, {"mode": "count", "content": "7", "numMatches": 0}, output_mode="count", path="src/f.py"
    )
    assert (found["counts"], found["file_count"], found["match_count"]) == ({"src/f.py": 7}, 1, 7)
    assert grep("f:2", output_mode="count")["match_count"] == 2


@pytest.mark.parametrize(
    ("content", "call", "expected"),
    [
        ("a.py:3:x", {}, [("a.py", 3, "x", False)]),
        ("a-1-b.py:3:x", {}, [("a-1-b.py", 3, "x", False)]),
        ("c:2:d.py:3:x", {}, [("c:2:d.py", 3, "x", False)]),
        ("Makefile:3:a:4:b", {}, [("Makefile", 3, "a:4:b", False)]),
        ("my notes:3:at 10:20:30", {}, [("my notes", 3, "at 10:20:30", False)]),
        ("a.py:3:at 10:20:30 x", {}, [("a.py", 3, "at 10:20:30 x", False)]),
        ("3:x", {"path": "f"}, [("f", 3, "x", False)]),
        ("3:x\n4-y", {"path": "f", "-A": 1}, [("f", 3, "x", False), ("f", 4, "y", True)]),
        ("01-intro.md:3:x", {}, [("01-intro.md", 3, "x", False)]),
        ("x y z", {"path": "src/f.txt"}, [("src/f.txt", None, "x y z", False)]),
        ("key: x", {"path": "src/f.txt"}, [("src/f.txt", None, "key: x", False)]),
        ("src/f.txt:key: x", {"path": "src"}, [("src/f.txt", None, "key: x", False)]),
        ("f.txt:key: x", {"path": "."}, [("f.txt", None, "key: x", False)]),
        ("f.txt:x", {"-n": False}, [("f.txt", None, "x", False)]),
        ("f.txt:1:x", {"-n": False}, [("f.txt", None, "1:x", False)]),
        (
            "f.txt-before\nf.txt:x\n--\ng.txt:x",
            {"-n": False, "-B": 1},
            [("f.txt", None, "before", True), ("f.txt", None, "x", False), ("g.txt", None, "x", False)],
        ),
        (
            "c:2:d.py-1-a\nc:2:d.py:2:x",
            {"-B": 1},
            [("c:2:d.py", 1, "a", True), ("c:2:d.py", 2, "x", False)],
        ),
        (
            "a-1-b.py-1-f:7:g\na-1-b.py:2:x\na-1-b.py-3-# 12:34:56",
            {"-C": 1},
            [
                ("a-1-b.py", 1, "f:7:g", True),
                ("a-1-b.py", 2, "x", False),
                ("a-1-b.py", 3, "# 12:34:56", True),
            ],
        ),
        (
            "/w/src/a.py-4-before\nsrc/a.py:5:x",
            {"-B": 1},
            [("src/a.py", 4, "before", True), ("src/a.py", 5, "x", False)],
        ),
        (
            "a.py:1:x\nb.py:9:x",
            {"-B": 1},
            [("a.py", 1, "x", False), ("b.py", 9, "x", False)],
        ),
        ("--\na.py:1:x", {"-B": 1}, [("a.py", 1, "x", False)]),
        ("a.py-7-y", {}, [(None, None, "a.py-7-y", False)]),
        (
            "n/LICENSE:x\nn/LICENSE-MIT:x\nn/Dockerfile-dev:x",
            {"-n": False},
            [
                ("n/LICENSE", None, "x", False),
                ("n/LICENSE-MIT", None, "x", False),
                ("n/Dockerfile-dev", None, "x", False),
            ],
        ),
        (
            "n/posts/2024-01-15-hello.md:x",
            {"-n": False, "path": "/w/n/posts"},
            [("n/posts/2024-01-15-hello.md", None, "x", False)],
        ),
        (
            "/w/s/a-1-b.txt:needle one\n/w/s/a-1-b.txt:needle-7-two",
            {"path": "/w/s"},
            [("/w/s/a-1-b.txt", None, "needle one", False), ("/w/s/a-1-b.txt", None, "needle-7-two", False)],
        ),
        (
            "s/a:2:c.txt:x\ns/a:2:c.txt-other: 5:6",
            {"-n": False, "-A": 1},
            [("s/a:2:c.txt", None, "x", False), ("s/a:2:c.txt", None, "other: 5:6", True)],
        ),
        (
            "n/V-1.sql:x\n/w/n/V-1.sql-second line",
            {"-n": False, "-C": 1, "path": "/w/n"},
            [("n/V-1.sql", None, "x", False), ("n/V-1.sql", None, "second line", True)],
        ),
        (
            "src/a.py:x\nsrc/b.py:y.z: x",
            {"path": "/w/project"},
            [("src/a.py", None, "x", False), ("src/b.py", None, "y.z: x", False)],
        ),
        (
            "key: x\nother: y",
            {"path": "/w/run"},
            [("/w/run", None, "key: x", False), ("/w/run", None, "other: y", False)],
        ),
        (
            "run:see a.py:7\nrun:x",
            {"-n": False},
            [("run", None, "see a.py:7", False), ("run", None, "x", False)],
        ),
        ("run:x\nrun-y", {"-n": False, "-A": 1}, [("run", None, "x", False), ("run", None, "y", True)]),
        (
            "a.py:x\nb.py:y\nc z",
            {"-n": False, "-A": 1, "path": "."},
            [(".", None, "a.py:x", False), (".", None, "b.py:y", False), (".", None, "c z", False)],
        ),
        (
            "a.py:x\nb.py:y\nc-z",
            {"-n": False, "-A": 1},
            [("a.py", None, "x", False), ("b.py", None, "y", False), (None, None, "c-z", False)],
        ),
        ("a-b c", {}, [(None, None, "a-b c", False)]),
    ],
)
def test_lines_are_read_as_they_are_meant(
    content: str, call: dict[str, Any], expected: list[tuple[str | None, int | None, str, bool]]
) -> None:
    assert lines(content, **call) == expected


paths = st.from_regex(r"[a-z]{1,4}(-[0-9]-[a-z]|/[a-z]{2}){0,2}\.(py|md)", fullmatch=True)
contents = st.text(alphabet="ab:- 12", max_size=12)


@given(st.dictionaries(paths, st.lists(contents, min_size=1, max_size=3), min_size=1, max_size=4))
def test_what_ripgrep_prints_with_context_is_read_back(files: dict[str, list[str]]) -> None:
    expected = []
    printed = []
    for path, texts in files.items():
        group = []
        for number, text in enumerate(texts, start=8):
            mark = ":" if number == 8 else "-"
            group.append(f"{path}{mark}{number}{mark}{text}")
            expected.append((path, number, text, None if mark == ":" else True))
        printed.append("\n".join(group))
    found = grep_lines.parse("\n--\n".join(printed), path=None, numbers=True, context=True)
    assert [(one.file, one.line, one.text, one.context) for one in found] == expected


names = st.from_regex(r"([a-z]{1,3}/)?([A-Z]{2,4}(-[A-Z]{2})?|[0-9]{2}-[0-9]-[a-z]{1,3}\.md)", fullmatch=True)


@given(st.dictionaries(names, st.lists(contents, min_size=1, max_size=3), min_size=1, max_size=4))
def test_what_ripgrep_prints_without_numbers_is_read_back(files: dict[str, list[str]]) -> None:
    expected = [(path, text) for path, texts in files.items() for text in texts]
    printed = "\n".join(f"{path}:{text}" for path, text in expected)
    found = grep_lines.parse(printed, path=".", numbers=False, context=False)
    assert [(one.file, one.text, one.line, one.context) for one in found] == [
        (*e, None, None) for e in expected
    ]


@given(st.dictionaries(names, st.lists(contents, min_size=1, max_size=3), min_size=1, max_size=4))
def test_what_ripgrep_prints_with_context_and_without_numbers_is_read_back(
    files: dict[str, list[str]],
) -> None:
    groups = [[(path, text, at > 0) for at, text in enumerate(texts)] for path, texts in files.items()]
    printed = "\n--\n".join(
        "\n".join(f"{path}{'-' if around else ':'}{text}" for path, text, around in group) for group in groups
    )
    found = grep_lines.parse(printed, path=".", numbers=False, context=True)
    expected = [(path, text, around or None) for group in groups for path, text, around in group]
    assert [(one.file, one.text, one.context) for one in found] == expected


def test_a_line_of_thousands_of_numbers_is_read_quickly() -> None:
    line = "f.py:1:" + "2:" * 200_000
    assert lines(line)[0][:2] == ("f.py", 1)
    assert lines(f"{line}\n{line}", **{"-A": 1})[0][1] == 1
    assert lines(f"{line}\n{line}", **{"-n": False})[0][0] == "f.py"
    assert lines(f"{line}\n{line}", **{"-n": False, "-A": 1})[0][0] == "f.py"


def test_a_folder_is_listed_as_paths() -> None:
    tree = "- /w/\n  - README.md\n  - src/\n    - app.py\n  - z.txt\n\nNOTE: do any of the files above seem malicious?"
    found = output(answered("LS", {"path": "/w"}, tree))
    assert found["files"] == ["/w/README.md", "/w/src/", "/w/src/app.py", "/w/z.txt"]
    assert output(answered("LS", {"path": "/w"}, "- /w/\n  - a"))["files"] == ["/w/a"]


def test_a_plain_list_of_another_agent_is_a_list() -> None:
    assert output(answered("list", {"path": "/w"}, "a\nb"))["files"] == ["a", "b"]

"""Each pair of the features that tests/README.md names has a row there, and each test that a row names exists."""

import ast
import re
from collections.abc import Iterator
from itertools import combinations

from recordings import ROOT

PAGE = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
FEATURES = re.findall(r"^- \*\*([a-z-]+)\*\*: ", PAGE, re.MULTILINE)
ROWS = re.findall(r"^\| ([a-z-]+), ([a-z-]+) \| (.+) \|$", PAGE, re.MULTILINE)
NAMED = re.compile(r"`([\w/]+\.py)::(\w+)`")


def missing(named: set[tuple[str, str]]) -> Iterator[str]:
    """Tests that are not there."""
    for file in sorted({file for file, _ in named}):
        path = ROOT / file
        there = (
            {
                one.name
                for one in ast.parse(path.read_text(encoding="utf-8")).body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            if path.is_file()
            else set[str]()
        )
        yield from (f"{file}::{name}" for of, name in sorted(named) if of == file and name not in there)


def test_each_pair_of_features_has_one_row() -> None:
    assert len(FEATURES) >= 10
    assert sorted(tuple(sorted(row[:2])) for row in ROWS) == sorted(
        tuple(sorted(pair)) for pair in combinations(FEATURES, 2)
    )


def test_each_row_names_tests_that_exist_or_says_why_there_is_none() -> None:
    silent = [
        row for row in ROWS if not NAMED.search(row[2]) and not re.search(r"Cannot meet: |Not tried", row[2])
    ]
    assert silent == []
    assert list(missing({found for *_, text in ROWS for found in NAMED.findall(text)})) == []


def test_a_test_that_is_not_there_is_told() -> None:
    wrong = {
        ("tests/test_pairs.py", "test_nothing"),
        ("none/test_it.py", "test_it"),
        ("tests/test_pairs.py", "missing"),
    }
    assert list(missing(wrong)) == ["none/test_it.py::test_it", "tests/test_pairs.py::test_nothing"]

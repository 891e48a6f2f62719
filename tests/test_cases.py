"""Many cases in one test lose none of what a test for each would have told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cases
from cases import CasesFailed, for_each


def groups_of(test: Callable[..., None]) -> list[Any]:
    (mark,) = test.pytestmark  # type: ignore[attr-defined]  # what pytest reads of a marked function
    return list(mark.args[1])


def test_every_case_runs_and_every_failure_is_named() -> None:
    seen: list[int] = []

    @for_each("number", range(20))
    def body(number: int) -> None:
        seen.append(number)
        if number == 3:
            pytest.fail("three")
        assert number % 5

    with pytest.raises(CasesFailed, match=r"5 of 20: 0, 3, 5, 10, 15") as told:
        body(cases=range(20))
    assert seen == list(range(20))
    assert [str(error).split("\n")[0] for error in told.value.exceptions][:2] == ["assert (0 % 5)", "three"]


def test_a_case_that_would_be_skipped_fails() -> None:
    @for_each("number", [1])
    def body(number: int) -> None:
        pytest.skip("not here")

    with pytest.raises(CasesFailed):
        body(cases=[1])


def test_no_cases_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="no cases of number"):
        for_each("number", [])


def test_cases_come_in_the_groups_they_belong_to() -> None:
    @for_each("number", range(5), by=lambda number: str(number % 2))
    def body(number: int) -> None: ...

    assert groups_of(body) == [[0, 2, 4], [1, 3]]


def test_a_name_chooses_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "only", "2/b")
    seen: list[str] = []

    @for_each("name", ["1/a", "2/a", "2/b"])
    def body(name: str) -> None:
        seen.append(name)

    body(cases=["1/a", "2/a", "2/b"])
    assert seen == ["2/b"]


@for_each("one, two", [(1, 2), (3, 4)])
def test_a_case_may_be_several_arguments_and_has_a_folder_of_its_own(
    one: int, two: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert two == one + 1
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    assert request.node.name.startswith("test_a_case_may_be_several_arguments")

"""One property of many small cases in one test, where a test for each would cost more than the property itself.

@for_each("recording", recordings(), by=version_of)
def test_no_line_is_lost(recording: Recording) -> None: ...

All cases run, whichever fails, and the failure names every one that did. `pytest --case TEXT` runs those alone whose name
contains it. A test that asks for `tmp_path` gets a folder of its own for each case.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

SHOWN = 12
"""Failing cases whose traceback is printed; the others are named."""

only = ""
"""What the name of a case has to contain: --case."""


class CasesFailed(ExceptionGroup[Exception]):
    """What failed, case by case; the message names them all."""


def name_of(case: object) -> str:
    """Return what a case is called: its text, or how it is written where that says nothing."""
    return str(case) if type(case).__str__ is not object.__str__ else repr(case)


def for_each(
    names: str,
    cases: Iterable[Any],
    *,
    by: Callable[[Any], str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test's body for each of the cases.

    Args:
        names: the body's argument that is the case; several, with commas between, where a case is a tuple of them.
        cases: at least one.
        by: what a case belongs to: one test for each group, so that workers share them. Without it one test does all.

    Raises:
        ValueError: there are no cases.
    """
    groups: dict[str, list[Any]] = {}
    for case in cases:
        groups.setdefault("all" if by is None else by(case), []).append(case)
    if not groups:
        raise ValueError(f"no cases of {names}")
    arguments = [name.strip() for name in names.split(",")]

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        if inspect.iscoroutinefunction(body):
            raise TypeError(f"{body.__name__} is a coroutine function")

        @wraps(body)
        def run(*, cases: Sequence[Any], **fixtures: Any) -> None:
            chosen = [case for case in cases if only in name_of(case)]
            failed: list[Exception] = []
            named: list[str] = []
            for number, case in enumerate(chosen):
                values = (case,) if len(arguments) == 1 else case
                try:
                    body(**dict(zip(arguments, values, strict=True)), **_for_one(fixtures, number))
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:  # noqa: BLE001 - told below
                    # What is skipped among others fails: nobody would see that it was.
                    told = error if isinstance(error, Exception) else AssertionError(str(error))
                    told.add_note(f"case: {name_of(case)}")
                    failed.append(told)
                    named.append(name_of(case))
            if failed:
                raise CasesFailed(f"{len(failed)} of {len(chosen)}: {', '.join(named)}", failed[:SHOWN])

        asked = inspect.signature(body).parameters
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what pytest looks for fixtures in
            [inspect.Parameter("cases", inspect.Parameter.KEYWORD_ONLY)]
            + [
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
                for name, parameter in asked.items()
                if name not in arguments
            ]
        )
        pytest.mark.parametrize("cases", list(groups.values()), ids=list(groups))(run)
        return run

    return decorate


def _for_one(fixtures: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the fixtures for one case: a folder of its own below the test's."""
    mine = dict(fixtures)
    if isinstance(folder := fixtures.get("tmp_path"), Path):
        mine["tmp_path"] = folder / str(number)
        mine["tmp_path"].mkdir()
    return mine

"""All errors of ours have one root, and its docstring draws the tree."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

from recordings import ROOT, SOURCES
from turnwire.protocol.errors import TurnwireError

PROGRAMS = (".__main__", ".launch", ".supervisor")
"""Modules that are programs and are run, not imported."""


def tree(root: type[Exception], depth: int = 1) -> Iterator[str]:
    for error in sorted(root.__subclasses__(), key=lambda error: (error.__module__, error.__name__)):
        if not error.__name__.startswith("_"):
            yield "    " * depth + f"{error.__module__}.{error.__name__}"
        yield from tree(error, depth + 1)


def test_the_tree_of_errors_is_drawn_as_it_is() -> None:
    for module in pkgutil.walk_packages([str(ROOT / "turnwire")], "turnwire."):
        if not module.name.endswith(PROGRAMS):
            importlib.import_module(module.name)
    drawn = [line for line in (inspect.getdoc(TurnwireError) or "").splitlines() if line.startswith("    ")]
    assert drawn == list(tree(TurnwireError))


def test_no_error_of_ours_stands_beside_the_tree() -> None:
    beside = [
        f"{path.relative_to(ROOT)}: {line}"
        for folder in SOURCES
        for path in folder.rglob("*.py")
        if "frontends" not in path.parts  # distributions that could stand alone have errors of their own
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("class ") and line.endswith(("(Exception):", "(ValueError):", "(RuntimeError):"))
        if not line.startswith("class _") and path.name != "errors.py"
    ]
    assert beside == []

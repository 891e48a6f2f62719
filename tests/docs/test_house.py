"""No modules and no folders import each other in a circle."""

import ast
import posixpath
import re
import subprocess
from collections.abc import Set as AbstractSet
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [Path(line) for line in listed.stdout.splitlines() if not line.startswith("fixtures/")]


def imports(path: Path, modules: AbstractSet[str]) -> set[str]:
    """Return what a module imports when it is loaded, by dotted names; what is imported for types alone is not among them."""
    tree, found = ast.parse((ROOT / path).read_text()), set[str]()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{one.name}" for one in node.names}
            # a module of a package, or something that stands in the package's own __init__
            found |= below & modules or {node.module}
    return found


LINKED = {"adapter", "normalize", "tracing"}
"""Folders of the repository that are packages below turnwire."""


def dotted(path: Path) -> str:
    parts = ("turnwire", *path.parts) if path.parts[0] in LINKED else path.parts
    return ".".join(Path(*parts).with_suffix("").parts).removesuffix(".__init__")


def test_no_modules_import_each_other_in_a_circle() -> None:
    paths = {dotted(path): path for path in tracked("turnwire/*.py", *(f"{one}/*.py" for one in LINKED))}
    graph = {name: imports(path, paths.keys()) & paths.keys() for name, path in paths.items()}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(f"a circle of imports: {' -> '.join(circle.args[1])}")
    assert len(order) == len(paths)


TYPESCRIPT = ("clients/typescript/src", "console/src")

IMPORTED = re.compile(r"""(?:\bfrom|^import|\bimport\()\s*["'](\.[^"']*)\.js["']""", re.MULTILINE)
"""What a module of TypeScript names of its own house: when it is loaded, later, or for its types."""


@pytest.mark.parametrize("folder", TYPESCRIPT)
def test_no_modules_and_no_folders_of_typescript_import_each_other_in_a_circle(folder: str) -> None:
    paths = {path.with_suffix(""): ROOT / path for path in tracked(f"{folder}/*.ts", f"{folder}/*.tsx")}
    modules = {
        name: {Path(posixpath.normpath(name.parent / one)) for one in IMPORTED.findall(path.read_text())}
        for name, path in paths.items()
    }
    assert [one for named in modules.values() for one in named if one not in paths] == []
    rooms = {path: path.relative_to(folder).parts[0] for path in paths}
    folders: dict[str, set[str]] = {room: set() for room in rooms.values()}
    for path, named in modules.items():
        folders[rooms[path]] |= {rooms[one] for one in named} - {rooms[path]}
    for graph in (modules, folders):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as circle:
            pytest.fail(f"a circle of imports: {' -> '.join(map(str, circle.args[1]))}")

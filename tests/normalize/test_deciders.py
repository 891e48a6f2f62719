"""Who decides without being a frontend has a name that no frontend can have."""

import ast

import pytest

from recordings import ROOT
from turnwire.normalize.common.deciders import is_reserved

RESERVED = [
    "policy:supervised", "policy:", ":", "rule:0", "hook:./notify.py", "remembered", "timeout", "turnwire",
    "cancelled", "sidecar", "Turnwire", " TIMEOUT ", "ｔurnwire", "policy：supervised", "frontend-1", "frontend-2-3",
    "frontend-1@0a1b2c3d",
]  # fmt: skip


@pytest.mark.parametrize("name", RESERVED)
def test_names_of_policies_rules_hooks_and_turnwire_are_reserved(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize(
    "name", ["ada", "python example", "kitchen", "policy maker", "turnwire console", "frontend"]
)
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)


def test_every_name_the_permission_machine_decides_under_is_reserved() -> None:
    found = set()
    for path in (ROOT / "adapter").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Assign(targets=[ast.Name(id="by")], value=ast.Constant(value=str(name))):
                    found.add(name)
                case ast.Call(func=ast.Name(id="Verdict"), args=[_, ast.Constant(value=str(name)), *_]):
                    found.add(name)
                case ast.Assign(
                    targets=[ast.Name(id="by")],
                    value=ast.JoinedStr(values=[ast.Constant(value=str(name)), *_]),
                ):
                    found.add(name)
                case _:
                    pass
    assert {"remembered", "policy:", "hook:"} <= found
    assert all(map(is_reserved, found))

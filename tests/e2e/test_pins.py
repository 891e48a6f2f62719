"""What a release is installed from is what is tested: the same versions, each with its hashes, from no place named."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recordings import ROOT

PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)(.*?)(?=^[\w.-]+==|\Z)", re.MULTILINE | re.DOTALL)


def pins(name: str) -> dict[str, tuple[str, str]]:
    """The version and the rest of each pin of a file, by the package's name."""
    return {
        canonicalize_name(package): (version, rest)
        for package, version, rest in PIN.findall((ROOT / name).read_text())
    }


@pytest.mark.parametrize("name", ["release/requirements.txt", "release/tools.txt"])
def test_everything_is_pinned_with_hashes_and_from_no_place(name: str) -> None:
    pinned = pins(name)
    assert len(pinned) > 20
    assert [package for package, (_, rest) in pinned.items() if "--hash=sha256:" not in rest] == []
    assert "://" not in (ROOT / name).read_text()


def test_what_is_released_has_the_versions_that_are_tested() -> None:
    tested, released = pins("constraints.txt"), pins("release/requirements.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"]]
    for part in ("uvloop", "redis", "push", "qr", "agui", "tui", "usechat", "mcp"):
        needed += project["optional-dependencies"][part]
    names = {canonicalize_name(Requirement(each).name) for each in needed} - {"turnwire-client"}
    assert names - set(released) == set(), "`make pins` writes them anew"
    differ = {name for name in tested.keys() & released if tested[name][0] != released[name][0]}
    assert differ == set(), "`make pins` writes them anew"

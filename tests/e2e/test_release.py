"""The release checklist is one that a machine can go through, and that stops at what is wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from recordings import ROOT

pytestmark = [pytest.mark.long, pytest.mark.node]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", ROOT, tmp_path / "source"], check=True)
    return tmp_path / "source"


def check(source: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, source / "release" / "check.py", *options]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_what_is_committed_could_be_released(source: Path, tmp_path: Path) -> None:
    done = check(source, "--unreleased", "--keep", tmp_path / "kept")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "ready"
    assert sorted(path.suffix for path in (tmp_path / "kept").iterdir()) == [
        ".gz",
        ".gz",
        ".tgz",
        ".whl",
        ".whl",
    ]


def test_versions_that_differ_are_not_released(source: Path) -> None:
    package = source / "clients" / "typescript" / "package.json"
    described = json.loads(package.read_text())
    package.write_text(json.dumps({**described, "version": "9.9.9"}))
    subprocess.run(
        ["git", "-C", source, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qam", "odd"],
        check=True,
    )
    done = check(source, "--unreleased")
    assert done.returncode == 1
    assert "says 9.9.9" in done.stderr


def test_changes_that_are_not_committed_are_not_released(source: Path) -> None:
    (source / "README.md").write_text("another one")
    done = check(source)
    assert done.returncode == 1
    assert "not committed" in done.stderr

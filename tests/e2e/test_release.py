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
    key, kept = tmp_path / "key", tmp_path / "kept"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    done = check(source, "--unreleased", "--keep", kept, "--sign", key)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "ready"
    assert sorted(path.suffix for path in kept.iterdir()) == sorted(
        [".gz", ".gz", ".tgz", ".whl", ".whl", ".json", ".json", ".md", "", ".sig"]
    )
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=kept, check=True)
    (tmp_path / "signers").write_text(f"maker {key.with_suffix('.pub').read_text()}")
    verify: list[str | Path] = [
        "ssh-keygen",
        "-Y",
        "verify",
        "-f",
        tmp_path / "signers",
        "-I",
        "maker",
        "-n",
        "turnwire-release",
    ]
    with (kept / "SHA256SUMS").open("rb") as sums:
        subprocess.run([*verify, "-s", kept / "SHA256SUMS.sig"], stdin=sums, check=True)
    (parts,) = kept.glob("turnwire-0*.cdx.json")
    described = json.loads(parts.read_bytes())
    assert described["metadata"]["component"]["name"] == "turnwire"
    assert {"msgspec", "websockets", "pydantic"} <= {part["name"] for part in described["components"]}


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

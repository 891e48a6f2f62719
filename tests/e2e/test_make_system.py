"""`make system`, on which `make test` depends, installs packages as root and in CI; other users are told what to do."""

import shutil
import subprocess
from pathlib import Path

import pytest

from recordings import ROOT


def system(folder: Path, user: int, *there: str, **env: str) -> tuple[str, str]:
    """Run `make system` where only these programs are there; returns what it said and what was installed."""
    programs, calls = folder / "bin", folder / "calls"
    programs.mkdir()
    calls.touch()
    for name in there:
        stub = programs / name
        stub.write_text(f'#!/bin/sh\necho "{name} $*" >>{calls}\n')
        stub.chmod(0o755)
    (programs / "env").symlink_to("/usr/bin/env")
    (programs / "uname").symlink_to("/usr/bin/uname")
    identity = programs / "id"
    identity.write_text(f"#!/bin/sh\necho {user}\n")
    identity.chmod(0o755)
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run(
        [make, "--no-print-directory", "-f", ROOT / "Makefile", "system"],
        cwd=folder, env={"PATH": str(programs), **env}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, calls.read_text()


def test_a_user_is_told_what_is_missing_and_nothing_is_installed(tmp_path: Path) -> None:
    said, called = system(tmp_path, 1000, "apt-get", "sudo", "curl", "bwrap", "tmux", "valgrind", "ip")
    assert said == (
        "some tests need: chromium firefox-esr redis-server; install them with:"
        " sudo apt-get install chromium firefox-esr redis-server\n"
    )
    assert called == ""


def test_root_gets_what_is_missing(tmp_path: Path) -> None:
    said, called = system(
        tmp_path, 0, "apt-get", "chromium", "firefox-esr", "curl", "bwrap", "tmux", "valgrind", "ip"
    )
    assert said == "installing redis-server\n"
    assert called.splitlines() == [
        "apt-get update -qq",
        "apt-get install -y -qq --no-install-recommends redis-server",
    ]


def test_a_runner_of_ci_that_is_not_root_gets_it_by_sudo(tmp_path: Path) -> None:
    said, called = system(
        tmp_path,
        1000,
        "apt-get",
        "sudo",
        "firefox-esr",
        "curl",
        "bwrap",
        "tmux",
        "valgrind",
        "ip",
        "redis-server",
        CI="true",
    )
    assert said == "installing chromium\n"
    assert called.splitlines() == [
        "sudo apt-get update -qq",
        "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium",
    ]


@pytest.mark.parametrize("user", [0, 1000])
def test_a_system_without_apt_get_is_told_what_is_missing(tmp_path: Path, user: int) -> None:
    said, called = system(
        tmp_path, user, "curl", "bwrap", "tmux", "valgrind", "ip", "chromium-browser", "firefox"
    )
    assert said == "some tests need: redis-server; install them with this system's packages\n"
    assert called == ""


@pytest.mark.parametrize("user", [0, 1000])
def test_nothing_is_said_where_all_is_there(tmp_path: Path, user: int) -> None:
    assert system(
        tmp_path,
        user,
        "apt-get",
        "sudo",
        "curl",
        "bwrap",
        "tmux",
        "valgrind",
        "ip",
        "chromium",
        "firefox",
        "redis-server",
    ) == (
        "",
        "",
    )


def test_the_sandbox_of_the_tests_is_a_package_like_the_others(tmp_path: Path) -> None:
    said, _ = system(
        tmp_path, 1000, "apt-get", "curl", "chromium", "firefox-esr", "redis-server", "tmux", "valgrind", "ip"
    )
    assert said == "some tests need: bubblewrap; install them with: sudo apt-get install bubblewrap\n"

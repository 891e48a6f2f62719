"""What is committed of the console is what its sources make: bundle, page, lock."""

import json
import re
from pathlib import Path

import pytest

from npm_workspace import run
from recordings import ROOT
from turnwire.hub.server.static_files import load

STATIC = ROOT / "turnwire" / "hub" / "static"
LARGEST = 345_000
"""Bytes that the console's script may have."""
LARGEST_SERVED = 140_000
"""Bytes that all it loads at its start may have as they are served."""
LARGEST_LATER = {
    "favicon-waits.svg": 1_000, "grammars.js": 17_000, "icon-192.png": 6_000, "icon-512.png": 6_000, "inspector.js": 11_000, "math.js": 62_000, "notifications.js": 6_000, "shell.js": 92_000, "views.js": 10_000, "worker.js": 6_000,
}  # fmt: skip
"""Bytes that each file may have as it is served which is loaded once somebody asks for what it shows."""


@pytest.mark.node
@pytest.mark.long
async def test_a_fresh_build_of_the_console_is_the_committed_one(tmp_path: Path) -> None:
    await run(
        "npm", "run", "--silent", "build", "-w", "turnwire-console", "--", "--outDir", tmp_path / "static"
    )
    built = {path.name: path.read_bytes() for path in (tmp_path / "static").iterdir()}
    committed = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert built.keys() == committed.keys()
    assert [name for name in built if built[name] != committed[name]] == [], "run `make web`"


def test_the_console_is_small() -> None:
    served = {
        name[1:]: len(file.answer(None, "gzip").body) for name, file in load(STATIC).items() if name != "/"
    }
    page = (STATIC / "index.html").read_text()
    at_start = {"index.html", *re.findall(r'(?:src|href)="\./([^"]+)"', page)}
    later = served.keys() - at_start
    assert at_start == {
        "index.html",
        "favicon.svg",
        "console.css",
        "console.js",
        "jsxRuntime.js",
        "manifest.webmanifest",
    }
    assert sum(served[name] for name in at_start) < LARGEST_SERVED
    assert later == LARGEST_LATER.keys()
    assert {name: served[name] for name in later if served[name] >= LARGEST_LATER[name]} == {}
    # A script of its own from the first byte to the last: a worker that imports would need what it does not need.
    assert not re.search(r"\bimport\b", (STATIC / "worker.js").read_text())
    assert (STATIC / "console.js").stat().st_size < LARGEST


def test_the_page_has_no_inline_script_or_style_and_names_no_other_host() -> None:
    page = (STATIC / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=|https?://", page) == []


def test_the_lock_names_no_address() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    resolved = {name: entry["resolved"] for name, entry in lock["packages"].items() if "resolved" in entry}
    # The two workspaces are links to folders; nothing else says where it is from.
    assert resolved == {
        "node_modules/turnwire-client": "clients/typescript",
        "node_modules/turnwire-console": "console",
    }


def test_the_lock_has_the_programs_of_every_system() -> None:
    # npm leaves out what the registry has not, and `npm ci` then refuses the lock on every machine.
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    wanted = {name for entry in packages.values() for name in entry.get("optionalDependencies", {})}
    assert wanted
    assert [name for name in sorted(wanted) if f"node_modules/{name}" not in packages] == []


def test_every_version_is_pinned() -> None:
    for package in (ROOT / name / "package.json" for name in (".", "clients/typescript", "console")):
        described = json.loads(package.read_text())
        versions = {**described.get("dependencies", {}), **described.get("devDependencies", {})}
        assert [
            name
            for name, version in versions.items()
            if not re.fullmatch(r"(npm:@[a-z/-]+@)?\d+\.\d+\.\d+", version)
        ] == []

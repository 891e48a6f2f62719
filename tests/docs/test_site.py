"""The documentation builds as a site, with search, and each page has its place in it."""

import subprocess
import sys
from pathlib import Path

import pytest

from recordings import ROOT


def pages() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "docs/*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {name.removeprefix("docs/") for name in listed.stdout.splitlines()}


def build(site: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", config, "--site-dir", site],
        cwd=ROOT, env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.long
def test_the_site_builds_without_a_warning_and_can_be_searched(tmp_path: Path) -> None:
    done = build(tmp_path)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert (tmp_path / "search" / "search_index.json").stat().st_size > 100_000
    assert {f"{name.removesuffix('.md')}.html" for name in pages() if "README" not in name} <= {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")
    }


def test_every_page_is_in_the_menu_once() -> None:
    menu = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2].split()
    assert sorted(word for word in menu if word.endswith(".md")) == sorted(pages())

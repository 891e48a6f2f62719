"""The documents point at what exists, and the README names every command."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from recordings import ROOT


def documents() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


def links(document: str) -> list[str]:
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in target]


@pytest.mark.parametrize("document", documents())
def test_links_lead_somewhere(document: str) -> None:
    folder = (ROOT / document).parent
    missing = [link for link in links(document) if not (folder / link.partition("#")[0]).exists()]
    assert missing == []


def commands() -> set[str]:
    """The names of turnwire's commands, as its help lists them."""
    shown = subprocess.run(
        [sys.executable, "-m", "turnwire", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^  ([a-z]+)  ", shown.stdout.partition("Commands:")[2], re.MULTILINE))


def test_the_readme_names_every_command_and_no_other() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^    turnwire ([a-z]+)", readme, re.MULTILINE))
    assert named - {"is"} == commands()


def test_every_make_target_that_documents_name_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for document in documents()
        for target in re.findall(r"`make ([a-z-]+)`", Path(ROOT / document).read_text(encoding="utf-8"))
    }
    assert named
    assert named <= targets


def sources() -> list[str]:
    """Our Python, as far as it is in git."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if not name.startswith("fixtures/")]


PATH = re.compile(
    r"(?<![\w/])(?:adapter|bench|clients|docs|examples|normalize|release|tests|tracing|turnwire)"
    r"/[a-z_/]+\.(?:py|md)\b"
)


def test_every_module_that_documents_and_docstrings_name_exists() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in (*documents(), *sources())}
    named = {(name, path) for name, text in texts.items() for path in PATH.findall(text)}
    assert len(named) > 100
    assert {
        (name, path) for name, path in named if name != "CHANGELOG.md" and not (ROOT / path).exists()
    } == set()


def test_no_document_that_is_not_published_is_named_by_a_number() -> None:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in (*documents(), *sources())}
    named = {
        (name, found) for name, text in texts.items() for found in re.findall(r"\b[Ss]pecs? [1-4]\b", text)
    }
    assert named == set()


def test_every_attack_is_in_the_list_of_what_is_tried_and_nothing_else_is() -> None:
    attacks = {
        f"{path.name}::{name}"
        for path in (ROOT / "tests" / "attacks").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    listed, file = set[str](), ""
    for named, test in re.findall(
        r"(test_\w+\.py)?::(test_\w+)", (ROOT / "docs" / "security.md").read_text()
    ):
        file = named or file
        listed.add(f"{file}::{test}")
    assert attacks == listed


def test_every_test_that_the_list_of_attacks_names_by_itself_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "security.md").read_text()))
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 20
    assert named - there == set()


def test_the_page_of_frontends_begins_with_who_takes_which_door_and_counts_lines_as_they_are() -> None:
    page = (ROOT / "docs" / "frontends.md").read_text()
    first = next(line for line in page.splitlines() if line.startswith("|"))
    assert first == "| you are | your door | your code |"
    counted = re.findall(r"(\d+) lines: \[(examples/[\w./]+)\]", page)
    assert len(counted) == 4
    for lines, name in counted:
        place = ROOT / name
        programs = [place] if place.is_file() else [*place.glob("page.js*")]
        assert [len(one.read_text().splitlines()) for one in programs] == [int(lines)], name

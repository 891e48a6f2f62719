"""The pages that are written in plain words stay so: short sentences, none too long."""

import runpy
from pathlib import Path

import pytest

from recordings import ROOT

SCRIPT = runpy.run_path(str(Path(__file__).with_name("sentences.py")))

PLAIN = [
    "CHANGELOG.md",
    "README.md",
    "SECURITY.md",
    "clients/python/README.md",
    "clients/typescript/README.md",
    "docs/architecture.md",
    "docs/commands.md",
    "docs/console.md",
    "docs/containers.md",
    "docs/decisions/0001-pure-core.md",
    "docs/decisions/0002-record-lines.md",
    "docs/decisions/0003-journal-first.md",
    "docs/decisions/0004-two-kinds-of-models.md",
    "docs/decisions/0005-unknown-is-a-value.md",
    "docs/decisions/0006-opentelemetry-sdk.md",
    "docs/decisions/0007-folders-are-strangers.md",
    "docs/decisions/0008-acp-is-a-family.md",
    "docs/decisions/0009-fleet.md",
    "docs/decisions/0010-hosted-mcp.md",
    "docs/decisions/0011-closed-words.md",
    "docs/decisions/README.md",
    "docs/fleet.md",
    "docs/from-kandev.md",
    "docs/history.md",
    "docs/journal.md",
    "docs/library.md",
    "docs/operating.md",
    "docs/performance.md",
    "docs/permissions.md",
    "docs/recordings.md",
    "docs/release.md",
    "docs/reliability.md",
    "docs/rules.md",
    "docs/scale.md",
    "docs/sources.md",
    "docs/start.md",
]
"""Pages that are held to it; a page that is rewritten in plain words joins them."""


@pytest.mark.parametrize("page", PLAIN)
def test_a_page_in_plain_words_has_short_sentences(page: str) -> None:
    found = SCRIPT["sentences"]((ROOT / page).read_text("utf-8"))
    count, mean, _ = SCRIPT["figures"](found)
    assert count > 5
    assert mean < SCRIPT["MEAN"]
    assert [" ".join(words) for words in found if len(words) > SCRIPT["MOST"]] == []


def test_code_headings_and_markup_are_no_words() -> None:
    page = "# A heading of some words here\n\nRun `make demo now please` and read [the long page](x.md). Then stop it at once!\n\n    make demo and some more\n\n- An item that goes\n  on here.\n\n| a cell of four | b |\n|---|---|\n"
    assert [" ".join(words) for words in SCRIPT["sentences"](page)] == [
        "Run code and read the long page.",
        "Then stop it at once!",
        "An item that goes on here.",
        "a cell of four",
    ]

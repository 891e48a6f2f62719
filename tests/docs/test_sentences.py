"""Pages have short sentences, and neither pages nor docstrings have one that is too long."""

import runpy
from pathlib import Path

import pytest

from recordings import ROOT

SCRIPT = runpy.run_path(str(Path(__file__).with_name("sentences.py")))


@pytest.mark.parametrize("page", SCRIPT["documents"]())
def test_a_page_has_short_sentences(page: str) -> None:
    found = SCRIPT["sentences"]((ROOT / page).read_text("utf-8"))
    count, mean, _ = SCRIPT["figures"](found)
    assert count > 5
    assert mean < SCRIPT["MEAN"]
    assert [" ".join(words) for words in found if len(words) > SCRIPT["MOST"]] == []


def test_no_sentence_of_a_docstring_is_too_long() -> None:
    files = [name for names in SCRIPT["packages"]().values() for name in names]
    found = SCRIPT["sentences_of_docstrings"](files)
    assert len(found) > 5000
    assert [" ".join(words) for words in found if len(words) > SCRIPT["MOST"]] == []


def test_docstrings_are_those_of_modules_classes_functions_and_fields() -> None:
    source = '"""A module."""\n\nX = 1\n"""A constant."""\n\nclass C:\n    """A class."""\n\n    def f(self):\n        """A function."""\n        return "no docstring"\n'
    assert sorted(SCRIPT["docstrings"](source)) == ["A class.", "A constant.", "A function.", "A module."]


def test_code_headings_and_markup_are_no_words() -> None:
    page = "# A heading of some words here\n\nRun `make demo now please` and read [the long page](x.md). Then stop it at once!\n\n    make demo and some more\n\n- An item that goes\n  on here.\n\n| a cell of four | b |\n|---|---|\n"
    assert [" ".join(words) for words in SCRIPT["sentences"](page)] == [
        "Run code and read the long page.",
        "Then stop it at once!",
        "An item that goes on here.",
        "a cell of four",
    ]

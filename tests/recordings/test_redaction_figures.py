"""Every kind of the table in every form: nothing of a secret is left, and the docs have the figures."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn_secrets import FORMS, NOTATIONS, drawn

from cases import for_each
from turnwire.recordings.redaction.redaction import Redaction
from turnwire.recordings.redaction.secret_kinds import KINDS

ROOT = Path(__file__).parents[2]
DRAWN = 3
"""Secrets of each kind."""


def texts() -> Iterator[tuple[str, str, list[str]]]:
    """What is tried: a name for it, the text, and the parts that must be gone."""
    for number, kind in enumerate(KINDS):
        for again in range(DRAWN):
            name = f"{kind.name} {number}"
            yield (name, *drawn(kind.example, f"{name} {again}"))
    for name, notation in NOTATIONS.items():
        for again in range(DRAWN):
            (secret,) = parts = drawn("{a24}", f"{name} {again}")[1]
            yield name, notation.format(secret, secret), parts


TEXTS = list(texts())


def missed(form: str) -> list[str]:
    """Return what is left, by name; the copy is as long as the text and still reads as this form."""
    left = []
    for name, text, parts in TEXTS:
        assert parts, name
        written = f"here it is:\n{FORMS[form].write(text)}\nthank you"
        clean = Redaction(b"key").apply(written)
        assert len(clean) == len(written), name
        read = FORMS[form].read(clean.removeprefix("here it is:\n").removesuffix("\nthank you"))
        if any(line in read for part in parts for line in part.split("\n")):
            left.append(name)
    return left


@pytest.mark.long
@for_each("form", FORMS)
def test_no_kind_is_left_in_a_form_that_the_docs_list(form: str) -> None:
    left = missed(form)
    assert re.search(rf"(^- |; ){re.escape(form)}[;.]", DOCS, re.MULTILINE), (
        f"docs/reliability.md does not list {form!r}"
    )
    assert f"takes {len(TEXTS):,} secrets" in DOCS
    assert left == []


DOCS = (ROOT / "docs" / "reliability.md").read_text()

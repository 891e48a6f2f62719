"""The console's files as they are served: whole to anybody, compressed to who takes that, once to who has them."""

import gzip
from pathlib import Path

import pytest

from turnwire.hub.server.static_files import load, takes_gzip

TEXT = b"let there be a script;" * 200


def test_a_file_is_served_compressed_to_who_takes_that(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_bytes(TEXT)
    file = load(tmp_path)["/page.js"]
    plain, small = file.answer(None), file.answer(None, "gzip, deflate, br")
    assert plain.body == gzip.decompress(small.body) == TEXT
    assert len(small.body) < len(TEXT) / 10
    assert (plain.headers.get("Content-Encoding"), small.headers["Content-Encoding"]) == (None, "gzip")
    assert plain.headers["Vary"] == small.headers["Vary"] == "Accept-Encoding"
    assert plain.content_type == small.content_type


def test_each_form_of_a_file_has_a_tag_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_bytes(TEXT)
    file = load(tmp_path)["/page.js"]
    plain, small = file.answer(None).headers["ETag"], file.answer(None, "gzip").headers["ETag"]
    assert plain != small
    again = file.answer(small, "gzip")
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", small)
    assert file.answer(small).status == 200
    assert file.answer(plain).status == 304


def test_what_compressing_makes_larger_is_served_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "tiny.txt").write_bytes(b"x")
    answer = load(tmp_path)["/tiny.txt"].answer(None, "gzip")
    assert (answer.body, answer.headers.get("Content-Encoding")) == (b"x", None)


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        (None, False),
        ("", False),
        ("gzip", True),
        ("GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("br, *", True),
        ("*;q=0", False),
        ("identity", False),
        ("gzip; q=much", False),
        ("gzip;q=0, *", False),
    ],
)
def test_who_takes_gzip_says_so(header: str | None, taken: bool) -> None:
    assert takes_gzip(header) is taken

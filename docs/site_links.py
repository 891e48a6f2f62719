"""A hook of mkdocs: links to files outside of docs/ become plain code, since the site does not hold these files.

tests/docs/test_documents.py checks that such files exist.
"""

import posixpath
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

LINK = re.compile(r"\[([^\]\[]*)\]\((\.\./[^)\s]*)\)")
"""A link out of the page's folder: its words and its target."""


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str:
    """Return a page's text without links that leave docs/."""
    folder = posixpath.dirname(page.file.src_uri)

    def plain(found: re.Match[str]) -> str:
        words, target = found.groups()
        is_inside = not posixpath.normpath(posixpath.join(folder, target)).startswith("..")
        return found[0] if is_inside else words if words.startswith("`") else f"`{words}`"

    return LINK.sub(plain, markdown)

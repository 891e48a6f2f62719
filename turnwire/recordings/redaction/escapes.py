r"""Text under what hides it: read it as it was meant, change it, and write it back in as many characters.

`\u002d` in JSON, `%2D` in a URL and `&#45;` in HTML hide a character from every pattern, and a colour or the end of a line
stands in the middle of a word. Each function returns the text without one layer of them and where they stood, so that
a change of some characters can be put back under the same escapes.
"""

import html
import re
from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

_JSON = re.compile(
    r"""\\(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|U00[01][0-9a-fA-F]{5}|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|["'\\/bfnrte])"""
)
_PERCENT = re.compile(r"%(?:0[9aAdD]|[2-7][0-9a-fA-F])")
_FORM = re.compile(rf"{_PERCENT.pattern}|\+")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp);")
_ORDER = re.compile(
    # as programs write the escape, and colours that have lost it
    r"(?:\^\[|\u241b|<0?x?1[bB]>)\[[0-9;:]{0,64}[A-Za-z]|"
    r"(?<!x1b)(?<!x1B)(?<!001b)(?<!001B)(?<!033)(?<!\\e)\[(?:\d{1,3}(?:[;:]\d{0,3}){0,12}|(?=m[A-Z_a-z]))m|"
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|[ -/]{0,8}[0-~])|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]|[\x1b\x9b]"
)
"""What a terminal obeys (ECMA-48): a control sequence, a string with its end, or two characters."""
_HAS_ORDER = re.compile(r"[\x1b\x9b]|(?:\^\[|\u241b|>)\[|\[\d[\d;:]{0,40}m")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_SOFT_END = re.compile(r"=\r?\n")
_QUOTED = re.compile(r"=[2-7][0-9A-F]")
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "e": "\x1b"}


class Unescaped(NamedTuple):
    """A text and its meaning."""

    source: str
    """As it was written."""
    text: str
    """Without one layer of escapes."""
    places: Sequence[int]
    """Where the escapes stand in the source, in order."""
    sizes: bytes
    """Characters of each escape."""

    def restored(self, text: str) -> str:
        """Return the source with another text of the same length, escaped where it was."""
        if text == self.text:
            return self.source
        parts: list[str] = []
        done = place = at = 0
        for start, size in zip(self.places, self.sizes, strict=True):
            place += start - at
            at = start + size
            is_changed = (
                size > 2 and text[place] != self.text[place]
            )  # a short escape is punctuation, which nobody replaces
            escape = self.source[start:at]
            parts += (text[done:place], _escaped(escape, text[place]) if is_changed else escape)
            done = place = place + 1
        return "".join([*parts, text[done:]])


class Interrupted(NamedTuple):
    """A text, and the same without what interrupts it."""

    text: str
    """What is left."""
    places: Sequence[tuple[int, str]]
    """Where in it something stood, and what."""

    def restored(self, text: str) -> str:
        """Return another text of the same length, interrupted as it was."""
        parts: list[str] = []
        done = 0
        for place, what in self.places:
            parts += (text[done:place], what)
            done = place
        return "".join([*parts, text[done:]])


def without_json_escapes(source: str) -> Unescaped:
    """Read a text as the inside of a string of JSON or of code; what is no escape stays as it is."""
    return _without(source, _JSON, _json_character)


def without_percent_escapes(source: str) -> Unescaped:
    """Read a text as part of a URL; escapes beyond ASCII stay as they are."""
    return _without(source, _PERCENT, _percent_character)


def without_form_escapes(source: str) -> Unescaped:
    """Read a text as part of a form, in which a plus is a blank."""
    return _without(source, _FORM, _percent_character)


def without_entities(source: str) -> Unescaped:
    """Read a text as HTML or XML."""
    return _without(source, _ENTITY, lambda escape: html.unescape(escape)[:1] or " ")


def has_orders(source: str) -> bool:
    """Tell whether a text has something that a terminal obeys, or the rest of it."""
    return _HAS_ORDER.search(source) is not None


def without_tags(source: str) -> Interrupted:
    """Read a text without the tags of HTML, as highlighted code has them within its words."""
    return without(source, _TAG)


def without_soft_ends(source: str) -> Interrupted:
    """Read the lines of quoted-printable text that go on in the next one."""
    return without(source, _SOFT_END)


def without_quoted(source: str) -> Unescaped:
    """Read `=3D` as quoted-printable text has it."""
    return _without(source, _QUOTED, _percent_character)


def without_orders(source: str) -> Interrupted:
    """Read a text as it stands on a terminal, without colours and other orders."""
    return without(source, _ORDER)


def without(source: str, pattern: re.Pattern[str]) -> Interrupted:
    """Read a text without what a pattern finds."""
    places, parts = [], []
    done = size = 0
    for found in pattern.finditer(source):
        parts.append(source[done : found.start()])
        size += found.start() - done
        places.append((size, found[0]))
        done = found.end()
    return Interrupted("".join([*parts, source[done:]]), places)


def with_blank_orders(source: str) -> str:
    """Return a text of the same length with blanks for what a terminal obeys."""
    return _ORDER.sub(lambda found: " " * len(found[0]), source)


def _escaped(escape: str, character: str) -> str:
    """Write a character as an escape of the same kind and size was written; a letter where it does not fit."""
    for code in (ord(character), ord("a") + ord(character) % 3):
        for form in _forms(escape, code):
            if len(form) == len(escape):
                return form
    return escape


def _forms(escape: str, code: int) -> Sequence[str]:
    size = len(escape)
    if escape[0] in "%=":
        return (f"{escape[0]}{code:02X}",)
    if escape[:3] in ("&#x", "&#X"):
        return (f"{escape[:3]}{code:0{size - 4}x};",)
    if escape[0] == "&":
        return (f"&#{code:0{size - 3}d};",)
    if escape[:3] == "\\u{":
        return (f"\\u{{{code:0{size - 4}x}}}",)
    if escape[1] in "uUx":
        return (f"{escape[:2]}{code:0{size - 2}x}",)
    return (f"\\{code:03o}",)


def _percent_character(escape: str) -> str:
    return " " if escape == "+" else chr(int(escape[1:], 16))


def _json_character(escape: str) -> str:
    digits = escape[2:].strip("{}")
    if not digits:
        return _SHORT.get(escape[1], escape[1])
    if escape[1] in "uUx":
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else " "
    return chr(int(escape[1:], 8))


def _without(source: str, pattern: re.Pattern[str], character: Callable[[str], str]) -> Unescaped:
    # arrays, since a line of megabytes may be nothing but escapes
    places, sizes = array("Q"), bytearray()
    for found in pattern.finditer(source):
        places.append(found.start())
        sizes.append(found.end() - found.start())
    text = pattern.sub(lambda found: character(found[0]), source) if places else source
    return Unescaped(source, text, places, bytes(sizes))

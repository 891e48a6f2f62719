r"""Text in which nothing hides: characters that are not seen, reorder text or command a terminal are spelt `⟨U+202E⟩`.

The console spells the same characters in the same words (console/src/text/visible.ts). What an emoji is made of stays.
In JSON the same characters become `\u202e`: another spelling of the same value.

In code that people read as plain text, `ordered` isolates each right-to-left word (U+2068, U+2069). Such an isolate moves nothing
around it, so a second pass keeps it; any other isolate is spelt out.
"""

import re
from functools import cache
from typing import Any

_HIDDEN = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160"
    r"\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's Cc, Cf and Default_Ignorable_Code_Point, the separators of lines and paragraphs, and the blank of Braille."""
_PICTURE = (
    r"[\xa9\xae\u203c\u2049\u2100-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff]"
    r"[\U0001f3fb-\U0001f3ff]?\ufe0f?"
)
_EMOJI = rf"(?P<shown>{_PICTURE}(?:\u200d{_PICTURE})*|[0-9#*]\ufe0f\u20e3"
_JOINED = r"(?<=[\u0620-\u109f\u1780-\u17ff])[\u200c\u200d](?=[\u0620-\u109f\u1780-\u17ff])"
_WORD = (
    r"[\u0590-\u05ff\u0606-\u061b\u061d-\u06dc\u06de-\u070e\u0710-\u088f\u0892-\u08e1\u08e3-\u08ff"
    r"\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]+"
)
_ISOLATED = rf"\u2068{_WORD}\u2069"
_NAMES = rf"{_EMOJI}|{_ISOLATED})|(?:[{_HIDDEN}\ud800-\udfff]|\r(?!\n))"
_PROSE = rf"{_EMOJI}|{_ISOLATED}|{_JOINED})|(?:[{_HIDDEN}\ud800-\udfff]|\r(?!\n))"
RIGHT_TO_LEFT = _WORD
"""Words in scripts that are written from right to left, as the console has them; none of what is spelt out."""
_RIGHT_TO_LEFT = rf"(?:{_ISOLATED}|(?P<word>{_WORD}))"
_CODE_IN_PROSE = r"(?ms)^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)|\Z)|(?P<ticks>(?<!`)`+(?!`))[^\n]+?(?<!`)(?P=ticks)(?!`)"
"""What Markdown shows as code. Other notations, such as blocks that are indented, count as prose."""
_IN_JSON = rf"[{_HIDDEN}\ud800-\udfff]"
_HIDES_NOTHING = b"\t\n\r" + bytes(range(0x20, 0x7F))
"""The characters of ASCII that are shown: most of any text, and thrown away faster than searched."""

_pattern = cache(re.compile)
"""Compile one of these patterns on its first use: together they cost a start some milliseconds."""


def visible(text: str) -> str:
    """Spell out what is not seen; newlines and tabs stay."""
    return text if text.isascii() and text.isprintable() else _pattern(_NAMES).sub(_spelt, text)


def visible_line(text: str) -> str:
    """Order a name that stands in a line: newlines and tabs are spelt out, too."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(r"[\t\n\r]", _spelt_code, ordered(text))


def ordered(text: str) -> str:
    """Do the same for code: words from right to left are isolated (U+2068, U+2069), so that they move nothing around them."""
    shown = visible(text)
    return shown if shown.isascii() else _pattern(_RIGHT_TO_LEFT).sub(_isolated, shown)


def visible_prose(text: str) -> str:
    """Do the same for prose: between letters that are written joined, joiners stay."""
    return text if text.isascii() and text.isprintable() else _pattern(_PROSE).sub(_spelt, text)


def ordered_prose(text: str) -> str:
    """Do the same for Markdown: in what it shows as code, words from right to left are isolated."""
    shown = visible_prose(text)
    return shown if shown.isascii() else _pattern(_CODE_IN_PROSE).sub(lambda code: ordered(code[0]), shown)


def ordered_json(value: Any) -> Any:
    """Order every string of a value, but for those under `…_id`, which are compared, and the prose under `text`."""
    if isinstance(value, str):
        return ordered(value)
    if isinstance(value, list):
        return [ordered_json(item) for item in value]
    if isinstance(value, dict):
        return {ordered(key): _ordered_field(key, item) for key, item in value.items()}
    return value


def escaped(written: str) -> str:
    """Escape the characters of a JSON text that hide text or control a terminal. Its value stays the same."""
    return (
        written if written.isascii() and "\x7f" not in written else _pattern(_IN_JSON).sub(_escape, written)
    )


def escaped_lines(written: bytes) -> bytes:
    """Do the same for lines of JSON in UTF-8."""
    if not _hides(written):
        return written
    lines = written.splitlines(keepends=True)
    return b"".join([escaped(line.decode()).encode() if _hides(line) else line for line in lines])


def to_json(value: object, indent: int | None = None) -> str:
    """Return a value in JSON, readable in any language, that hides nothing; raises TypeError."""
    import json  # noqa: PLC0415 - every command starts with this module, few write JSON

    return escaped(json.dumps(value, ensure_ascii=False, indent=indent))


def _hides(written: bytes) -> bool:
    rest = written.translate(None, _HIDES_NOTHING)
    return bool(rest) and _pattern(_IN_JSON).search(rest.decode()) is not None


def _spelt_code(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"


def _spelt(found: re.Match[str]) -> str:
    return found[0] if found["shown"] else _spelt_code(found)


def _ordered_field(name: str, value: Any) -> Any:
    if name.endswith("_id"):
        return value
    return ordered_prose(value) if name == "text" and isinstance(value, str) else ordered_json(value)


def _isolated(found: re.Match[str]) -> str:
    return f"\u2068{found[0]}\u2069" if found["word"] else found[0]


def _escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))

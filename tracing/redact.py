"""A recording without secrets: line for line, byte lengths kept, so that it still replays to the same events.

Plain stdout, turnwire's own rows, and folders are the same to it: text. Streamed text arrives in pieces, and a secret
may be cut by them. Pieces of one block are joined, redacted, and cut at the same places again; so each file is read
twice, and only pieces that changed are kept in memory. Lines that a row carries in base64 are opened for it.
"""

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tracing.redaction import Redaction

_PIECE = re.compile(r'"(?:text|thinking|partial_json|reasoning_text)":"((?:[^"\\]|\\.)*)"')
_INDEX = re.compile(r'"(?:index|block_index)":(\d+)')
_DELTA = re.compile(r'"content_block_delta"|"is_delta":true')
_BASE64 = re.compile(r'(?<="base64":")[A-Za-z0-9+/=]+(?=")')
_BOUNDARY = re.compile(r'"content_block_start"|"message_start"|"message_stop"|"type":"complete"')


class Pieces:
    """Finds streamed pieces whose secrets span more than one of them."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._open: dict[str, list[tuple[int, int, str]]] = {}
        """By block: line number, place in the line, text."""
        self.changed: dict[int, tuple[int, str]] = {}
        """By line number: place in the line, new text."""

    def take(self, number: int, line: str) -> None:
        """Look at a line."""
        if _DELTA.search(line):
            piece, index = _PIECE.search(line), _INDEX.search(line)
            if piece is not None:
                block = index[1] if index else ""
                self._open.setdefault(block, []).append((number, piece.start(1), piece[1]))
        elif _BOUNDARY.search(line):
            self.close()

    def close(self) -> None:
        """Redact what was gathered."""
        for pieces in self._open.values():
            joined = "".join(text for _, _, text in pieces)
            clean = self._redaction.apply(joined)
            if clean == joined:
                continue
            at = 0
            for number, place, text in pieces:
                fresh = clean[at : at + len(text)]
                at += len(text)
                if fresh != text:
                    self.changed[number] = (place, fresh)
        self._open.clear()


def redact_file(source: Path, target: Path, redaction: Redaction, progress: Callable[[int], None]) -> int:
    """Write a recording's redacted copy and return the number of its lines; raises OSError."""
    pieces = Pieces(redaction)
    for number, line in enumerate(_lines(source)):
        pieces.take(number, line)
    pieces.close()
    count = 0
    with target.open("x", encoding="utf-8", errors="surrogateescape", newline="") as out:
        for number, line in enumerate(_lines(source)):
            place, fresh = pieces.changed.get(number, (0, ""))
            clean = redaction.apply(line[:place] + fresh + line[place + len(fresh) :])
            out.write(
                _BASE64.sub(lambda found: _opened(found[0], redaction), clean)
                if '"base64"' in clean
                else clean
            )
            count += 1
            progress(len(line))
    return count


def redact_folder(source: Path, target: Path, redaction: Redaction, progress: Callable[[int], None]) -> int:
    """Write the redacted copy of a folder with a timeline, all its files; return the number of lines.

    The same secret becomes the same thing in all of them. Raises OSError.
    """
    target.mkdir(mode=0o700)
    return sum(
        redact_file(file, target / file.name, redaction, progress)
        for file in sorted(source.iterdir())
        if file.is_file()
    )


def _opened(encoded: str, redaction: Redaction) -> str:
    """Redact what is in base64; what only looks like it stays."""
    try:
        text = base64.b64decode(encoded, validate=True).decode("utf-8", "surrogateescape")
    except ValueError:
        return encoded
    return base64.b64encode(redaction.apply(text).encode("utf-8", "surrogateescape")).decode()


def _lines(source: Path) -> Iterator[str]:
    # Universal newlines would take U+2028 and "\r" for ends of lines; only "\n" is one.
    with source.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        yield from file

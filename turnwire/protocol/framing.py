r"""Chunks of bytes -> lines, in bounded memory and linear time.

Lines end with b"\n" and nothing else: U+2028, U+0085 and the like occur inside them. One b"\r" before the newline is
dropped. A line beyond the limit becomes an `OversizeLine` in its place, and the stream goes on behind it.
"""

from collections.abc import Iterator
from io import BytesIO

from msgspec import Struct

DEFAULT_LIMIT = 128 * 1024 * 1024
"""Bytes of one line that are held, at most."""

HEAD_SIZE = 4096
"""Bytes kept of a line beyond the limit."""


SLICE_BYTES = 1 << 16
SLICE_LINES = 256
"""What is done without letting others go on: a CLI may say a million lines at once."""


class OversizeLine(Struct, frozen=True):
    """A line that was too long to be kept."""

    number: int
    """Which line it was, from 1."""
    size: int
    """Its length in bytes, without the newline."""
    head: bytes
    """How it begins."""


class LinePiece(Struct, frozen=True):
    """A piece of a line that is too long to be kept."""

    data: bytes
    """All of its bytes, with the newline if it is the last piece."""


class LineFramer:
    """Cuts a stream of chunks into lines. Blank lines come out as b""."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self._size = 0
        self._count = 0

    @property
    def count(self) -> int:
        """How many lines came out so far."""
        return self._count

    def feed(self, chunk: bytes) -> list[bytes | OversizeLine]:
        """Return the lines that this chunk completes."""
        # a stream of bytes searches for its newlines as memchr does; splitting compares byte by byte
        whole = BytesIO(chunk).readlines()
        tail = b"" if chunk.endswith(b"\n") or not whole else whole.pop()
        if not whole:
            self._hold(tail)
            return []
        whole = [line[:-1] for line in whole]
        lines: list[bytes | OversizeLine] = []
        if len(chunk) > self._limit or b"\r" in chunk:
            for line in whole:
                self._hold(line)
                lines.append(self._release())
        else:
            self._hold(whole[0])
            lines.append(self._release())
            lines += whole[1:]
            self._count += len(whole) - 1
        self._hold(tail)
        return lines

    def slices(self, chunk: bytes) -> Iterator[list[bytes | OversizeLine]]:
        """Yield the same lines, no more than SLICE_LINES of no more than SLICE_BYTES new bytes at a time, and at least once."""
        for start in range(0, max(len(chunk), 1), SLICE_BYTES):
            lines = self.feed(chunk[start : start + SLICE_BYTES] if len(chunk) > SLICE_BYTES else chunk)
            for first in range(0, max(len(lines), 1), SLICE_LINES):
                yield lines[first : first + SLICE_LINES]

    def close(self) -> bytes | OversizeLine | None:
        """Return the last line if the stream ended without a newline, and None if it ended with one."""
        return self._release() if self._size else None

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._held += piece
        else:
            self._held = (self._held + piece[:HEAD_SIZE])[:HEAD_SIZE]

    def _release(self) -> bytes | OversizeLine:
        line, size = bytes(self._held), self._size
        self._held, self._size = bytearray(), 0
        self._count += 1
        return line.removesuffix(b"\r") if size <= self._limit else OversizeLine(self._count, size, line)


class WholeFramer:
    """Cuts a stream of chunks into lines without losing a byte of it: lines come with their ends, so that they can be passed on.

    A line beyond the limit comes in pieces, as they arrive, and its `OversizeLine` behind the last one.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self._size = 0
        self._count = 0

    def slices(self, chunk: bytes) -> Iterator[list[bytes | LinePiece | OversizeLine]]:
        """Yield the lines that this chunk completes, no more than SLICE_LINES at a time."""
        lines = list[bytes | LinePiece | OversizeLine]()
        for piece in BytesIO(chunk).readlines():
            lines += self._take(piece)
            if len(lines) >= SLICE_LINES:
                yield lines
                lines = []
        yield lines

    def close(self) -> list[bytes | LinePiece | OversizeLine]:
        """Return what is left if the stream ended without a newline."""
        return [self._release(b"")] if self._size else []

    def _take(self, piece: bytes) -> Iterator[bytes | LinePiece | OversizeLine]:
        was_held = self._size <= self._limit
        self._size += len(piece)
        if self._size > self._limit:
            yield LinePiece(bytes(self._held) + piece if was_held else piece)
            self._held = (self._held + piece[:HEAD_SIZE])[:HEAD_SIZE]
        else:
            self._held += piece
        if piece.endswith(b"\n"):
            yield self._release(b"\n")

    def _release(self, end: bytes) -> bytes | OversizeLine:
        line, size = bytes(self._held), self._size
        self._held, self._size = bytearray(), 0
        self._count += 1
        return line if size <= self._limit else OversizeLine(self._count, size - len(end), line)


def ending(line: bytes) -> tuple[bytes, bytes]:
    r"""Return a line without its end, and that end: b"\n", b"\r\n", or nothing where the stream ended."""
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    return body, line[len(body) :]

"""Open a file as its plain bytes, also one that was compressed with gzip or zstd.

Codex compresses its older conversations with zstd, and logs are often kept as gzip. A file whose end is missing is read
as far as it goes, like any other file.
"""

import io
from pathlib import Path
from typing import BinaryIO, Protocol, cast

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"

SUFFIXES = (".zst", ".gz")
"""What compression adds to a file's name."""


class _Stream(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def opened(path: Path) -> BinaryIO:
    """Open a file to read its plain bytes. Raises OSError, also if no installed library can decompress the file."""
    file = path.open("rb")
    try:
        head = file.peek(4)[:4] if file.seekable() else b""
        if head.startswith(_GZIP):
            import gzip  # noqa: PLC0415 - few files are compressed
            import zlib  # noqa: PLC0415 - likewise

            return _plain(path, file, gzip.GzipFile(fileobj=file), zlib.error)
        if head == _ZSTD:
            return _zstd(path, file)
    except BaseException:
        file.close()
        raise
    return file


def plain_name(name: str) -> str:
    """Return a file's name without what compression added to it."""
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def _zstd(path: Path, file: BinaryIO) -> BinaryIO:
    try:
        from backports import zstd  # noqa: PLC0415 - few files are compressed
    except ImportError as error:
        raise OSError(
            5, "this is compressed by zstd; install the package backports.zstd to read it", str(path)
        ) from error
    return _plain(path, file, zstd.ZstdFile(file), zstd.ZstdError)


def _plain(path: Path, file: BinaryIO, stream: _Stream, damage: type[Exception]) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(_Unpacked(path, file, stream, damage)))


class _Unpacked(io.RawIOBase):
    """Reads what a decompressor gives."""

    def __init__(self, path: Path, file: BinaryIO, stream: _Stream, damage: type[Exception]) -> None:
        self._path, self._file, self._stream, self._damage = path, file, stream, damage

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # `Buffer` is younger than Python 3.11
        """Fill a buffer, and return how many bytes there were; 0 at the end, also where the rest of the file is missing."""
        try:
            read = self._stream.read1(len(buffer))
        except EOFError:
            return 0
        except self._damage as error:
            raise OSError(5, f"the compressed file is damaged: {error}", str(self._path)) from error
        buffer[: len(read)] = read
        return len(read)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

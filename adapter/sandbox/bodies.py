"""The body of one plain request (RFC 9112, 6). It alone is passed on: bytes after it are another request, to a host nobody judged."""

import asyncio
import re
from typing import Final

CHUNKED: Final = -1
"""The size of a body that says its size piece by piece."""

PIECE = 1 << 16

_SIZE = re.compile(rb"[0-9]{1,18}")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_NOT_IN_EXTENSION = re.compile(rb"[\r\n\0]")


def body_size(head: bytes) -> int:
    """Return the size of the body after a head in bytes, or CHUNKED. Raises ValueError if servers could read it in two ways."""
    fields = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    lengths = [value.strip() for name, _, value in fields if name.lower() == b"content-length"]
    codings = [value.strip().lower() for name, _, value in fields if name.lower() == b"transfer-encoding"]
    if not codings and not lengths:
        return 0
    if codings == [b"chunked"] and not lengths:
        return CHUNKED
    if not codings and len(lengths) == 1 and _SIZE.fullmatch(lengths[0]):
        return int(lengths[0])
    raise ValueError("write one Content-Length, or Transfer-Encoding: chunked")


async def pass_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int) -> int:
    """Pass on one body and drop all that follows until the end, which is passed on; return how many bytes were passed on."""
    count = 0
    try:
        if size == CHUNKED:
            count = await _pass_chunks(reader, writer)
        else:
            count = await _pass_exactly(reader, writer, size)
        while await reader.read(PIECE):
            pass
        writer.write_eof()
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
        writer.close()  # the client was cut off, or wrote no body: the server hears of it
    return count


async def _pass_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    """Pass on chunks without their extensions and trailers. Raises ValueError for a malformed one."""
    count = 0
    while True:
        line = await reader.readuntil(b"\r\n")
        begins, _, extension = line.removesuffix(b"\r\n").partition(b";")
        digits = begins.rstrip(b" \t")
        if not _CHUNK_SIZE.fullmatch(digits) or _NOT_IN_EXTENSION.search(extension):
            raise ValueError(f"{line!r} begins no chunk")
        size = int(digits, 16)
        writer.write(b"%x\r\n" % size)
        count += await _pass_exactly(reader, writer, size)
        if size == 0:
            break
        if await reader.readexactly(2) != b"\r\n":
            raise ValueError("a chunk is longer than it says")
        writer.write(b"\r\n")
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    writer.write(b"\r\n")
    await writer.drain()
    return count


async def _pass_exactly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, size: int) -> int:
    left = size
    while left:
        piece = await reader.read(min(left, PIECE))
        if not piece:
            raise EOFError("the body ends early")
        left -= len(piece)
        writer.write(piece)
        await writer.drain()
    return size

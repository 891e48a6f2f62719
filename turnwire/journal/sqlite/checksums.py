"""Checksums of rows, to notice changes by a disk, a file system or a memory module.

SQLite notices a page with a broken structure, but not a flipped bit inside an event. CRC-32 notices every single
flip and all but one in four thousand million other changes. It does not protect against someone who can write the file. A row's
key
is part of its sum, so a row under a wrong number is noticed too.
"""

import struct
from zlib import crc32

from turnwire.journal.damage import is_json

_PLACE = struct.Struct(">qq")


def of_event(key: object, micros: object, event: object) -> int | None:
    """Return the checksum of an event's row; None when the values are of no kind that was ever written."""
    try:
        return crc32(event, crc32(_PLACE.pack(key, micros)))  # type: ignore[arg-type]  # whatever a damaged row gives
    except (struct.error, TypeError):
        return None


def of_beside(key: object, whole: object, raw: object) -> int | None:
    """Return the checksum of the data beside an event."""
    try:
        lengths = _PLACE.pack(-1 if whole is None else len(whole), key)  # type: ignore[arg-type]  # as above
        return crc32(raw or b"", crc32(whole or b"", crc32(lengths)))  # type: ignore[arg-type]  # as above
    except (struct.error, TypeError):
        return None


def of_record(session: str, record: object) -> int | None:
    """Return the checksum of a session's record."""
    try:
        return crc32(record, crc32(session.encode("utf-8", "surrogatepass")))  # type: ignore[arg-type]  # as above
    except TypeError:
        return None


def is_sound(key: object, micros: object, event: object, crc: object) -> bool:
    """Tell whether an event's row is as it was written; of one from before there were checksums, whether it can be."""
    computed = of_event(key, micros, event)
    if crc is not None:
        return computed == crc
    return computed is not None and isinstance(event, bytes) and is_json(event)


def is_sound_beside(key: object, whole: object, raw: object, crc: object) -> bool:
    """Return whether the data beside an event is intact."""
    computed = of_beside(key, whole, raw)
    if crc is not None:
        return computed == crc
    return computed is not None and (whole is None or (isinstance(whole, bytes) and is_json(whole)))

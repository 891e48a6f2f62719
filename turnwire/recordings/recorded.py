"""What all shapes of recordings share: an input with its time, lines in bounded memory, and what can be wrong."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from turnwire.normalize.core import Core, happenings
from turnwire.normalize.events import AgentEvent
from turnwire.normalize.inputs import SessionInput
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.framing import LineFramer, OversizeLine
from turnwire.recordings.unpacked import opened

if TYPE_CHECKING:
    from turnwire.protocol.wrapped import Piece

CHUNK = 1 << 20

_DATABASE = b"SQLite format 3\0"


class RecordingError(TurnwireError):
    """A recording cannot be read or written; the message says which, why, and what to do."""

    exit_code = 1
    """Exit code of a command for this."""


class Unread(RecordingError):
    """Nothing of a recording could be read, for its lines are none that turnwire knows; the message says whose they may be."""

    exit_code = 2


OURS = (
    "turnwire reads what Claude Code writes, agents of the Agent Client Protocol, the JSON output of several other agents, "
    "and its own recordings"
)


def foreign(name: Path | str, wire: str) -> Unread:
    """Return what to say of lines that are in another agent's wire."""
    return Unread(f"{name}: unread, for this looks like {wire}; {OURS}")


def unread(name: Path | str, reader: "Reads") -> Unread | None:
    """Return what to say of lines that were read to their end; None of those of which any was understood."""
    if reader.looks_like is not None:
        return foreign(name, reader.looks_like)
    return Unread(f"{name}: no line of it could be read; {OURS}") if reader.is_readable is False else None


class Reads(Protocol):
    """What a reader of lines says of them all."""

    @property
    def looks_like(self) -> str | None:
        """The wire of another agent that the lines are in."""
        ...

    @property
    def is_readable(self) -> bool | None:
        """Was any line understood? None before there was one."""
        ...


class Timed(Struct, frozen=True):
    """Something that happened in the session, and when."""

    at: float | None
    """Seconds since 1970 for rows, since the session's start for a timeline; None where no time was kept."""
    input: SessionInput
    """What happened."""


def timed_happenings(core: Core, recording: Iterable[Timed]) -> Iterator[tuple[Timed, Sequence[AgentEvent]]]:
    """Hand a core what is recorded, in order, and return each thing with what is published of it. Raises what reading raises."""
    shown, handed = tee(recording)
    for timed, (_, events) in zip(shown, happenings(core, (each.input for each in handed)), strict=True):
        yield timed, events


def lines(path: Path) -> Iterator[bytes | OversizeLine]:
    """Cut a file into lines in bounded memory."""
    for some in line_lists(path):
        yield from some


def line_lists(path: Path) -> Iterator[list[bytes | OversizeLine]]:
    """Yield the same, the lines that each piece of the file completes at a time."""
    framer = LineFramer()
    with opened(path) as file:
        while chunk := file.read(CHUNK):
            yield framer.feed(chunk)
    last = framer.close()
    if last is not None:
        yield [last]


def services(path: Path) -> "Iterator[Piece]":
    """Yield the lines of a file without what a log has around them: those of each service in it, some at a time."""
    from turnwire.protocol.wrapped import unwrapped  # noqa: PLC0415 - who runs agents reads no logs

    return unwrapped(line_lists(path))


def is_database(path: Path) -> bool:
    """Tell a database by how it begins; False also for what cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


def in_database(path: Path) -> bool:
    """Tell whether a path names a conversation in a database."""
    return path.parent.suffix == ".db" and path.parent.is_file() and is_database(path.parent)


PACKED = {
    b"\x1f\x8b": ("compressed by gzip", "gunzip"),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", "unzstd"),
    b"\xfd7zXZ\0": ("compressed by xz", "unxz"),
    b"BZh": ("compressed by bzip2", "bunzip2"),
    b"PK\3\4": ("a zip archive", "unzip"),
    b"\xff\xfe": ("UTF-16", "iconv -f UTF-16 -t UTF-8"),
    b"\xfe\xff": ("UTF-16", "iconv -f UTF-16 -t UTF-8"),
}
"""How a file begins that may hold a recording, but not as lines of UTF-8: what it is, and the program that makes lines of it."""


def check_unpacked(name: Path | str, head: bytes) -> None:
    """Raise RecordingError for a database or a compressed file, because neither its lines nor its secrets could be read."""
    if head.startswith(_DATABASE[:8]):
        raise RecordingError(
            f"{name}: this is a database; name one of its conversations as {name}/ID, with an id of `turnwire sessions`"
        )
    for magic, (what, program) in PACKED.items():
        if head.startswith(magic):
            raise RecordingError(f"{name}: this is {what}; make plain lines of it first, with {program}")


def check_file(path: Path) -> None:
    """Check a file by how it, or what is compressed in it, begins; raises RecordingError, and OSError where it cannot be read."""
    with opened(path) as file:
        check_unpacked(path, file.read(8))


def missing(path: Path) -> RecordingError:
    """Return what to say of a file that is not there."""
    if path.name in {"timeline.jsonl", "stdout.jsonl", "stdin.jsonl"} and path.parent.is_dir():
        return RecordingError(
            f"{path.parent}: {path.name} is missing; a recording in a folder has timeline.jsonl, stdout.jsonl and stdin.jsonl"
        )
    return RecordingError(
        f"{path}: there is no such file; give a recording, a folder with a timeline, or the CLI's stdout"
    )

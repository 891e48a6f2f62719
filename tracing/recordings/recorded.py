"""What all shapes of recordings share: an input with its time, lines in bounded memory, and what can be wrong."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from pathlib import Path

from msgspec import Struct

from normalize.core import Core, happenings
from normalize.events import AgentEvent
from normalize.inputs import SessionInput
from protocol.errors import TurnwireError
from protocol.framing import LineFramer, OversizeLine

CHUNK = 1 << 20


class RecordingError(TurnwireError):
    """A recording cannot be read or written; the message says which, why, and what to do."""


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
    framer = LineFramer()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield from framer.feed(chunk)
    last = framer.close()
    if last is not None:
        yield last


def missing(path: Path) -> RecordingError:
    """Return what to say of a file that is not there."""
    if path.name in {"timeline.jsonl", "stdout.jsonl", "stdin.jsonl"} and path.parent.is_dir():
        return RecordingError(
            f"{path.parent}: {path.name} is missing; a recording in a folder has timeline.jsonl, stdout.jsonl and stdin.jsonl"
        )
    return RecordingError(
        f"{path}: there is no such file; give a recording, a folder with a timeline, or the CLI's stdout"
    )

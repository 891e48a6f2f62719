"""The pieces of one recording: a file that grew large was set aside as NAME.1, that one as NAME.2, and so on.

A piece with others before it says so in its first row, `continues`, with its number counted from 1: so what is read
without them can tell what is missing.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from turnwire.recordings.recorded import RecordingError, missing
from turnwire.recordings.unpacked import opened

CONTINUES = "continues"
"""The `event` of the row that a piece begins with when there are others before it."""

TIMELINE = "timeline.jsonl"
"""The file that makes a folder a recording of its own."""

_HEAD = 4096
"""Bytes that hold the row of a piece's number."""

_SET_ASIDE = re.compile(r"(?P<name>.+)\.(?P<place>[1-9]\d{0,5})")
_RECORDED = re.compile(r"raw-.+\.jsonl(?:\.[1-9]\d{0,5})?")


class Piece(NamedTuple):
    """One file of a recording."""

    path: Path
    lost_before: int = 0
    """Pieces that are missing between the one before and this."""
    lost_behind: int = 0
    """Pieces that are missing after this one, which is the last there is."""


class _Number(msgspec.Struct):
    piece: int


class _First(msgspec.Struct):
    event: str
    data: _Number


_decode_first = msgspec.json.Decoder(_First).decode


def newest(path: Path) -> Path:
    """Return the name of a recording's newest piece, which is the recording's own."""
    found = _SET_ASIDE.fullmatch(path.name)
    return path.with_name(found["name"]) if found else path


def number_of(path: Path) -> int | None:
    """Return a piece's number from 1; None where it does not tell."""
    with opened(path) as file:
        try:
            first = _decode_first(file.readline(_HEAD))
        except (msgspec.MsgspecError, RecursionError):
            return None
    return first.data.piece if first.event == CONTINUES else None


def set_aside(name: Path) -> dict[int, Path]:
    """Return the older pieces of a recording by their place: the higher, the older."""
    found: dict[int, Path] = {}
    for path in name.parent.iterdir():
        match = _SET_ASIDE.fullmatch(path.name)
        if match and match["name"] == name.name and path.is_file():
            found[int(match["place"])] = path
    return found


def pieces(path: Path) -> list[Piece]:
    """Return all pieces there are of the recording that a file belongs to, the oldest first."""
    name = newest(path)
    places = set_aside(name)
    if name.is_file():
        places[0] = name
    found: list[Piece] = []
    before: tuple[int, int | None] | None = None
    for place in sorted(places, reverse=True):
        number = number_of(places[place])
        if before is None:
            lost = 0 if number is None else number - 1
        elif number is None or before[1] is None:
            lost = before[0] - place - 1
        else:
            lost = number - before[1] - 1
        found.append(Piece(places[place], max(lost, 0)))
        before = place, number
    if found and before is not None:
        found[-1] = found[-1]._replace(lost_behind=before[0])
    return found


def timelines(folder: Path) -> list[str]:
    """Return what stands in the names of a folder's timelines, the empty string where it has one: ".1", ".2", … of several processes."""
    if (folder / TIMELINE).exists():
        return [""]
    found: list[str] = []
    while (folder / f"timeline.{len(found) + 1}.jsonl").exists():
        found.append(f".{len(found) + 1}")
    return found


def recordings_in(folder: Path) -> list[Path]:
    """Return the recordings in a folder by their own names; the folder itself when it is one, with a timeline."""
    if timelines(folder):
        return [folder]
    return sorted({newest(path) for path in folder.iterdir() if _RECORDED.fullmatch(path.name)})


def one_in(folder: Path) -> Path:
    """Return the one recording in a folder; raises RecordingError where there is none, or a choice."""
    match recordings_in(folder):
        case [one]:
            return one
        case []:
            raise missing(folder / TIMELINE)
        case several:
            names = ", ".join(path.name for path in several)
            raise RecordingError(f"{folder}: it holds {len(several)} recordings, {names}; name one of them")


def distinct(paths: Sequence[Path]) -> list[Path]:
    """Return each recording that is named once: by a folder, by itself or by any of its pieces."""
    found: dict[Path, Path] = {}
    for path in paths:
        inside = recordings_in(path) if path.is_dir() else []
        for one in inside or [path]:
            found.setdefault(newest(one), one)
    return list(found.values())

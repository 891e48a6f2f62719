"""`turnwire translate`: CLI stdout in, events out, as a Unix filter.

Plain stdout takes the short way: chunk, lines, messages, events, bytes, one write a chunk. Other recordings
(rows with both directions, folders with a timeline) go through the same core input by input.
"""

import gc
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import asdict

from turnwire.normalize.events import AgentEvent, to_json, to_lines
from turnwire.normalize.events.limits import cut
from turnwire.normalize.families import recorded_core
from turnwire.normalize.recordings.auto_detecting import AutoDetectingCore
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.visible import escaped_lines
from turnwire.recordings.output import OutputTranslator
from turnwire.recordings.reading import is_rows, read
from turnwire.recordings.recorded import (
    Unread,
    check_file,
    check_unpacked,
    in_database,
    timed_happenings,
)
from turnwire.recordings.session_file import FirstLines, is_session_file, is_session_line
from turnwire.recordings.unpacked import opened

CHUNK = 1 << 16
"""Bytes read at a time: what a processor keeps near, and an allocator in its arenas."""


class InputError(TurnwireError):
    """There is nothing to translate; the message says why and what to do."""


def run(
    source: Path | None, out: BinaryIO, *, field_limit: int, stats: bool, family: str | None = None
) -> None:
    """Translate a file, a recording's folder or standard input; raises InputError, RecordingError and UnknownFamily."""
    # Events make no cycles: looking for garbage after every 700 of them is a tenth of the whole time.
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    core = recorded_core(family)
    error: Unread | None = None
    try:
        _translate(core, source, out, field_limit, family)
    except Unread as unread_lines:
        error = unread_lines
    out.flush()
    if stats:
        print(_report(core, human=sys.stderr.isatty()), file=sys.stderr)  # noqa: T201 - the filter's own report
    if error is not None:
        raise error


def _translate(
    core: AutoDetectingCore, source: Path | None, out: BinaryIO, field_limit: int, family: str | None
) -> None:
    if source is None:
        if sys.stdin.isatty():
            raise InputError(
                "no FILE was given and standard input is a terminal; name a file, or pipe the CLI's stdout into this command"
            )
        _piped(core, sys.stdin.buffer, out, field_limit, family)
    elif source.is_dir():
        _recording(core, source, out, field_limit, family)
    elif in_database(source):
        _stored(core, source, out, field_limit)
    else:
        _file(core, source, out, field_limit, family)


def _stored(core: AutoDetectingCore, source: Path, out: BinaryIO, field_limit: int) -> None:
    """Translate a conversation in a database."""
    import tempfile  # noqa: PLC0415 - few conversations are in one

    from turnwire.recordings.database import save_lines  # noqa: PLC0415 - likewise

    with tempfile.TemporaryDirectory(prefix="turnwire-") as folder:
        try:
            file = save_lines(source, Path(folder))
        except OSError as error:
            raise InputError(
                f"{source}: {error.strerror}; `turnwire sessions` lists the conversations"
            ) from error
        _recording(core, file, out, field_limit, None)


def _file(core: AutoDetectingCore, source: Path, out: BinaryIO, field_limit: int, family: str | None) -> None:
    try:
        file = opened(source)
    except OSError as error:
        raise InputError(
            f"{source}: {error.strerror}; name a file with what a CLI wrote to stdout"
        ) from error
    with file:
        if _says_nothing(source):
            raise InputError(
                f"{source}: the file is empty; it should hold what a CLI wrote to stdout, one JSON object a line"
            )
        if source.is_file():
            check_file(source)
        if source.is_file() and (is_rows(source) or (family is None and is_session_file(source))):
            _recording(core, source, out, field_limit, family)
        else:
            _stream(core, file, out, field_limit, name=source, family=family)


def _piped(
    core: AutoDetectingCore, source: BinaryIO, out: BinaryIO, field_limit: int, family: str | None
) -> None:
    """Translate what comes as it comes; a session file, which has to be looked over first, is read to its end before."""
    read_some = getattr(source, "read1", source.read)
    begun: list[bytes] = []
    first_lines, found = FirstLines(), list[bytes]()
    while not found and (chunk := read_some(CHUNK)):
        if not begun:
            check_unpacked("standard input", chunk)
        begun.append(chunk)
        found = first_lines.feed(chunk)
    found = found or first_lines.close()
    first = b"".join(begun)
    if family is not None or not is_session_line(found):
        _stream(core, source, out, field_limit, name="standard input", begun=first, family=family)
        return
    import shutil  # noqa: PLC0415 - few pipes say a session file
    import tempfile  # noqa: PLC0415 - likewise

    with tempfile.TemporaryDirectory(prefix="turnwire-") as folder:
        file = Path(folder) / "stdin.jsonl"
        with file.open("wb") as kept:
            kept.write(first)
            shutil.copyfileobj(source, kept)
        _recording(core, file, out, field_limit, None)


def _says_nothing(source: Path) -> bool:
    """Tell an empty file from the stdout of a recorded CLI that really wrote nothing: that one has a timeline."""
    empty = source.is_file() and source.stat().st_size == 0
    return empty and not (source.parent / "timeline.jsonl").exists()


def _stream(
    core: AutoDetectingCore,
    source: BinaryIO,
    out: BinaryIO,
    field_limit: int,
    *,
    name: Path | str,
    begun: bytes = b"",
    family: str | None = None,
) -> None:
    """Translate what comes, to its end even where it cannot be read: whoever writes it is not to be stopped by that."""
    output = OutputTranslator(core, family)
    # what is there now: a pipe's reader must not wait for a full chunk
    read_some = getattr(source, "read1", source.read)
    while chunk := begun or read_some(CHUNK):
        begun = b""
        _write(output.feed(chunk), out, field_limit)
    _write(output.close(), out, field_limit)
    if (error := output.unread(name)) is not None:
        raise error


def _recording(
    core: AutoDetectingCore, source: Path, out: BinaryIO, field_limit: int, family: str | None
) -> None:
    for _, events in timed_happenings(core, read(source, family)):
        _write(events, out, field_limit)


def _write(events: Sequence[AgentEvent], out: BinaryIO, field_limit: int) -> None:
    if not events:
        return
    written = to_lines(events)
    # Where all events together are within the limit, no field of any of them is beyond it.
    if len(written) > field_limit:
        written = b"".join([_cut(event, field_limit) + b"\n" for event in events])
    out.write(escaped_lines(written))
    out.flush()


def _cut(event: AgentEvent, field_limit: int) -> bytes:
    written = to_json(event)
    if len(written) <= field_limit or (shorter := cut(event, field_limit)) is event:
        return written
    return to_json(shorter)


def _report(core: AutoDetectingCore, *, human: bool) -> str:
    """Say what became of every line; the parts add up to the lines."""
    parts = asdict(core.stats)
    parts = {"lines": sum(parts.values()), **parts}
    if not human:
        return json.dumps(parts)
    return "\n".join(f"{name:>10} {value}" for name, value in parts.items())

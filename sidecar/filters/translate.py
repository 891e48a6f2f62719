"""`turnwire translate`: CLI stdout in, events out, as a Unix filter.

Plain stdout takes the short way: chunk, lines, messages, events, bytes, one write a chunk. Other recordings
(rows with both directions, folders with a timeline) go through the same translator input by input.
"""

import gc
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from normalize.claude.translator import Translator
from normalize.events import AgentEvent, to_json, to_lines
from normalize.events.limits import cut
from normalize.inputs import Ended
from protocol.claude.decode import decode, malformed
from protocol.claude.messages import Malformed
from protocol.dialects import Overheard, recognise
from protocol.framing import LineFramer, OversizeLine
from tracing.recordings.reading import is_rows, read

CHUNK = 1 << 18


class InputError(Exception):
    """There is nothing to translate; the message says why and what to do."""


def run(source: Path | None, out: BinaryIO, *, field_limit: int, stats: bool) -> None:
    """Translate a file, a recording's folder or standard input; raises InputError and RecordingError."""
    # Events make no cycles: looking for garbage after every 700 of them is a tenth of the whole time.
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    translator = Translator()
    if source is None:
        if sys.stdin.isatty():
            raise InputError(
                "no FILE was given and standard input is a terminal; name a file or pipe the CLI's stdout into this"
            )
        _stream(translator, sys.stdin.buffer, out, field_limit)
    elif source.is_dir():
        _recording(translator, source, out, field_limit)
    else:
        _file(translator, source, out, field_limit)
    out.flush()
    if stats:
        print(_report(translator, human=sys.stderr.isatty()), file=sys.stderr)  # noqa: T201 - the filter's own report


def _file(translator: Translator, source: Path, out: BinaryIO, field_limit: int) -> None:
    try:
        file = source.open("rb")
    except OSError as error:
        raise InputError(
            f"{source}: {error.strerror}; name a file with what a CLI wrote to stdout"
        ) from error
    with file:
        if _says_nothing(source):
            raise InputError(
                f"{source}: the file is empty; it should hold what a CLI wrote to stdout, one JSON object a line"
            )
        if source.is_file() and is_rows(source):
            _recording(translator, source, out, field_limit)
        else:
            _stream(translator, file, out, field_limit)


def _says_nothing(source: Path) -> bool:
    """Tell an empty file from the stdout of a recorded CLI that really wrote nothing: that one has a timeline."""
    empty = source.is_file() and source.stat().st_size == 0
    return empty and not (source.parent / "timeline.jsonl").exists()


def _stream(translator: Translator, source: BinaryIO, out: BinaryIO, field_limit: int) -> None:
    framer, receive = LineFramer(), translator.receive
    read_some = getattr(
        source, "read1", source.read
    )  # what is there now: a pipe's reader must not wait for a full chunk
    other: Overheard | None = None
    is_first = True
    while chunk := read_some(CHUNK):
        events: list[AgentEvent] = []
        lines = framer.feed(chunk)
        if is_first and lines:
            # whoever speaks JSON-RPC does so from the first line; all else is read by plain decoding
            is_first, other = False, _other_dialect(lines[0])
        for line in lines:
            if other is not None and type(line) is bytes:
                for message in other.received(line):
                    events += receive(message, line)
            else:
                events += receive(decode(line), line) if type(line) is bytes else receive(_oversize(line))
        _write(events, out, field_limit)
    last = framer.close()
    events = []
    if last is not None:
        events += receive(decode(last), last) if isinstance(last, bytes) else receive(malformed(last))
    _write([*events, *translator.ended(Ended("end_of_input"))], out, field_limit)


def _other_dialect(first: bytes | OversizeLine) -> Overheard | None:
    return Overheard() if type(first) is bytes and recognise([first]) == "json_rpc" else None


def _oversize(line: bytes | OversizeLine) -> Malformed:
    assert isinstance(line, OversizeLine)
    return malformed(line)


def _recording(translator: Translator, source: Path, out: BinaryIO, field_limit: int) -> None:
    for timed in read(source):
        _write(translator.take(timed.input), out, field_limit)


def _write(events: list[AgentEvent], out: BinaryIO, field_limit: int) -> None:
    if not events:
        return
    written = to_lines(events)
    # Where all events together are within the limit, no field of any of them is beyond it.
    if len(written) > field_limit:
        written = to_lines([_cut(event, field_limit) for event in events])
    out.write(written)
    out.flush()


def _cut(event: AgentEvent, field_limit: int) -> AgentEvent:
    return event if len(to_json(event)) <= field_limit else cut(event, field_limit)


def _report(translator: Translator, *, human: bool) -> str:
    """Say what became of every line; the parts add up to the lines."""
    parts = asdict(translator.stats)
    parts = {"lines": sum(parts.values()), **parts}
    if not human:
        return json.dumps(parts)
    return "\n".join(f"{name:>10} {value}" for name, value in parts.items())

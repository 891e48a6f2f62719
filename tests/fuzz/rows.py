"""Sessions as inputs: `<` stands before a line that an agent wrote, `>` before one that it was told; and those recorded, to begin with."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path

from acp_recordings import acp_recordings

from recordings import recordings
from turnwire.protocol.claude.decode import decode as decode_claude
from turnwire.protocol.dialects import Dialect

SEED_BYTES = 12_000
"""Longer seeds are left out: what is wrong with a long input is wrong with a short one, and more of those are tried."""

Features = set[Hashable]
"""What an input made happen; one that makes something new happen is worth changing further."""


def rows_of(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Cut an input into directions and lines."""
    for line in data.split(b"\n"):
        yield (line[:1], line[1:]) if line[:1] in (b"<", b">") else (b"<", line)


def said_in(folder: Path) -> bytes:
    """The lines of a recording, in both directions, in their order."""
    sides = {
        name: (folder / f"{file}.jsonl").read_bytes().split(b"\n")
        for name, file in (("recv", "stdout"), ("send", "stdin"))
    }
    rows = [json.loads(row) for row in (folder / "timeline.jsonl").read_bytes().splitlines()]
    marks = {"recv": b"<", "send": b">"}
    return b"\n".join(
        marks[row["dir"]] + sides[row["dir"]][row["line"]] for row in rows if row.get("line") is not None
    )


def small(found: Iterable[bytes]) -> list[bytes]:
    return sorted({seed for seed in found if 0 < len(seed) < SEED_BYTES}, key=lambda seed: (len(seed), seed))


def claude_sessions() -> list[bytes]:
    """Recordings of Claude Code."""
    return small(said_in(recording.folder) for recording in recordings())


def acp_sessions() -> list[bytes]:
    """Recordings of agents of the Agent Client Protocol."""
    return small(said_in(recording.folder) for recording in acp_recordings())


def spoken_in(dialect: Dialect) -> Callable[[], list[bytes]]:
    """Recordings of Claude Code, as they would be in a dialect."""

    def seeds() -> list[bytes]:
        found = []
        for seed in claude_sessions():
            peer = dialect.agent()
            rows = [(mark, decode_claude(line)) for mark, line in rows_of(seed)]
            said = [line for mark, message in rows if mark == b"<" for line in peer.write(message).lines]
            found.append(b"\n".join(b"<" + line.rstrip(b"\n") for line in said))
        return small(found)

    return seeds


def lines_of(sessions: Callable[[], list[bytes]]) -> Callable[[], list[bytes]]:
    """The single lines of sessions."""

    def seeds() -> list[bytes]:
        return small(line for seed in sessions() for _, line in rows_of(seed))

    return seeds

"""No recording of one family is taken for another's, wherever it is cut: so each line alone must tell its family, or nothing."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from acp_recordings import acp_recordings
from native_recordings import native_recordings

from recordings import recordings
from turnwire.normalize.families import claiming
from turnwire.protocol.claude.decode import decode
from turnwire.protocol.claude.messages import Unknown
from turnwire.protocol.claude.system import UnknownSystem
from turnwire.protocol.dialects.foreign import foreign_wire
from turnwire.protocol.json_values import JsonObject

Line = tuple[str, bytes, JsonObject]
"""The family, the line and its object."""


def all_lines() -> Iterator[Line]:
    """Yield the lines of both sides of every recording that is an object."""
    for one in recordings():
        yield from objects("claude", [*one.received(), *one.sent()])
    for acp in acp_recordings():
        yield from objects("acp", (line for _, line in acp.rows()))
    for native in native_recordings():
        if native.family is not None:
            yield from objects(native.family, native.lines())


def objects(family: str, lines: Iterable[bytes]) -> Iterator[Line]:
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield family, line, value


CLAUDES_OWN = {("cursor-agent", "user")}
"""Lines that an agent writes just as Claude Code does: they tell nothing, and wait for one that does."""


def mistaken(lines: Iterable[Line]) -> list[str]:
    """Return what is taken for another family's line."""
    found = []
    for family, line, value in lines:
        claimed = claiming(value)
        told = claimed.name if claimed is not None else foreign_wire(value)
        if told not in (None, family) or (
            told is None
            and family not in ("claude", "acp")
            and (family, value.get("type")) not in CLAUDES_OWN
            and not isinstance(decode(line), Unknown | UnknownSystem)
        ):
            found.append(f"{family} told as {told or 'claude'}: {line[:200]!r}")
    return found


def test_no_line_of_some_recordings_is_taken_for_another_familys() -> None:
    assert mistaken(islice(all_lines(), 0, None, 23)) == []


@pytest.mark.long
def test_no_line_of_any_recording_is_taken_for_another_familys() -> None:
    assert mistaken(all_lines()) == []

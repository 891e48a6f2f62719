"""The registry of families: turnwire's own, and those that other distributions register."""

import json
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from turnwire.normalize import families
from turnwire.normalize.claude.core import ClaudeCore
from turnwire.normalize.claude.files import ClaudeSessionFiles
from turnwire.normalize.events import ProcessStatus, to_json
from turnwire.normalize.families import FAMILIES, UnknownFamily, claiming, named, new_core, recorded_core
from turnwire.normalize.inputs import Announced, Ended
from turnwire.normalize.recordings.lines import LineReader
from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_values import Json
from turnwire.protocol.json_wire import LineShape, any_of
from turnwire.recordings.reading import read
from turnwire.recordings.session_file import format_of


class Kept(ClaudeSessionFiles):
    """Files of nobody's."""

    agent = "theirs"

    def recognises(self, line: bytes) -> bool:
        return b'"kept"' in line

    def session_of(self, line: bytes) -> str | None:
        return "k" if b'"name"' in line else None


THEIRS = stream_family(
    name="theirs",
    title="Theirs",
    reader="turnwire.normalize.gemini.reader:GeminiReader",
    claims=any_of(LineShape("theirs")),
)
KEEPS = replace(THEIRS, name="keeps", files=(Kept(),))
NO_FAMILY = "nothing"


@pytest.fixture
def broken() -> dict[str, str]:
    """Entry points that are no families."""
    return {}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, broken: dict[str, str]) -> Iterator[None]:
    """Entry points of other distributions."""

    def entry_points(*, group: str) -> list[EntryPoint]:
        names = {"theirs": "THEIRS", "keeps": "KEEPS", "gemini": "THEIRS"} | broken
        return [EntryPoint(name, f"{__name__}:{value}", group) for name, value in names.items()]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.setattr(families, "import_module", _modules)
    for cached in (families._registered, families.named):
        cached.cache_clear()
    yield
    for cached in (families._registered, families.named):
        cached.cache_clear()


def _modules(name: str) -> Any:
    import importlib
    import sys

    return sys.modules[name] if name in sys.modules else importlib.import_module(name)


def types(core: Any, *happened: Any) -> list[str]:
    return [json.loads(to_json(event))["type"] for one in happened for event in core.handle(one)]


def received(reader: LineReader, value: Json) -> Any:
    (one,) = reader.received(json.dumps(value).encode())
    return one


def test_a_family_of_another_distribution_is_found_by_its_name_and_by_its_lines(registered: None) -> None:
    assert named("theirs") is THEIRS
    assert claiming({"type": "theirs"}) is THEIRS
    assert [*FAMILIES][-2:] == ["theirs", "keeps"]
    assert len(FAMILIES) == len([*FAMILIES])
    assert FAMILIES["gemini"].title.startswith("Gemini CLI")  # ours, whatever others call theirs
    assert THEIRS.model_calls().items() <= families.model_calls().items()
    assert THEIRS.exchanges().items() <= families.exchanges().items()


@pytest.mark.parametrize("broken", [{"broken": "NO_FAMILY"}])
def test_what_is_no_family_is_refused(registered: None) -> None:
    with pytest.raises(UnknownFamily, match=r"NO_FAMILY of turnwire\.families is not a Family"):
        named("broken")


def test_a_family_that_is_not_there_is_told_with_those_that_are(registered: None) -> None:
    with pytest.raises(UnknownFamily, match="there is no family 'smalltalk'; choose one of claude, "):
        named("smalltalk")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_of_ours_has_its_own_name_and_makes_its_core(name: str) -> None:
    family = FAMILIES[name]
    assert family.name == name
    assert family.title
    assert family.core(first_turn=3).turns == 2
    assert [message for _, message in family.wire().heard([b""])]


def test_a_named_family_reads_what_does_not_tell_whose_it_is() -> None:
    line: Json = {"type": "weather", "session_id": "s"}
    reader, core = LineReader("gemini"), recorded_core("gemini")
    assert types(core, received(reader, line)) == ["unknown"]
    assert (reader.looks_like, reader.is_readable, core.stats.unknown) == (None, True, 1)
    started = Announced(ProcessStatus(state="started", after_turns=2))
    assert types(core, started, Ended("end_of_input")) == ["process_status", "process_status"]
    assert (core.turns, core.stats.unknown) == (2, 1)
    with pytest.raises(UnknownFamily):
        recorded_core("smalltalk")


def test_claude_named_is_claude() -> None:
    assert not isinstance(new_core("auto"), type(new_core("gemini")))
    for name in ("claude", "miriad", "json_rpc", "auto"):
        assert types(recorded_core(name), received(LineReader(), {"type": "keep_alive"})) == []
        assert isinstance(recorded_core(name), ClaudeCore)


def test_a_recording_may_be_read_as_a_named_family(tmp_path: Path) -> None:
    log = tmp_path / "stdout.jsonl"
    log.write_text('{"type":"system","subtype":"init","session_id":"s"}\n')
    core = recorded_core("gemini")
    told = [event.type for timed in read(log, "gemini") for event in core.handle(timed.input)]
    assert told == ["unknown", "process_status"]


def test_files_that_agents_of_another_distribution_keep_are_known(registered: None, tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    for lines, told in (
        ('{"kept":1}\n{"kept":2,"name":1}\n', ("keeps", "k")),
        ('{"kept":1}\n', ("keeps", "kept")),
        ('{"type":"keep_alive","kept":1}\n', None),  # it is Claude's
        ('{"type":"init","session_id":"s","model":"m","timestamp":"t","kept":1}\n', None),  # it is Gemini's
        ('{"other":1}\n', None),
        ("7\n", None),
        ("", None),
    ):
        file.write_text(lines)
        found = format_of(file)
        assert (None if found is None else (found.family, found.session)) == told, lines

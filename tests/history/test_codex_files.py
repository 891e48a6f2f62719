"""Where Codex keeps conversations and in what form: archived, compressed, forked. Each counts once."""

import gzip
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from backports import zstd
from rollouts import Rollout
from typer.testing import CliRunner

from turnwire.config.settings import Settings
from turnwire.history.following import follower_of
from turnwire.history.history import History
from turnwire.recordings.filters.translate import InputError
from turnwire.recordings.filters.translate import run as translate
from turnwire.recordings.recorded import RecordingError
from turnwire.sidecar.cli.commands import application
from turnwire.sidecar.process import logs

FROG, NEWT = "0f600000-0000-7000-8000-000000000001", "0e370000-0000-7000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HOME."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TURNWIRE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr(logs, "configure", lambda _: None)
    for variable in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def library(home: Path) -> Iterator[History]:
    """The library of that HOME."""
    history = History(Settings(state_dir=home / "state"), lambda: ())
    yield history
    history.close()


def spent(library: History) -> dict[str, tuple[int, int, int]]:
    """Return the tokens of each conversation: sent, read from the cache, written."""
    assert library.look().failed == []
    return {
        str(one.group["session"]): (one.input_tokens, one.cache_read_input_tokens, one.output_tokens)
        for one in library.index.usage(["session"])
    }


def translated(path: Path) -> bytes:
    """Return the events of a file."""
    out = BytesIO()
    translate(path, out, field_limit=1 << 20, stats=False)
    return out.getvalue()


def frog() -> Rollout:
    """A conversation of one turn."""
    made = Rollout(FROG)
    made.turn("leap-1", "How do frogs leap?", "With long legs.", (90, 30, 12))
    return made


def test_an_archived_conversation_is_found_and_counted(library: History, home: Path) -> None:
    path = frog().write(home, "archived_sessions")
    (path.parent / "notes.jsonl").write_text("{}\n")
    assert spent(library) == {FROG: (60, 30, 12)}
    assert {hit.id for hit in library.index.search("leap", limit=9)} == {FROG}
    # and once while both places have it
    frog().write(home)
    assert spent(library) == {FROG: (60, 30, 12)}


@pytest.mark.parametrize(
    ("suffix", "packed"),
    [(".zst", zstd.compress), (".gz", gzip.compress), (".zst", lambda raw: zstd.compress(raw[:40]) + zstd.compress(raw[40:]))],
    ids=["zstd", "gzip", "zstd-frames"],
)  # fmt: skip
def test_a_compressed_conversation_is_read_like_a_plain_one(
    library: History, home: Path, suffix: str, packed: Callable[[bytes], bytes]
) -> None:
    plain = frog().write(home)
    path = plain.with_name(plain.name + suffix)
    path.write_bytes(packed(plain.read_bytes()))
    events = translated(plain)
    plain.unlink()
    assert spent(library) == {FROG: (60, 30, 12)}
    assert translated(path) == events
    assert b"With long legs." in events
    assert "With long legs." in library.export(library.find(FROG), "markdown", redact=False)
    assert sum(len(some) for some in follower_of(path).first()) > 5
    copy = home / "copy.jsonl"
    assert CliRunner().invoke(application(), ["redact", str(path), str(copy)]).exit_code == 0
    assert b"With long legs." in copy.read_bytes()


def test_a_compressed_file_without_its_end_is_read_as_far_as_it_goes(library: History, home: Path) -> None:
    made = frog()
    made.turn("leap-2", "And newts?", "They walk.", (10, 0, 5))
    path = made.write(home)
    first = b"\n".join(made.lines[:7]) + b"\n"
    cut = zstd.compress(first) + zstd.compress(b"\n".join(made.lines[7:]))[:-9]
    path.with_name(path.name + ".zst").write_bytes(cut)
    path.unlink()
    assert spent(library) == {FROG: (60, 30, 12)}


def test_a_compressed_file_that_cannot_be_read_is_named_with_the_reason(
    library: History, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = frog().write(home)
    packed, damaged = plain.with_name(plain.name + ".zst"), plain.with_name("rollout-x.jsonl.zst")
    packed.write_bytes(zstd.compress(plain.read_bytes()))
    damaged.write_bytes(b"\x28\xb5\x2f\xfd" + b"no frame" * 20)
    plain.unlink()
    looked = library.look()
    assert looked.failed == [str(damaged)]
    assert "damaged" in looked.reasons[str(damaged)]
    assert f"{damaged} could not be read: the compressed file is damaged" in (
        CliRunner().invoke(application(), ["sessions"]).stderr
    )
    assert library.index.find(FROG) is not None
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises((InputError, RecordingError), match=r"install the package backports\.zstd"):
        translated(packed)


def test_a_forks_copies_count_for_their_origin(library: History, home: Path) -> None:
    parent = frog()
    parent.turn("leap-2", "How high?", "A metre.", (40, 10, 8))
    fork = Rollout(NEWT, day="2026-03-05", forked_from_id=FROG)
    fork.copy(parent)
    fork.turn("newt-1", "And newts?", "They walk.", (20, 0, 5))
    parent.write(home)
    fork.write(home)
    assert spent(library) == {FROG: (90, 40, 20), NEWT: (20, 0, 5)}


def test_the_export_of_a_fork_by_reference_names_its_origin(library: History, home: Path) -> None:
    fork = Rollout(NEWT, forked_from_id=FROG, history_mode="paginated")
    fork.turn("newt-1", "And newts?", "They walk.", (20, 0, 5))
    fork.write(home)
    library.look()
    assert f"a fork of the conversation {FROG}" in library.export(
        library.find(NEWT), "markdown", redact=False
    )

"""The recordings under fixtures/, and those of TURNWIRE_CORPUS when it names a folder of the same form.

@pytest.mark.parametrize("recording", recordings(), ids=str)
def test_every_line_is_accounted_for(recording: Recording) -> None: ...
"""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

ROOT = Path(__file__).resolve().parents[3]
SOURCES = tuple(ROOT / name for name in ("turnwire", "adapter", "normalize", "tracing"))
"""Folders of the product's source; three of them are linked into turnwire/."""
FIXTURES = ROOT / "fixtures"
VERSIONS = ("1.0.120", "2.0.14", "2.1.101", "2.1.330")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of a timeline: a line in either direction, an end of stdin, a signal, or the exit."""

    t: float
    dir: Literal["recv", "send", "signal", "exit"]
    line: int | None = None
    eof: bool = False
    signal: str | None = None
    code: int | None = None


@dataclass(frozen=True)
class Recording:
    """One folder VERSION/SCENARIO."""

    folder: Path

    @property
    def version(self) -> str:
        return self.folder.parent.name

    @property
    def scenario(self) -> str:
        return self.folder.name

    @property
    def stdout_path(self) -> Path:
        return self.folder / "stdout.jsonl"

    @property
    def stdout(self) -> bytes:
        """What the CLI wrote, byte for byte."""
        return self.stdout_path.read_bytes()

    @property
    def stdin(self) -> bytes:
        """What was written to the CLI, byte for byte."""
        return (self.folder / "stdin.jsonl").read_bytes()

    @property
    def stderr(self) -> str:
        path = self.folder / "stderr.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def received(self) -> list[bytes]:
        """The lines of stdout, without their newlines."""
        return self.stdout.removesuffix(b"\n").split(b"\n") if self.stdout else []

    def sent(self) -> list[bytes]:
        """The lines of stdin, without their newlines."""
        return self.stdin.removesuffix(b"\n").split(b"\n") if self.stdin else []

    def timeline(self) -> list[Row]:
        """The rows of timeline.jsonl, in order."""
        return msgspec.json.decode(
            b"[" + b",".join((self.folder / "timeline.jsonl").read_bytes().splitlines()) + b"]",
            type=list[Row],
        )

    def __str__(self) -> str:
        return f"{self.version}/{self.scenario}"


@cache
def _below(folder: Path) -> tuple[Recording, ...]:
    """The recordings in a folder. Nobody adds one while tests run, and forty modules ask for them."""
    return tuple(Recording(path.parent) for path in sorted(folder.glob("*/*/stdout.jsonl")))


def recordings(*scenarios: str, version: str | None = None) -> list[Recording]:
    """List the recordings, optionally of some scenarios or of one version alone.

    Raises LookupError when a scenario exists in no version: a test must not pass because its name was mistyped.
    """
    found = {str(recording): recording for recording in _below(FIXTURES)}
    if corpus := os.environ.get("TURNWIRE_CORPUS"):
        for recording in _below(Path(corpus)):
            found.setdefault(str(recording), recording)
    everything = found.values()
    if missing := set(scenarios) - {recording.scenario for recording in everything}:
        raise LookupError(f"no recording of {', '.join(sorted(missing))}")
    return [
        recording
        for recording in everything
        if (not scenarios or recording.scenario in scenarios) and version in (None, recording.version)
    ]


def recording(version: str, scenario: str) -> Recording:
    """Return one recording; raises LookupError when it does not exist."""
    for found in recordings(scenario, version=version):
        return found
    raise LookupError(f"no recording {version}/{scenario}")

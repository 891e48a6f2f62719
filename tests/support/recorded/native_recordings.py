"""Recordings of agents' own JSON output, under fixtures/native, and those of TURNWIRE_NATIVE_CORPUS: folders AGENT/SCENARIO.

A scenario of several processes has its files as `stdout.1.jsonl`, `timeline.1.jsonl`, …: each process is a recording of its own.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recordings import FIXTURES
from turnwire.normalize.families import FAMILIES

NATIVE = FIXTURES / "native"

OF_ANOTHER_NAME = {"qwen-stream-json": "claude"}
"""How folders of recordings begin whose agents share the wire of another."""


@dataclass(frozen=True)
class NativeRecording:
    """What one process wrote."""

    stdout: Path

    @property
    def folder(self) -> Path:
        """The scenario's folder."""
        return self.stdout.parent

    @property
    def agent(self) -> str:
        """The agent, its wire and its version."""
        return self.folder.parent.name

    @property
    def family(self) -> str | None:
        """The family, whose name the folder begins with; None of a wire that nobody reads."""
        families = {name: name for name in FAMILIES} | OF_ANOTHER_NAME
        return next(
            (families[name] for name in sorted(families, reverse=True) if self.agent.startswith(name)), None
        )

    @property
    def source(self) -> Path:
        """What to read: the folder, or one of several processes' stdout."""
        is_whole = self.stdout.name == "stdout.jsonl" and (self.folder / "timeline.jsonl").exists()
        return self.folder if is_whole else self.stdout

    def lines(self) -> list[bytes]:
        """The lines of stdout, without their newlines."""
        return self.stdout.read_bytes().splitlines()

    def __str__(self) -> str:
        process = self.stdout.name.removeprefix("stdout").removesuffix(".jsonl")
        return f"{self.agent}/{self.folder.name}{process}"


def native_recordings(agent: str = "", *, with_corpus: bool = True) -> Iterator[NativeRecording]:
    """Every recording of agents whose folder begins with this name, in the order of their names."""
    more = os.environ.get("TURNWIRE_NATIVE_CORPUS") if with_corpus else None
    for place in (NATIVE, *(Path(place) for place in (more or "").split(os.pathsep) if place)):
        for stdout in sorted(place.glob(f"{agent}*/*/stdout*.jsonl")):
            yield NativeRecording(stdout)

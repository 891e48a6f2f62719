"""Recordings of agents of the Agent Client Protocol, under fixtures/acp, and those of TURNWIRE_ACP_CORPUS: folders AGENT/SCENARIO."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from recordings import FIXTURES

ACP = FIXTURES / "acp"


@dataclass(frozen=True)
class AcpRecording:
    """One folder AGENT/SCENARIO."""

    folder: Path

    @property
    def name(self) -> str:
        """AGENT/SCENARIO."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    def rows(self) -> list[tuple[str, bytes]]:
        """The lines of both directions, in their order."""
        sides = {
            "recv": (self.folder / "stdout.jsonl").read_bytes().split(b"\n"),
            "send": (self.folder / "stdin.jsonl").read_bytes().split(b"\n"),
        }
        timeline = [json.loads(line) for line in (self.folder / "timeline.jsonl").read_bytes().splitlines()]
        return [(row["dir"], sides[row["dir"]][row["line"]]) for row in timeline if "line" in row]

    def __str__(self) -> str:
        return self.name


def acp_recordings(*, with_corpus: bool = True) -> list[AcpRecording]:
    """Every recording, in the order of their names."""
    more = os.environ.get("TURNWIRE_ACP_CORPUS") if with_corpus else None
    places = [ACP, *(Path(place) for place in (more or "").split(os.pathsep) if place)]
    return [
        AcpRecording(folder.parent)
        for place in places
        for folder in sorted(place.glob("*/*/timeline.jsonl"))
        if "-acp-" in folder.parent.parent.name
    ]

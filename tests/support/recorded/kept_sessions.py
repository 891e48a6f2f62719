"""Conversations that left both: what the CLI wrote to stdout, and the files it keeps itself (fixtures/sessions/)."""

from dataclasses import dataclass
from pathlib import Path

from recordings import ROOT

KEPT = ROOT / "fixtures" / "sessions"


@dataclass(frozen=True)
class Kept:
    """One folder VERSION/SCENARIO."""

    folder: Path

    @property
    def version(self) -> str:
        return self.folder.parent.name

    @property
    def files(self) -> list[Path]:
        """The session files, without those of subagents; the largest first."""
        return sorted(self.folder.glob("projects/*/*.jsonl"), key=lambda path: -path.stat().st_size)

    @property
    def file(self) -> Path:
        """The one session file."""
        (one,) = self.files
        return one

    def __str__(self) -> str:
        return f"{self.version}/{self.folder.name}"


def kept(version: str, scenario: str) -> Kept:
    """Return one; raises LookupError when it does not exist."""
    folder = KEPT / version / scenario
    if not folder.is_dir():
        raise LookupError(f"no kept session {version}/{scenario}")
    return Kept(folder)


def all_kept() -> list[Kept]:
    """List all of them."""
    return [Kept(path.parent) for path in sorted(KEPT.glob("*/*/stdout.jsonl"))]

"""Files that agents other than Claude Code have kept of a conversation of two turns (fixtures/kept/)."""

from pathlib import Path

from recordings import ROOT

KEPT = ROOT / "fixtures" / "kept"

AGENTS = ("codex-0.169.0", "gemini-0.61.0", "qwen-0.24.4")
"""Folders of the fixtures: agent and version."""


def kept_file(agent: str) -> Path:
    """Return the file with the conversation; Gemini CLI has left one without anything in it, too."""
    return max(KEPT.glob(f"{agent}*/**/*.jsonl"), key=lambda path: path.stat().st_size)

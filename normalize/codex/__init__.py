"""Codex's own wires: `codex exec --json` and `codex app-server`."""

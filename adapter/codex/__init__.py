"""Codex, run by `codex app-server`."""

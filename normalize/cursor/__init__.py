"""Cursor's agent, by its own JSON output."""

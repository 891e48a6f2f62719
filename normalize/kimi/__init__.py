"""Kimi Code's own JSON output."""

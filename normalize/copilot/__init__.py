"""Copilot CLI's own JSON output."""

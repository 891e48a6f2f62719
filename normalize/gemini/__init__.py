"""Gemini CLI's own JSON output."""

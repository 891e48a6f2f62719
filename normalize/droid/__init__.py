"""Droid's own JSON output."""

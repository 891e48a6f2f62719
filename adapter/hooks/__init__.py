"""Configured hooks: their settings, how they run, and their answers to the CLI."""

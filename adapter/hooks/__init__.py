"""Hooks by configuration: what they are, how they are run, and what the CLI is told of them."""

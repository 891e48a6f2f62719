"""Agents that take one prompt on standard input, write JSON lines and exit: each prompt is a process of its own."""

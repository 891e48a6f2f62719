"""The scripted agent in Claude Code's protocol."""

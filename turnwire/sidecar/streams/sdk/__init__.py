"""Run agents of any family for programs that are written for Claude Code's SDKs."""

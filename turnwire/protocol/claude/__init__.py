"""The wire of the Claude family: Claude Code's stream-json, byte for byte."""

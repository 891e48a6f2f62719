"""The protocol between frontends and hub: frames, commands and codes."""

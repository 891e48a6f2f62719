"""The names under which a session's record keeps what it needs to start its agent again."""

AGENT_OPTIONS = "agent_options"
"""The agent's options, as frontends and the configuration call them."""

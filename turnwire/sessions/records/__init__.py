"""The record of a session: how its agent is started, its conversation, and what a crash has left open."""

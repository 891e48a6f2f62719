"""What is kept of a session beside its log: how its agent is started, how it comes to its conversation, what a crash has left open."""

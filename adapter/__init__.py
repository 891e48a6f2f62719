"""One coding-agent CLI as a session: its process, its protocol, and the decisions it waits for."""

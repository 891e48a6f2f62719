"""What is Claude Code's alone in starting a session: its arguments, its versions and what each can do."""

"""One session of any agent: its loop, its core, the executor of its effects, and its inputs in order."""

"""One session, whatever its agent speaks: the loop that keeps it going, its core, what it wants done, and what happened."""

"""From a log to its readers: by cursor, shared where many follow, and never by a queue that could overflow."""

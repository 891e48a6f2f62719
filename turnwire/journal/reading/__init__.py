"""Read a log: its pages, the newest events in memory, and notifications of new ones."""

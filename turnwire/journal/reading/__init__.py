"""Reading a log: its pages, the newest in memory, and what comes."""

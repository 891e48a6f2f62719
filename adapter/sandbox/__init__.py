"""A place of its own for each agent: which files it sees, and which hosts it reaches."""

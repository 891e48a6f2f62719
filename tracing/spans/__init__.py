"""Session inputs and their events as spans."""

"""Web push: browsers are told of what a session asks, finishes or fails at, also while no page of them is open."""

"""Web push: notify browsers when a session asks, finishes or fails, also while no page is open."""

"""The runner of spec 4 with real processes."""

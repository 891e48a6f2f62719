"""The runner with real processes."""

"""Live sessions, from launch to deletion, and their records."""

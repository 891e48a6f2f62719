"""Recordings: written, found in pieces, and read back as session inputs."""

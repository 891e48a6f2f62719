"""Recordings without secrets."""

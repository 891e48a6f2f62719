"""Principals with tokens of their own, stored in a file, or in Redis if the journal is there."""

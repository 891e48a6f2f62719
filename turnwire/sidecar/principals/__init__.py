"""Principals with tokens of their own: kept in a file, or in Redis where the journal is."""

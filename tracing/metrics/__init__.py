"""Metrics, and how they are exported or scraped."""

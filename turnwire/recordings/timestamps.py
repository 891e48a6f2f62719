"""Times as recordings have them."""

from datetime import UTC, datetime


def format_ts(seconds: float) -> str:
    """Format seconds since 1970 as RFC 3339, UTC, microseconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

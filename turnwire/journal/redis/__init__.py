"""The journal in Redis Streams."""

"""What keeps a terminal from being attached."""


class NotAttached(Exception):
    """There is nothing to attach to, or not one; the message says what to do."""

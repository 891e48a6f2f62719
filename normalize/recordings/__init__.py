"""Lines and files of sessions that were, as the inputs of a core."""

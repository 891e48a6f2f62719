"""The wire of the miriad family: a subset of Claude's, with its own system messages."""

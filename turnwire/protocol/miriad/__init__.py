"""The wire of the miriad family: a subset of Claude's, with system messages of its own."""
